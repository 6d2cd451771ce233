/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Views are rows of one block, in no order: the last one fills a gap. The search is core/search's,
 * over all rows; its best hits become people.
 */
#include "pipelines/gallery/table.h"

#include <math.h>
#include <string.h>

#define ALIGNMENT 64
#define FIRST_ROOM 64
/* Hits of a search: views of people who are held do not count, nor does the same person twice. */
#define HITS_MOST 512
#define PEOPLE_MOST 16

static void
person_free (gpointer data)
{
  SlIdentityPerson *person = data;
  g_free (person->name);
  g_free (person);
}

SlIdentityTable *
sl_identity_table_new (guint length)
{
  g_return_val_if_fail (length >= 1 && length <= SL_IDENTITY_LONGEST, NULL);
  SlIdentityTable *table = g_new0 (SlIdentityTable, 1);
  table->length = length;
  table->stride = sl_search_stride (length);
  table->people = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, person_free);
  return table;
}

void
sl_identity_table_free (SlIdentityTable *table)
{
  if (table == NULL)
    return;
  g_aligned_free (table->numbers);
  g_free (table->scales);
  g_free (table->views);
  g_hash_table_unref (table->people);
  g_free (table);
}

gfloat
sl_identity_table_pack (const SlIdentityTable *table, const gfloat *look, gint8 *row)
{
  return sl_search_pack (look, table->length, row);
}

static gint64
product (const SlIdentityTable *table, const gint8 *a, const gint8 *b)
{
  gint64 sum = 0;
  for (guint i = 0; i < table->length; i++)
    sum += (gint32) a[i] * b[i];
  return sum;
}

gfloat
sl_identity_table_scale (const SlIdentityTable *table, const gint8 *row)
{
  const gint64 squares = product (table, row, row);
  return squares > 0 ? (gfloat) (1 / sqrt ((gdouble) squares)) : 0;
}

gdouble
sl_identity_table_cosine (const SlIdentityTable *table, const gint8 *a, gfloat scale_a,
                          const gint8 *b, gfloat scale_b)
{
  return (gdouble) product (table, a, b) * (gdouble) scale_a * (gdouble) scale_b;
}

SlIdentityPerson *
sl_identity_table_person (const SlIdentityTable *table, gint64 id)
{
  return g_hash_table_lookup (table->people, &id);
}

SlIdentityPerson *
sl_identity_table_add_person (SlIdentityTable *table, gint64 id)
{
  SlIdentityPerson *person = sl_identity_table_person (table, id);
  if (person != NULL)
    return person;
  person = g_new0 (SlIdentityPerson, 1);
  person->id = id;
  g_hash_table_insert (table->people, &person->id, person);
  return person;
}

static gint8 *
row_at (const SlIdentityTable *table, gsize i)
{
  return table->numbers + i * table->stride;
}

/* The last view takes the place of view @i; what it leaves is zeros. */
static void
remove_view (SlIdentityTable *table, gsize i)
{
  const gsize last = --table->n;
  SlIdentityPerson *person = sl_identity_table_person (table, table->views[i].person);
  if (person != NULL)
    person->n_views--;
  if (i != last) {
    table->views[i] = table->views[last];
    table->scales[i] = table->scales[last];
    memcpy (row_at (table, i), row_at (table, last), table->stride);
  }
  memset (row_at (table, last), 0, table->stride);
}

void
sl_identity_table_remove_person (SlIdentityTable *table, gint64 id)
{
  for (gsize i = table->n; i > 0; i--)
    if (table->views[i - 1].person == id)
      remove_view (table, i - 1);
  g_hash_table_remove (table->people, &id);
}

void
sl_identity_table_saw (SlIdentityTable *table, gint64 id, guint camera, gint64 time)
{
  SlIdentityPerson *person = sl_identity_table_person (table, id);
  if (person == NULL)
    return;
  if (time >= person->seen) {
    person->seen = time;
    person->last = camera;
  }
  person->cameras |= G_GUINT64_CONSTANT (1) << camera;
}

static void
reserve (SlIdentityTable *table)
{
  if (table->n < table->room)
    return;
  const gsize room = MAX (FIRST_ROOM, 2 * table->room);
  gint8 *numbers = g_aligned_alloc0 (room, table->stride, ALIGNMENT);
  if (table->n > 0)
    memcpy (numbers, table->numbers, table->n * table->stride);
  g_aligned_free (table->numbers);
  table->numbers = numbers;
  table->scales = g_renew (gfloat, table->scales, room);
  table->views = g_renew (SlIdentityView, table->views, room);
  table->room = room;
}

static gsize
find_view (const SlIdentityTable *table, gint64 person, guint camera, gint64 time)
{
  for (gsize i = 0; i < table->n; i++)
    if (table->views[i].person == person && table->views[i].camera == camera
        && table->views[i].time == time)
      return i;
  return table->n;
}

gboolean
sl_identity_table_add_view (SlIdentityTable *table, const SlIdentityView *view, gint64 replaces,
                            const gint8 *row, gfloat scale)
{
  SlIdentityPerson *person = sl_identity_table_person (table, view->person);
  if (person == NULL)
    return FALSE;
  if (replaces != 0) {
    const gsize old = find_view (table, view->person, view->camera, replaces);
    if (old < table->n)
      remove_view (table, old);
  }
  if (person->n_views >= SL_IDENTITY_VIEWS)
    return FALSE;
  reserve (table);
  table->views[table->n] = *view;
  table->scales[table->n] = scale;
  memcpy (row_at (table, table->n), row, table->stride);
  table->n++;
  person->n_views++;
  sl_identity_table_saw (table, view->person, view->camera, view->time);
  return TRUE;
}

gint64
sl_identity_table_oldest (const SlIdentityTable *table)
{
  GHashTableIter iter;
  gpointer value;
  const SlIdentityPerson *oldest = NULL;
  g_hash_table_iter_init (&iter, table->people);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    const SlIdentityPerson *person = value;
    if (oldest == NULL || person->seen < oldest->seen
        || (person->seen == oldest->seen && person->id < oldest->id))
      oldest = person;
  }
  return oldest != NULL ? oldest->id : 0;
}

static gint
compare_seen (gconstpointer a, gconstpointer b)
{
  const SlIdentityPerson *one = a, *other = b;
  return one->seen != other->seen ? (one->seen > other->seen) - (one->seen < other->seen)
                                  : (one->id > other->id) - (one->id < other->id);
}

/* In one pass. */
static void
drop_views_of_nobody (SlIdentityTable *table)
{
  for (gsize i = table->n; i > 0; i--)
    if (sl_identity_table_person (table, table->views[i - 1].person) == NULL)
      remove_view (table, i - 1);
}

void
sl_identity_table_name (SlIdentityTable *table, gint64 id, const char *name)
{
  SlIdentityPerson *person = sl_identity_table_person (table, id);
  if (person == NULL)
    return;
  g_free (person->name);
  person->name = g_strdup (name);
}

void
sl_identity_table_picture (SlIdentityTable *table, gint64 id, gint64 time, gdouble score)
{
  SlIdentityPerson *person = sl_identity_table_person (table, id);
  if (person == NULL)
    return;
  person->pictured = time;
  person->picture = score;
}

void
sl_identity_table_keep_named (SlIdentityTable *table)
{
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, table->people);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    if (((SlIdentityPerson *) value)->name == NULL)
      g_hash_table_iter_remove (&iter);
  drop_views_of_nobody (table);
}

/* Of more than @most people those seen least recently go, then all their views. */
static void
drop_oldest (SlIdentityTable *table, guint most)
{
  const guint people = g_hash_table_size (table->people);
  if (people <= most)
    return;
  g_autoptr (GList) all = g_list_sort (g_hash_table_get_values (table->people), compare_seen);
  guint excess = people - most;
  for (const GList *link = all; excess > 0; link = link->next, excess--) {
    const gint64 id = ((SlIdentityPerson *) link->data)->id;
    g_hash_table_remove (table->people, &id);
  }
  drop_views_of_nobody (table);
}

void
sl_identity_table_expire (SlIdentityTable *table, gint64 now, const SlIdentityRules *rules)
{
  const gint64 from = now - rules->keep;
  GHashTableIter iter;
  gpointer value;
  for (gsize i = table->n; i > 0; i--)
    if (table->views[i - 1].time < from)
      remove_view (table, i - 1);
  g_hash_table_iter_init (&iter, table->people);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    SlIdentityPerson *person = value;
    if (person->pictured < from)
      person->pictured = 0;
    if (person->n_views == 0)
      g_hash_table_iter_remove (&iter);
  }
  drop_oldest (table, rules->most);
}

typedef struct
{
  gint64 id;
  gdouble cosine, odds;
  SlPairRule rule;
} Candidate;

/* Rules of a camera and each other one, made when they are asked for. */
typedef struct
{
  guint64 made;
  SlPairRule rules[SL_IDENTITY_CAMERAS];
} PairRules;

static gboolean
is_among (const gint64 *ids, guint n, gint64 id)
{
  for (guint i = 0; i < n; i++)
    if (ids[i] == id)
      return TRUE;
  return FALSE;
}

/* The best view of each person, by odds: cameras differ in what a cosine means. */
static guint
collect (Candidate found[PEOPLE_MOST], guint n, gint64 id, gdouble cosine, const SlPairRule *rule)
{
  const gdouble odds = sl_calibration_odds (rule, cosine);
  guint i = 0;
  while (i < n && found[i].id != id)
    i++;
  if (i == PEOPLE_MOST || (i < n && found[i].odds >= odds))
    return n;
  found[i] = (Candidate){ id, cosine, odds, *rule };
  return MAX (n, i + 1);
}

static SlIdentityMatch
decide (const Candidate *best, const Candidate *second, gdouble all, const SlIdentityRules *rules)
{
  const gdouble sum = 1 + all;
  SlIdentityMatch match = {
    .confidence = 1, .cosine = -1, .second = -1, .threshold = rules->threshold
  };
  if (best == NULL)
    return match;
  match.best = best->id;
  match.best_confidence = best->odds / sum;
  match.cosine = best->cosine;
  match.second = second != NULL ? second->cosine : -1;
  match.threshold = best->rule.threshold;
  match.is_calibrated = best->rule.is_calibrated;
  const gboolean alike = best->cosine >= best->rule.threshold;
  match.is_unclear = alike && second != NULL && second->cosine > best->cosine - rules->margin;
  match.person = alike && !match.is_unclear ? best->id : 0;
  match.confidence = match.person != 0 ? match.best_confidence : 1 / sum;
  return match;
}

/* Whether @person may be who the question is about. */
static gboolean
is_possible (const SlIdentityTable *table, const SlIdentityQuestion *question, gint64 person)
{
  if (is_among (question->held, question->n_held, person))
    return FALSE;
  const SlIdentityPerson *known = sl_identity_table_person (table, person);
  return question->paths == NULL || known == NULL
         || sl_identity_paths_allow (question->paths, known->last, question->camera,
                                     question->now - known->seen);
}

SlIdentityMatch
sl_identity_table_match (const SlIdentityTable *table, const SlCalibration *calibration,
                         const SlIdentityRules *rules, const SlIdentityQuestion *question)
{
  SlSearchHit hits[HITS_MOST];
  Candidate found[PEOPLE_MOST];
  PairRules pairs = { 0 };
  const Candidate *best = NULL, *second = NULL;
  guint n = 0;
  gdouble all = 0;
  const SlSearchTable searched = { table->n, table->stride, table->numbers, table->scales };
  const guint most = question->paths != NULL
                       ? HITS_MOST
                       : MIN (HITS_MOST, SL_IDENTITY_VIEWS * (question->n_held + 4)),
              n_hits = sl_search_more (&searched, 0, question->row, question->scale, most, hits, 0),
              people = g_hash_table_size (table->people);
  for (guint i = 0; i < n_hits; i++) {
    const SlIdentityView *view = &table->views[hits[i].row];
    if (!is_possible (table, question, view->person))
      continue;
    const guint64 bit = G_GUINT64_CONSTANT (1) << view->camera;
    if ((pairs.made & bit) == 0)
      pairs.rules[view->camera] =
        sl_calibration_pair (calibration, question->camera, view->camera, people, rules);
    pairs.made |= bit;
    n = collect (found, n, view->person, (gdouble) hits[i].cosine, &pairs.rules[view->camera]);
  }
  for (guint i = 0; i < n; i++) {
    all += found[i].odds;
    if (best == NULL || found[i].odds > best->odds) {
      second = best;
      best = &found[i];
    } else if (second == NULL || found[i].odds > second->odds) {
      second = &found[i];
    }
  }
  return decide (best, second, all, rules);
}
