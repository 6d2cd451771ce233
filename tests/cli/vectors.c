/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Embeddings beside an index of clips: hits against cosines in double precision, with filters and
 * after deletions; files that are damaged, shorter or of another model; a process that is killed,
 * two at once, and a disk that is full.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/record/names.h"
#include "tests/support/folders.h"
#include "tests/support/sanitized.h"
#include "tools/run/events/vectors.h"

#define LENGTH 20
#define EVENTS 300
#define PARTS 3
#define MINUTE (60 * (gint64) G_USEC_PER_SEC)
#define START (G_GINT64_CONSTANT (1790000000) * G_USEC_PER_SEC)
/* Sanitizers take ten times as long for each. */
#ifdef TEST_ADDRESS_SANITIZER
#define MUTANTS 1000
#else
#define MUTANTS 10000
#endif
#define INDEX_MUTANTS 200

static const char *const labels[] = { "person", "car", "dog" };

/* Of part @part of event @event: the same in each process. */
static void
make_numbers (guint event, guint part, gfloat numbers[LENGTH])
{
  g_autoptr (GRand) random = g_rand_new_with_seed (event * PARTS + part + 1);
  for (guint i = 0; i < LENGTH; i++)
    numbers[i] = (gfloat) g_rand_double_range (random, -1, 1);
}

static char *
make_stem (guint event)
{
  g_autofree char *source = g_strdup_printf ("cam%u", event % 4);
  return sl_clip_stem (source, START + event * MINUTE, "in");
}

static SlVectorModel
describe (const char *hash)
{
  return (
    SlVectorModel){ .hash = g_strdup (hash), .settings = g_strdup ("x=1\n"), .length = LENGTH };
}

static SlStore *
open_store (const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *damaged = NULL;
  SlStore *store = sl_store_new (folder, &damaged, &error);
  g_assert_no_error (error);
  g_assert_null (damaged);
  return store;
}

static void
add_event (SlStore *store, guint event)
{
  g_autoptr (GError) error = NULL;
  g_auto (SlNotes) notes;
  g_autofree char *stem = make_stem (event), *pipeline = g_strdup_printf ("cam%u", event % 4);
  sl_notes_init (&notes);
  notes.us = START + event * MINUTE;
  notes.picture = TRUE;
  sl_notes_add_word (&notes, SL_WORD_EVENT, "in");
  g_mutex_lock (&store->write.lock);
  sl_store_add_clip (store, &(SlStoreClip){ .stem = stem, .pipeline = pipeline }, &notes, &error);
  g_mutex_unlock (&store->write.lock);
  g_assert_no_error (error);
}

static gboolean
add_vectors (SlStore *store, const SlVectorModel *model, guint event, GError **error)
{
  gfloat numbers[PARTS][LENGTH];
  g_autofree char *stem = make_stem (event);
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (SlVectorPart));
  for (guint i = 0; i < PARTS; i++) {
    make_numbers (event, i, numbers[i]);
    const SlVectorPart part = { labels[(event + i) % 3], i == 0, numbers[i] };
    g_array_append_val (parts, part);
  }
  return sl_vectors_add (store, model, stem, parts, error);
}

static void
begin (SlStore *store, SlVectorModel *model, gboolean lost)
{
  g_autoptr (GError) error = NULL;
  gboolean was_lost;
  sl_vectors_begin (store, model, &was_lost, &error);
  g_assert_no_error (error);
  g_assert_cmpint (was_lost, ==, lost);
}

/* (transfer full): a folder with EVENTS, all with embeddings. */
static char *
make_folder (SlVectorModel *model, SlStore **store)
{
  g_autoptr (GError) error = NULL;
  char *folder = sl_test_folder_new ();
  *store = open_store (folder);
  *model = describe ("model one");
  begin (*store, model, FALSE);
  for (guint i = 0; i < EVENTS; i++) {
    add_event (*store, i);
    g_assert_true (add_vectors (*store, model, i, &error));
  }
  return folder;
}

static double
cosine (const gfloat *a, const gfloat *b)
{
  double product = 0, left = 0, right = 0;
  for (guint i = 0; i < LENGTH; i++) {
    product += (double) a[i] * (double) b[i];
    left += (double) a[i] * (double) a[i];
    right += (double) b[i] * (double) b[i];
  }
  return product / sqrt (left * right);
}

/* What the question asks of event @event; -2 = it does not count. */
static double
score_of (const SlEventQuery *query, const gboolean gone[EVENTS], guint event,
          const gfloat *question)
{
  g_autofree char *pipeline = g_strdup_printf ("cam%u", event % 4);
  double best = -2;
  const gint64 us = START + event * MINUTE;
  if ((gone != NULL && gone[event])
      || (query->pipeline != NULL && strcmp (query->pipeline, pipeline) != 0)
      || (query->from > 0 && us < query->from) || (query->to > 0 && us >= query->to))
    return best;
  for (guint i = 0; i < PARTS; i++) {
    gfloat numbers[LENGTH];
    make_numbers (event, i, numbers);
    if (query->label == NULL || strcmp (query->label, labels[(event + i) % 3]) == 0)
      best = fmax (best, cosine (numbers, question));
  }
  return best;
}

/* Hits have the scores of double precision to within 8 bits, and none that is left out is better
 * than the last of them. */
static void
compare (SlStore *store, const SlVectorModel *stated, const SlEventQuery *query,
         const gboolean gone[EVENTS])
{
  g_autoptr (GError) error = NULL;
  g_auto (SlVectorModel) model = { 0 };
  gfloat question[LENGTH];
  gboolean found[EVENTS] = { FALSE };
  guint wanted = 0;
  make_numbers (100000, 0, question);
  sl_vectors_get_model (store, &model, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (model.hash, ==, stated->hash);
  g_autoptr (GPtrArray) hits = sl_vectors_search (store, &model, query, question, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < EVENTS; i++)
    wanted += score_of (query, gone, i, question) > -2 ? 1 : 0;
  g_assert_cmpuint (hits->len, ==, MIN (wanted, query->limit));
  for (guint i = 0; i < hits->len; i++) {
    const SlVectorHit *hit = hits->pdata[i];
    const guint event = (guint) ((hit->row->us - START) / MINUTE);
    g_autofree char *stem = make_stem (event);
    g_assert_cmpstr (hit->row->stem, ==, stem);
    g_assert_false (found[event]);
    found[event] = TRUE;
    g_assert_cmpfloat_with_epsilon ((double) hit->score, score_of (query, gone, event, question),
                                    0.01);
    if (i > 0)
      g_assert_cmpfloat (hit->score, <=, ((SlVectorHit *) hits->pdata[i - 1])->score);
  }
  const SlVectorHit *last = hits->len > 0 ? hits->pdata[hits->len - 1] : NULL;
  for (guint i = 0; i < EVENTS && last != NULL && hits->len == query->limit; i++)
    if (!found[i])
      g_assert_cmpfloat (score_of (query, gone, i, question), <, (double) last->score + 0.01);
}

static void
compare_all (SlStore *store, const SlVectorModel *model, const gboolean gone[EVENTS])
{
  const SlEventQuery queries[] = {
    { .kept = -1, .limit = 10 },
    { .kept = -1, .limit = 250 },
    { .kept = -1, .limit = 5, .pipeline = "cam3", .label = "dog" },
    { .kept = -1, .limit = 5, .from = START + 20 * MINUTE, .to = START + 23 * MINUTE },
    { .kept = -1, .limit = 5, .pipeline = "nobody" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (queries); i++)
    compare (store, model, &queries[i], gone);
}

/* Bytes that changed at places of two clips: their embeddings leave, those of others do not. */
static void
test_damaged (void)
{
  static const guint places[] = { 0, 1, 200 }; /* two of event 0, one of event 66 */
  g_auto (SlVectorModel) model = { 0 };
  SlStore *store;
  char *folder = make_folder (&model, &store);
  g_autofree char *path = g_build_filename (folder, SL_VECTOR_FILE, NULL);
  const gint fd = open (path, O_RDWR | O_CLOEXEC);
  g_autoptr (GError) error = NULL;
  gint64 after = 0, before = -1, since = 0;
  guint damaged = 0, rounds = 0;
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    const off_t at = 4096 + places[i] * (off_t) sl_search_stride (LENGTH);
    guint8 byte;
    g_assert_cmpint (pread (fd, &byte, 1, at), ==, 1);
    byte ^= 0x10;
    g_assert_cmpint (pwrite (fd, &byte, 1, at), ==, 1);
  }
  close (fd);
  for (; after != before; rounds++) {
    before = after;
    g_assert_true (sl_vectors_check (store, &model, 7, &after, &damaged, &error));
  }
  g_assert_cmpuint (rounds, ==, (EVENTS * PARTS + 6) / 7 + 1);
  g_assert_cmpuint (damaged, ==, 2); /* the second one of a clip leaves with the first one */
  g_autoptr (GPtrArray) stems = sl_vectors_pending (store, &model, EVENTS, &since, &error);
  g_autofree char *newer = make_stem (66), *older = make_stem (0);
  g_assert_cmpuint (stems->len, ==, 2);
  g_assert_cmpstr (stems->pdata[0], ==, newer);
  g_assert_cmpstr (stems->pdata[1], ==, older);
  sl_store_unref (store);
  sl_test_folder_remove (folder);
}

static void
test_hits (void)
{
  g_auto (SlVectorModel) model = { 0 };
  SlStore *store;
  char *folder = make_folder (&model, &store);
  gboolean gone[EVENTS] = { FALSE };
  g_autoptr (GError) error = NULL;
  compare_all (store, &model, gone);
  g_mutex_lock (&store->write.lock);
  for (guint i = 0; i < EVENTS; i++)
    if (i % 3 != 0) {
      g_autofree char *stem = make_stem (i);
      gone[i] = TRUE;
      g_assert_true (sl_store_remove (store, stem, &error));
    }
  g_mutex_unlock (&store->write.lock);
  compare_all (store, &model, gone); /* before, and after their numbers are wiped */
  g_assert_true (sl_vectors_wipe (store, &model, 100000, &error));
  compare_all (store, &model, gone);
  for (guint i = 0; i < EVENTS; i += 2) {
    add_event (store, i);
    g_assert_true (add_vectors (store, &model, i, &error));
    gone[i] = FALSE;
  }
  compare_all (store, &model, gone);
  gint64 after = 0;
  g_autoptr (GPtrArray) pending = sl_vectors_pending (store, &model, 5, &after, &error);
  g_assert_cmpuint (pending->len, ==, 0);
  g_assert_cmpint (after, >=, EVENTS - 1); /* that far nothing is pending */
  add_event (store, EVENTS);
  g_autoptr (GPtrArray) one = sl_vectors_pending (store, &model, 5, &after, &error);
  g_assert_cmpuint (one->len, ==, 1);
  g_auto (SlVectorModel) known = { 0 };
  g_assert_true (sl_vectors_get_model (store, &known, &error));
  g_assert_cmpint (known.places, ==, EVENTS * PARTS); /* places are used again */
  g_autofree char *first = make_stem (0);
  g_autofree gfloat *own = sl_vectors_of_event (store, &known, first, &error);
  gfloat numbers[LENGTH];
  make_numbers (0, 0, numbers);
  g_assert_cmpfloat (cosine (own, numbers), >, 0.9998);
  g_assert_null (sl_vectors_of_event (store, &known, "nothing", &error));
  g_assert_cmpstr (
    error->message, ==,
    "nothing: its picture has no embedding yet, or the event has none, or there is no "
    "such event");
  sl_store_unref (store);
  sl_test_folder_remove (folder);
}

/* Another model's embeddings are never compared, and who made the others is told. */
static void
test_models (void)
{
  g_auto (SlVectorModel) first = { 0 }, second = describe ("model two");
  SlStore *store;
  char *folder = make_folder (&first, &store);
  g_autoptr (GError) error = NULL;
  const SlEventQuery query = { .kept = -1, .limit = 10 };
  gfloat question[LENGTH];
  gint64 after = 0;
  make_numbers (7, 0, question);
  begin (store, &second, FALSE);
  g_assert_cmpint (second.id, !=, first.id);
  g_autoptr (GPtrArray) none = sl_vectors_search (store, &second, &query, question, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (none->len, ==, 0);
  g_assert_null (sl_vectors_search (store, &first, &query, question, &error));
  g_assert_nonnull (strstr (error->message, SL_VECTOR_FILE ": it is of another model"));
  g_clear_error (&error);
  g_assert_false (add_vectors (store, &first, 1, &error));
  g_assert_nonnull (strstr (error->message,
                            ": another program makes embeddings of another model here; expected "
                            "one model for a folder"));
  g_clear_error (&error);
  g_assert_null (sl_vectors_pending (store, &first, 5, &after, &error));
  g_clear_error (&error);
  g_autoptr (GPtrArray) pending = sl_vectors_pending (store, &second, 2 * EVENTS, &after, &error);
  g_assert_cmpuint (pending->len, ==, EVENTS);
  g_autofree char *newest = make_stem (EVENTS - 1), *path = NULL;
  g_assert_cmpstr (pending->pdata[0], ==, newest);
  path = g_build_filename (folder, SL_VECTOR_FILE, NULL);
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (symlink ("/dev/zero", path), ==, 0);
  g_assert_null (sl_vectors_search (store, &second, &query, question, &error));
  g_assert_nonnull (strstr (error->message, path));
  g_assert_cmpint (g_unlink (path), ==, 0);
  begin (store, &second, TRUE);
  sl_store_unref (store);
  sl_test_folder_remove (folder);
}

/* Whatever the file of numbers is, what is found has a score and is an event. */
static void
test_mutants (void)
{
  g_auto (SlVectorModel) model = { 0 };
  SlStore *store;
  char *folder = make_folder (&model, &store);
  g_autofree char *path = g_build_filename (folder, SL_VECTOR_FILE, NULL), *bytes = NULL;
  g_autoptr (GRand) random = g_rand_new_with_seed (3);
  const SlEventQuery query = { .kept = -1, .limit = 3 };
  g_auto (SlVectorModel) known = { 0 };
  gfloat question[LENGTH];
  gsize size;
  guint found = 0, refused = 0;
  make_numbers (5, 0, question);
  g_assert_true (sl_vectors_get_model (store, &known, NULL));
  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  const gint fd = open (path, O_RDWR | O_CLOEXEC);
  for (guint i = 0; i < MUTANTS; i++) {
    guint8 change[16], before[16];
    const gsize at = g_rand_int (random) % (size - sizeof change);
    for (guint k = 0; k < sizeof change; k++)
      change[k] = (guint8) (i % 3 == 0 ? 0xff : g_rand_int (random));
    memcpy (before, bytes + at, sizeof before);
    g_assert_cmpint (pwrite (fd, change, sizeof change, (off_t) at), ==, sizeof change);
    if (i % 50 == 49)
      g_assert_cmpint (ftruncate (fd, (off_t) at), ==, 0);
    g_autoptr (GPtrArray) hits = sl_vectors_search (store, &known, &query, question, NULL);
    for (guint k = 0; hits != NULL && k < hits->len; k++) {
      const SlVectorHit *hit = hits->pdata[k];
      g_assert_cmpfloat (hit->score, >=, -1);
      g_assert_cmpfloat (hit->score, <=, 1);
      g_assert_nonnull (hit->row->stem);
    }
    found += hits != NULL ? hits->len : 0;
    refused += hits == NULL ? 1 : 0;
    g_assert_cmpint (pwrite (fd, before, sizeof before, (off_t) at), ==, sizeof before);
    if (i % 50 == 49)
      g_assert_cmpint (pwrite (fd, bytes, size, 0), ==, size);
  }
  close (fd);
  g_assert_cmpuint (found, >, 2 * MUTANTS);
  g_assert_cmpuint (refused, >, 0);
  compare_all (store, &model, NULL);
  sl_store_unref (store);
  sl_test_folder_remove (folder);
}

/* The same of the index itself. */
static void
test_index_mutants (void)
{
  g_auto (SlVectorModel) model = { 0 };
  SlStore *store;
  char *folder = make_folder (&model, &store);
  g_autofree char *path = g_build_filename (folder, SL_STORE_FILE, NULL), *bytes = NULL;
  g_autoptr (GRand) random = g_rand_new_with_seed (4);
  const SlEventQuery query = { .kept = -1, .limit = 300 };
  gfloat question[LENGTH];
  gsize size;
  guint answered = 0;
  make_numbers (5, 0, question);
  sl_store_unref (store); /* and what was written is in the file */
  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  for (guint i = 0; i < INDEX_MUTANTS; i++) {
    g_autofree char *mutant = g_memdup2 (bytes, size);
    g_auto (SlVectorModel) known = { 0 };
    for (guint k = 0; k < 1 + i % 20; k++)
      mutant[g_rand_int (random) % size] = (char) g_rand_int (random);
    const gint fd = open (path, O_WRONLY | O_CLOEXEC);
    g_assert_cmpint (write (fd, mutant, size), ==, size);
    close (fd);
    g_autoptr (SlStore) read = sl_store_open (folder, NULL);
    g_autoptr (GPtrArray) hits = read != NULL && sl_vectors_get_model (read, &known, NULL)
                                   ? sl_vectors_search (read, &known, &query, question, NULL)
                                   : NULL;
    answered += hits != NULL ? 1 : 0;
  }
  g_assert_cmpuint (answered, >, INDEX_MUTANTS / 20);
  sl_test_folder_remove (folder);
}

/* What an index of any origin may state, and a view that never ends. */
static void
test_hostile_index (void)
{
  static const struct
  {
    const char *sql, *message;
  } cases[] = {
    { "UPDATE vector_model SET length = 0", "embeddings of 0 numbers; expected 1 to 8192" },
    { "UPDATE vector_model SET length = 9000000000", "embeddings of 9000000000 numbers" },
    { "UPDATE vector_model SET settings = x'00', slots = -5", "expected 1 to 8192, and what made" },
    { "DELETE FROM vector_model", "its pictures have no embeddings yet" },
    { "PRAGMA user_version=7",
      "an index of version 7, which another sightline has made: expected version 1" },
    { "CREATE VIEW endless AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT "
      "i FROM n",
      "it has a view, expected tables alone" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_auto (SlVectorModel) model = describe ("model one"), known = { 0 };
    char *folder = sl_test_folder_new ();
    SlStore *store = open_store (folder);
    begin (store, &model, FALSE);
    g_assert_true (sl_sql_script (&store->write, cases[i].sql, NULL));
    sl_store_unref (store);
    g_autoptr (SlStore) again = sl_store_open (folder, &error);
    g_assert_false (again != NULL && sl_vectors_get_model (again, &known, &error));
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, cases[i].message));
    sl_test_folder_remove (folder);
  }
}

/* Places beyond the file, or beyond any: nothing is found there, and no memory is asked for. */
static void
test_many_places (void)
{
  g_auto (SlVectorModel) model = { 0 }, known = { 0 };
  SlStore *store;
  char *folder = make_folder (&model, &store);
  g_autoptr (GError) error = NULL;
  g_assert_true (
    sl_sql_script (&store->write, "UPDATE vector_model SET slots = 9000000000000000000", &error));
  g_assert_true (sl_vectors_get_model (store, &known, &error));
  g_assert_cmpint (known.places, ==, (G_GINT64_CONSTANT (8) << 30) / 64);
  compare (store, &model, &(SlEventQuery){ .kept = -1, .limit = 10 }, NULL);
  add_event (store, EVENTS);
  g_assert_false (add_vectors (store, &model, EVENTS, &error));
  g_assert_nonnull (strstr (error->message, "expected at most 134217728 embeddings"));
  sl_store_unref (store);
  sl_test_folder_remove (folder);
}

/* In a process of its own: embeddings of all that is pending, a byte into @fd for each clip. */
static void
work (const char *folder, gint fd)
{
  g_autoptr (GError) error = NULL;
  g_auto (SlVectorModel) model = describe ("model one");
  SlStore *store = open_store (folder);
  gint64 after = 0;
  begin (store, &model, FALSE);
  for (;;) {
    g_autoptr (GPtrArray) stems = sl_vectors_pending (store, &model, 7, &after, &error);
    g_assert_no_error (error);
    for (guint i = 0; i < stems->len; i++) {
      guint event = 0;
      for (; event < EVENTS; event++) {
        g_autofree char *stem = make_stem (event);
        if (strcmp (stem, stems->pdata[i]) == 0)
          break;
      }
      g_assert_true (add_vectors (store, &model, event, &error));
      if (fd >= 0 && write (fd, "x", 1) != 1)
        _exit (1);
    }
    if (stems->len == 0)
      break;
  }
  sl_store_unref (store);
}

static pid_t
start_work (const char *folder, gint fd)
{
  const pid_t child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0) {
    work (folder, fd);
    _exit (0);
  }
  return child;
}

static void
end_work (pid_t child)
{
  int status;
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_cmpint (status, ==, 0);
}

/* (transfer full): a folder whose events have no embeddings. */
static char *
make_bare_folder (void)
{
  char *folder = sl_test_folder_new ();
  g_auto (SlVectorModel) model = describe ("model one");
  SlStore *store = open_store (folder);
  begin (store, &model, FALSE);
  for (guint i = 0; i < EVENTS; i++)
    add_event (store, i);
  sl_store_unref (store);
  return folder;
}

static void
compare_folder (const char *folder)
{
  g_auto (SlVectorModel) model = describe ("model one"), known = { 0 };
  SlStore *store = open_store (folder);
  compare_all (store, &model, NULL);
  g_assert_true (sl_vectors_get_model (store, &known, NULL));
  g_assert_cmpint (known.places, ==, EVENTS * PARTS);
  sl_store_unref (store);
}

static void
test_processes (void)
{
  char *folder = make_bare_folder ();
  const pid_t first = start_work (folder, -1), second = start_work (folder, -1);
  end_work (first);
  end_work (second);
  compare_folder (folder);
  sl_test_folder_remove (folder);
}

static void
test_killed (void)
{
  char *folder = make_bare_folder ();
  gint fds[2], status;
  char bytes[40];
  for (guint round = 0; round < 4; round++) {
    g_assert_cmpint (pipe (fds), ==, 0);
    const pid_t child = start_work (folder, fds[1]);
    close (fds[1]);
    for (gsize got = 0; got < sizeof bytes;) {
      const gssize n = read (fds[0], bytes, sizeof bytes - got);
      g_assert_cmpint (n, >, 0);
      got += (gsize) n;
    }
    g_assert_cmpint (kill (child, SIGKILL), ==, 0);
    g_assert_cmpint (waitpid (child, &status, 0), ==, child);
    close (fds[0]);
  }
  end_work (start_work (folder, -1));
  compare_folder (folder);
  sl_test_folder_remove (folder);
}

/* A file that may not grow is a full disk: the clip stays pending. */
static void
work_on_full_disk (const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_auto (SlVectorModel) model = describe ("model one");
  SlStore *store = open_store (folder);
  const struct rlimit limit = { 4096 + 640, RLIM_INFINITY },
                      none = { RLIM_INFINITY, RLIM_INFINITY };
  gint64 after = 0;
  begin (store, &model, FALSE);
  signal (SIGXFSZ, SIG_IGN);
  setrlimit (RLIMIT_FSIZE, &limit);
  g_assert_false (add_vectors (store, &model, 0, &error));
  g_assert_nonnull (error);
  setrlimit (RLIMIT_FSIZE, &none);
  g_clear_error (&error);
  g_autoptr (GPtrArray) pending = sl_vectors_pending (store, &model, 2 * EVENTS, &after, &error);
  g_assert_cmpuint (pending->len, ==, EVENTS);
  sl_store_unref (store);
}

static void
test_full_disk (void)
{
  char *folder = make_bare_folder ();
  const pid_t child = fork ();
  if (child == 0) {
    work_on_full_disk (folder);
    g_free (folder);
    _exit (0);
  }
  end_work (child);
  end_work (start_work (folder, -1));
  compare_folder (folder); /* and later it is well again */
  sl_test_folder_remove (folder);
}

int
main (int argc, char **argv)
{
  if (g_access ("/dev/shm", W_OK) == 0) /* no disk is waited for */
    g_setenv ("TMPDIR", "/dev/shm", TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/vectors/damaged", test_damaged);
  g_test_add_func ("/cli/vectors/hits", test_hits);
  g_test_add_func ("/cli/vectors/models", test_models);
  g_test_add_func ("/cli/vectors/mutants", test_mutants);
  g_test_add_func ("/cli/vectors/index-mutants", test_index_mutants);
  g_test_add_func ("/cli/vectors/hostile-index", test_hostile_index);
  g_test_add_func ("/cli/vectors/many-places", test_many_places);
  g_test_add_func ("/cli/vectors/processes", test_processes);
  g_test_add_func ("/cli/vectors/killed", test_killed);
  g_test_add_func ("/cli/vectors/full-disk", test_full_disk);
  return g_test_run ();
}
