/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is wanted is compared with what the files state, key by key; the result is read again before
 * it counts, and has to be what was wanted.
 */
#include "pipelines/description/edit.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "pipelines/description/edit_text.h"
#include "pipelines/description/edit_write.h"
#include "pipelines/description/key_text.h"
#include "pipelines/description/sources.h"

/* Numbers are written with four decimals. */
#define SAME 5e-5

struct _SlEdit
{
  char *path;
  GHashTable *parameters; /* (nullable) */
  GHashTable *texts;      /* contents by canonical path, as they were read */
  GHashTable *edited;     /* SlEditText by canonical path, of files that are looked into */
  GHashTable *shared;     /* canonical path -> name of another pipeline */
  GArray *entries;
  GPtrArray *regions;
  SlDescription *description;
  char *revision;
};

static void
region_free (gpointer data)
{
  SlEditRegion *region = data;
  g_free (region->name);
  g_free (region->was);
  g_free (region->classes);
  g_free (region);
}

GPtrArray *
sl_edit_regions_new (void)
{
  return g_ptr_array_new_with_free_func (region_free);
}

void
sl_edit_free (SlEdit *self)
{
  g_free (self->path);
  g_clear_pointer (&self->parameters, g_hash_table_unref);
  g_hash_table_unref (self->texts);
  g_hash_table_unref (self->edited);
  g_hash_table_unref (self->shared);
  g_array_unref (self->entries);
  g_clear_pointer (&self->regions, g_ptr_array_unref);
  g_clear_pointer (&self->description, sl_description_free);
  g_free (self->revision);
  g_free (self);
}

static void
append_regions (GPtrArray *regions, const GArray *list)
{
  for (guint i = 0; i < list->len; i++) {
    const SlRegion *from = &g_array_index (list, SlRegion, i);
    SlEditRegion *region = g_new0 (SlEditRegion, 1);
    region->kind = from->kind;
    region->name = g_strdup (from->name);
    region->classes = g_strdup (from->classes_text);
    region->n_points = from->n_points;
    memcpy (region->points, from->points, sizeof region->points);
    region->anchor = from->anchor;
    region->dwell_after = from->dwell_after;
    region->left_behind_after = from->left_behind_after;
    region->empty_after = from->empty_after;
    g_ptr_array_add (regions, region);
  }
}

GPtrArray *
sl_edit_regions_of (const SlRegions *from)
{
  GPtrArray *regions = sl_edit_regions_new ();
  append_regions (regions, from->list);
  append_regions (regions, from->masks);
  return regions;
}

static char *
hash_files (const SlEdit *self)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  const GPtrArray *files = self->description->files;
  for (guint i = 0; i < files->len; i++) {
    g_autofree char *canonical = g_canonicalize_filename (files->pdata[i], NULL);
    GBytes *bytes = g_hash_table_lookup (self->texts, canonical);
    g_autofree char *head =
      g_strdup_printf ("%s\n%" G_GSIZE_FORMAT "\n", (const char *) files->pdata[i],
                       bytes != NULL ? g_bytes_get_size (bytes) : 0);
    g_checksum_update (sum, (const guchar *) head, (gssize) strlen (head));
    if (bytes != NULL)
      g_checksum_update (sum, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  }
  return g_strdup (g_checksum_get_string (sum));
}

static void
edit_text_free (gpointer text)
{
  sl_edit_text_free (text);
}

SlEdit *
sl_edit_open (const char *path, GHashTable *parameters, GError **error)
{
  g_autoptr (SlEdit) self = g_new0 (SlEdit, 1);
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  self->path = g_strdup (path);
  self->parameters = parameters != NULL ? g_hash_table_ref (parameters) : NULL;
  self->texts = sl_sources_texts_new ();
  self->edited = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, edit_text_free);
  self->shared = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->entries = sl_key_entries_new ();
  if (!sl_sources_load (path, self->texts, self->entries, files, error))
    return NULL;
  self->description = sl_description_load_texts (path, parameters, self->texts, error);
  if (self->description == NULL)
    return NULL;
  self->regions = sl_edit_regions_of (self->description->region_set);
  self->revision = hash_files (self);
  return g_steal_pointer (&self);
}

const char *
sl_edit_revision (const SlEdit *self)
{
  return self->revision;
}

const GPtrArray *
sl_edit_regions (const SlEdit *self)
{
  return self->regions;
}

const SlDescription *
sl_edit_description (const SlEdit *self)
{
  return self->description;
}

void
sl_edit_share (SlEdit *self, const GPtrArray *files, const char *name)
{
  for (guint i = 0; i < files->len; i++)
    g_hash_table_replace (self->shared, g_canonicalize_filename (files->pdata[i], NULL),
                          g_strdup (name));
}

static gboolean
may_change (const SlEdit *self, const char *canonical, GError **error)
{
  const char *other = g_hash_table_lookup (self->shared, canonical);
  if (other != NULL)
    return sl_fail (
      error, SL_ERROR_OPEN,
      "%s: the pipeline %s has this file, too: expected a file of this pipeline alone; move its "
      "zones, lines and masks into %s",
      canonical, other, self->path);
  return sl_edit_check_writable_file (canonical, error);
}

gboolean
sl_edit_check_writable (const SlEdit *self, GError **error)
{
  g_autofree char *canonical = g_canonicalize_filename (self->path, NULL);
  return may_change (self, canonical, error);
}

static gboolean
same_points (const SlEditRegion *a, const SlEditRegion *b)
{
  gboolean same = a->n_points == b->n_points;
  for (guint i = 0; same && i < a->n_points; i++)
    same = fabs (a->points[i].x - b->points[i].x) <= SAME
           && fabs (a->points[i].y - b->points[i].y) <= SAME;
  return same;
}

static gboolean
is_same (const SlEditRegion *a, const SlEditRegion *b)
{
  return a->kind == b->kind && strcmp (a->name, b->name) == 0 && same_points (a, b)
         && g_strcmp0 (a->classes, b->classes) == 0 && a->anchor == b->anchor
         && a->dwell_after == b->dwell_after && a->left_behind_after == b->left_behind_after
         && a->empty_after == b->empty_after;
}

/* (nullable): the one of @regions of that kind and name. */
static SlEditRegion *
find_region (const GPtrArray *regions, SlRegionKind kind, const char *name)
{
  for (guint i = 0; name != NULL && i < regions->len; i++) {
    SlEditRegion *region = regions->pdata[i];
    if (region->kind == kind && strcmp (region->name, name) == 0)
      return region;
  }
  return NULL;
}

/* (transfer none): the text that the key at @entry stands in. */
static SlEditText *
text_of (SlEdit *self, const char *file)
{
  g_autofree char *canonical = g_canonicalize_filename (file, NULL);
  SlEditText *text = g_hash_table_lookup (self->edited, canonical);
  if (text == NULL) {
    text = sl_edit_text_new (g_hash_table_lookup (self->texts, canonical));
    g_hash_table_insert (self->edited, g_steal_pointer (&canonical), text);
  }
  return text;
}

static gboolean
is_group_of (const char *group, const SlEditRegion *region)
{
  const SlRegion plain = { .kind = region->kind, .name = region->name };
  return sl_region_is_of (&plain, group);
}

/* A key of @region, of all files: those before @i, from the last; 0 = there is none before. */
static guint
find_before (const SlEdit *self, guint i, const SlEditRegion *region, const char *key)
{
  for (; i > 0; i--) {
    const SlKeyEntry *entry = &g_array_index (self->entries, SlKeyEntry, i - 1);
    if (strcmp (entry->key, key) == 0 && is_group_of (entry->group, region))
      return i;
  }
  return 0;
}

/* Whether the place of @i was met already: a file may be included twice. */
static gboolean
is_repeated (const SlEdit *self, guint i)
{
  const SlKeyEntry *entry = &g_array_index (self->entries, SlKeyEntry, i - 1);
  for (guint k = i; k < self->entries->len; k++) {
    const SlKeyEntry *later = &g_array_index (self->entries, SlKeyEntry, k);
    if (later->line == entry->line && strcmp (later->file, entry->file) == 0)
      return TRUE;
  }
  return FALSE;
}

static void
remove_key (SlEdit *self, const SlEditRegion *region, const char *key)
{
  guint i = self->entries->len;
  while ((i = find_before (self, i, region, key)) > 0) {
    const SlKeyEntry *entry = &g_array_index (self->entries, SlKeyEntry, i - 1);
    SlEditText *text = text_of (self, entry->file);
    if (!is_repeated (self, i))
      sl_edit_text_remove_key (text, sl_edit_text_line (text, entry->line));
    i--;
  }
}

/* The key that counts is the last one; where there is none, it goes to the group that has the
 * points that count. */
static void
set_key (SlEdit *self, const SlEditRegion *region, const char *key, const char *value)
{
  const guint i = find_before (self, self->entries->len, region, key);
  const guint points = find_before (self, self->entries->len, region, "points");
  const SlKeyEntry *entry = &g_array_index (self->entries, SlKeyEntry, (i > 0 ? i : points) - 1);
  SlEditText *text = text_of (self, entry->file);
  SlEditLine *line = sl_edit_text_line (text, entry->line);
  if (i > 0)
    sl_edit_text_set_value (text, line, value);
  else
    sl_edit_text_add_key (text, sl_edit_text_group_of (text, line), key, value);
}

static char *
duration_text (guint ms)
{
  static const struct
  {
    guint ms;
    const char *unit;
  } units[] = { { 3600000, "h" }, { 60000, "min" }, { 1000, "s" }, { 1, "ms" } };
  for (guint i = 0; ms > 0 && i < G_N_ELEMENTS (units); i++)
    if (ms % units[i].ms == 0)
      return g_strdup_printf ("%u%s", ms / units[i].ms, units[i].unit);
  return NULL;
}

typedef struct
{
  const char *key;
  char *value; /* (nullable): not stated */
} Pair;

#define N_KEYS 6

/* What @region's keys are, in the order in which a new group has them. */
static void
pairs_init (Pair pairs[N_KEYS], const SlEditRegion *region)
{
  GString *points = g_string_new (NULL);
  sl_region_append_points (points, region->points, region->n_points);
  const Pair all[N_KEYS] = {
    { "points", g_string_free (points, FALSE) },
    { "classes", g_strdup (region->classes) },
    { "anchor", g_strdup (sl_anchor_name (region->anchor)) },
    { "dwell-after", duration_text (region->dwell_after) },
    { "left-behind-after", duration_text (region->left_behind_after) },
    { "empty-after", duration_text (region->empty_after) },
  };
  memcpy (pairs, all, sizeof all);
}

static void
pairs_clear (Pair pairs[N_KEYS])
{
  for (guint k = 0; k < N_KEYS; k++)
    g_free (pairs[k].value);
}

static void
change_region (SlEdit *self, const SlEditRegion *from, const SlEditRegion *to)
{
  Pair before[N_KEYS], after[N_KEYS];
  pairs_init (before, from);
  pairs_init (after, to);
  for (guint k = 0; k < N_KEYS; k++) {
    if (k == 0 ? same_points (from, to) : g_strcmp0 (before[k].value, after[k].value) == 0)
      continue;
    if (after[k].value != NULL)
      set_key (self, from, after[k].key, after[k].value);
    else
      remove_key (self, from, after[k].key);
  }
  pairs_clear (before);
  pairs_clear (after);
}

static gboolean
rename_region (SlEdit *self, const SlEditRegion *from, const char *name, GError **error)
{
  g_autofree char *group = g_strdup_printf ("%s %s", sl_region_kind_name (from->kind), name);
  const guint i = find_before (self, self->entries->len, from, "");
  const SlKeyEntry *entry = &g_array_index (self->entries, SlKeyEntry, i - 1);
  const guint other = find_before (self, i - 1, from, "");
  if (other > 0) {
    const SlKeyEntry *first = &g_array_index (self->entries, SlKeyEntry, other - 1);
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "[%s] is at %s:%u and at %s:%u: expected one place to rename it; rename it by hand in both",
      entry->group, first->file, first->line, entry->file, entry->line);
  }
  SlEditText *text = text_of (self, entry->file);
  sl_edit_text_rename (text, sl_edit_text_line (text, entry->line), group);
  return TRUE;
}

static void
remove_region (SlEdit *self, const SlEditRegion *region)
{
  guint i = self->entries->len;
  while ((i = find_before (self, i, region, "")) > 0) {
    const SlKeyEntry *entry = &g_array_index (self->entries, SlKeyEntry, i - 1);
    SlEditText *text = text_of (self, entry->file);
    if (!is_repeated (self, i))
      sl_edit_text_remove_group (text, sl_edit_text_line (text, entry->line));
    i--;
  }
}

static void
add_region (SlEdit *self, const SlEditRegion *region)
{
  Pair pairs[N_KEYS];
  SlEditText *text = text_of (self, self->path);
  g_autofree char *name =
    g_strdup_printf ("%s %s", sl_region_kind_name (region->kind), region->name);
  SlEditLine *group = sl_edit_text_add_group (text, name, sl_regions_is_group);
  pairs_init (pairs, region);
  for (guint k = 0; k < N_KEYS; k++)
    if (pairs[k].value != NULL)
      sl_edit_text_add_key (text, group, pairs[k].key, pairs[k].value);
  pairs_clear (pairs);
}

/* (nullable): the region of the files that @wanted is, among those that no other is. */
static SlEditRegion *
match (const SlEdit *self, const GPtrArray *wanted, const SlEditRegion *region)
{
  SlEditRegion *known = find_region (self->regions, region->kind, region->name);
  if (known == NULL && find_region (wanted, region->kind, region->was) == NULL)
    known = find_region (self->regions, region->kind, region->was);
  for (guint i = 0; known == NULL && i < self->regions->len; i++) {
    SlEditRegion *other = self->regions->pdata[i];
    if (other->kind == region->kind && same_points (other, region)
        && find_region (wanted, other->kind, other->name) == NULL)
      known = other;
  }
  return known;
}

static gboolean
has_controls (const char *text)
{
  for (; text != NULL && *text != '\0'; text++)
    if (g_ascii_iscntrl (*text))
      return TRUE;
  return FALSE;
}

/* Texts that would be more than one line or one group of a file. */
static gboolean
check_texts (const SlEditRegion *region, GError **error)
{
  const char *kind = sl_region_kind_name (region->kind);
  if (*region->name == '\0' || has_controls (region->name) || strpbrk (region->name, "[];") != NULL)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "%s '%s': expected a name of 1 to %d bytes without brackets, ';' and control characters",
      kind, region->name, SL_REGION_NAME_MAX);
  return !has_controls (region->classes)
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "[%s %s] classes: expected names in one line, with ',' between them", kind,
                     region->name);
}

char *
sl_edit_regions_to_text (const GPtrArray *regions, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < regions->len; i++) {
    const SlEditRegion *region = regions->pdata[i];
    Pair pairs[N_KEYS];
    if (!check_texts (region, error))
      return NULL;
    g_string_append_printf (text, "[%s %s]\n", sl_region_kind_name (region->kind), region->name);
    pairs_init (pairs, region);
    for (guint k = 0; k < N_KEYS; k++)
      if (pairs[k].value != NULL)
        g_string_append_printf (text, "%s=%s\n", pairs[k].key, pairs[k].value);
    pairs_clear (pairs);
  }
  return g_strdup (text->str);
}

static gboolean
apply (SlEdit *self, const GPtrArray *wanted, GError **error)
{
  g_autoptr (GHashTable) kept = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) fresh = g_ptr_array_new ();
  for (guint i = 0; i < wanted->len; i++) {
    const SlEditRegion *region = wanted->pdata[i];
    SlEditRegion *from = match (self, wanted, region);
    if (!check_texts (region, error))
      return FALSE;
    if (find_region (wanted, region->kind, region->name) != region)
      return sl_fail (error, SL_ERROR_ARGUMENT, "[%s %s]: twice; expected names that differ",
                      sl_region_kind_name (region->kind), region->name);
    if (from == NULL || !g_hash_table_add (kept, from)) {
      g_ptr_array_add (fresh, (gpointer) region);
      continue;
    }
    change_region (self, from, region);
    if (strcmp (from->name, region->name) != 0 && !rename_region (self, from, region->name, error))
      return FALSE;
  }
  for (guint i = 0; i < self->regions->len; i++)
    if (!g_hash_table_contains (kept, self->regions->pdata[i]))
      remove_region (self, self->regions->pdata[i]);
  for (guint i = 0; i < fresh->len; i++)
    add_region (self, fresh->pdata[i]);
  return TRUE;
}

/* Reads the new texts; they have to say what is wanted. */
static gboolean
prove (SlEdit *self, const GPtrArray *wanted, GError **error)
{
  g_autoptr (GHashTable) texts = sl_sources_texts_new ();
  GHashTableIter iter;
  gpointer path, bytes;
  g_hash_table_iter_init (&iter, self->texts);
  while (g_hash_table_iter_next (&iter, &path, &bytes)) {
    SlEditText *text = g_hash_table_lookup (self->edited, path);
    g_hash_table_insert (texts, g_strdup (path),
                         text != NULL ? sl_edit_text_bytes (text) : g_bytes_ref (bytes));
  }
  SlDescription *description =
    sl_description_load_texts (self->path, self->parameters, texts, error);
  if (description == NULL)
    return FALSE;
  sl_description_free (self->description);
  self->description = description;
  g_autoptr (GPtrArray) regions = sl_edit_regions_of (description->region_set);
  for (guint i = 0; i < wanted->len; i++) {
    const SlEditRegion *region = wanted->pdata[i];
    const SlEditRegion *got = find_region (regions, region->kind, region->name);
    if (got == NULL || !is_same (got, region))
      return sl_fail (
        error, SL_ERROR_ARGUMENT,
        "[%s %s]: a file cannot state it: expected a name and classes without blanks around them, "
        "${ and a backslash at the end",
        sl_region_kind_name (region->kind), region->name);
  }
  return regions->len == wanted->len
         || sl_fail (
           error, SL_ERROR_ARGUMENT,
           "the files would state %u zones, lines and masks: expected %u; edit them by hand",
           regions->len, wanted->len);
}

/* Files whose text is another than before, of SlEditFile. Those that override others come first, so
 * that what a crash leaves is still a description. */
static GArray *
changed_files (const SlEdit *self)
{
  GArray *changed = g_array_new (FALSE, TRUE, sizeof (SlEditFile));
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_array_set_clear_func (changed, sl_edit_file_clear);
  for (guint i = self->entries->len; i > 0; i--) {
    const SlKeyEntry *entry = &g_array_index (self->entries, SlKeyEntry, i - 1);
    g_autofree char *canonical = g_canonicalize_filename (entry->file, NULL);
    SlEditText *text = g_hash_table_lookup (self->edited, canonical);
    if (text == NULL || !g_hash_table_add (seen, g_strdup (canonical)))
      continue;
    GBytes *before = g_hash_table_lookup (self->texts, canonical);
    g_autoptr (GBytes) after = sl_edit_text_bytes (text);
    if (g_bytes_equal (before, after))
      continue;
    const SlEditFile file = { g_steal_pointer (&canonical), g_bytes_ref (before),
                              g_steal_pointer (&after) };
    g_array_append_val (changed, file);
  }
  return changed;
}

gboolean
sl_edit_set_regions (SlEdit *self, const GPtrArray *regions, GError **error)
{
  if (!apply (self, regions, error) || !prove (self, regions, error))
    return FALSE;
  g_autoptr (GArray) changed = changed_files (self);
  for (guint i = 0; i < changed->len; i++)
    if (!may_change (self, g_array_index (changed, SlEditFile, i).path, error))
      return FALSE;
  return TRUE;
}

SlEditResult
sl_edit_save (SlEdit *self, GError **error)
{
  g_autoptr (GArray) changed = changed_files (self);
  gboolean conflict = FALSE;
  if (sl_edit_write (changed, &conflict, error))
    return SL_EDIT_SAVED;
  return conflict ? SL_EDIT_CONFLICT : SL_EDIT_FAILED;
}
