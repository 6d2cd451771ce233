/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of several machines, whose messages go by hand: in any order all have the same in the end,
 * and nobody brings back what was erased. */
#include "pipelines/gallery/shared.h"

#include <string.h>

#include "sightline/error.h"
#include "tests/gallery/support.h"
#include "tests/support/program.h"

#define ID(machine, n) ((machine) *SL_IDENTITY_NUMBERS + (n))

typedef struct
{
  char *folder;
  SlIdentityStore *stores[2]; /* of machines 1 and 2 */
  SlIdentityHello hellos[2];
  SlIdentityCameras cameras;
  gint64 now;
} Pair;

static void
open_pair (Pair *pair)
{
  static const char *const names[] = { "one", "two" };
  g_autoptr (GError) error = NULL;
  pair->folder = test_folder ();
  pair->now = g_get_real_time ();
  sl_identity_cameras_init (&pair->cameras);
  for (guint i = 0; i < 2; i++) {
    g_autofree char *path = test_path (pair->folder, names[i]);
    pair->stores[i] = test_store (path, NULL);
    g_assert_true (sl_identity_shared_prepare (pair->stores[i], i + 1, &pair->hellos[i], &error));
    g_assert_no_error (error);
  }
}

static void
close_pair (Pair *pair)
{
  for (guint i = 0; i < 2; i++)
    sl_identity_store_free (pair->stores[i]);
  sl_identity_cameras_clear (&pair->cameras);
  test_folder_remove (pair->folder);
}

static void
see (Pair *pair, guint at, gint64 person, const char *camera, gint64 time, gint8 number)
{
  g_autoptr (GError) error = NULL;
  gint8 row[TEST_LENGTH];
  memset (row, number, sizeof row);
  const guint where = (guint) sl_identity_cameras_number (&pair->cameras, camera);
  const SlIdentityEntry entries[] = {
    { .kind = SL_IDENTITY_NEW, .person = person, .camera = where, .time = time, .row = row },
    { .kind = SL_IDENTITY_SEEN,
      .person = person,
      .camera = where,
      .first = time,
      .time = time,
      .confidence = 1 }
  };
  sl_identity_store_write (pair->stores[at], &pair->cameras, entries, G_N_ELEMENTS (entries),
                           &error);
  g_assert_no_error (error);
}

/* What @from knows of @person goes to the other one. Returns whether that has no more. */
static gboolean
tell (Pair *pair, guint from, gint64 person, gboolean *is_gone)
{
  g_autoptr (GError) error = NULL;
  g_autofree SlIdentityState *state = g_new0 (SlIdentityState, 1);
  gboolean gone;
  guint64 print;
  sl_identity_shared_read (pair->stores[from], person, state, &error);
  g_assert_no_error (error);
  g_assert_true (sl_identity_shared_take (pair->stores[1 - from], person, state, pair->now, &print,
                                          is_gone != NULL ? is_gone : &gone, &error));
  g_assert_no_error (error);
  return print != 0;
}

static void
tell_erased (Pair *pair, guint from)
{
  g_autoptr (GError) error = NULL;
  SlIdentityErasure erasure;
  char token[SL_IDENTITY_TOKEN];
  for (gint64 number = 0;;) {
    g_assert_true (sl_identity_shared_next (pair->stores[from], &number, token, &erasure, &error));
    if (number == 0)
      break;
    g_assert_true (sl_identity_shared_erase (pair->stores[1 - from], token, &erasure, &error));
    g_assert_no_error (error);
  }
}

static guint
count_views (Pair *pair, guint at, gint64 person)
{
  g_autofree SlIdentityState *state = g_new0 (SlIdentityState, 1);
  g_assert_true (sl_identity_shared_read (pair->stores[at], person, state, NULL));
  return state->n_views;
}

static void
forget (Pair *pair, guint at, gint64 person, gint64 before, const char *camera)
{
  g_autoptr (GError) error = NULL;
  const SlIdentityChoice choice = { person, before, camera };
  guint n;
  g_assert_true (sl_identity_store_forget (pair->stores[at], &choice, &n, &error));
  g_assert_no_error (error);
}

static void
check_same (Pair *pair)
{
  g_autoptr (GHashTable) first = sl_identity_shared_prints (pair->stores[0], NULL),
                         second = sl_identity_shared_prints (pair->stores[1], NULL);
  GHashTableIter iter;
  gpointer id, print;
  g_assert_cmpuint (g_hash_table_size (first), ==, g_hash_table_size (second));
  g_hash_table_iter_init (&iter, first);
  while (g_hash_table_iter_next (&iter, &id, &print)) {
    const guint64 *other = g_hash_table_lookup (second, id);
    g_assert_nonnull (other);
    g_assert_cmpuint (*other, ==, *(guint64 *) print);
  }
}

/* Both learn of one person: the newest six embeddings of both stay, and it ends. */
static void
test_converge (void)
{
  Pair pair;
  open_pair (&pair);
  for (guint i = 0; i < 5; i++) {
    see (&pair, 0, ID (1, 1), "gate", pair.now - (2 * i + 1) * TEST_SECOND, 3);
    see (&pair, 1, ID (1, 1), "hall", pair.now - (2 * i + 2) * TEST_SECOND, 4);
  }
  g_assert_false (tell (&pair, 0, ID (1, 1), NULL));
  g_assert_true (tell (&pair, 1, ID (1, 1), NULL));
  g_assert_true (tell (&pair, 0, ID (1, 1), NULL));
  g_assert_cmpuint (count_views (&pair, 0, ID (1, 1)), ==, SL_IDENTITY_VIEWS);
  g_assert_cmpuint (count_views (&pair, 1, ID (1, 1)), ==, SL_IDENTITY_VIEWS);
  check_same (&pair);
  close_pair (&pair);
}

/* Who is forgotten on one machine is forgotten on the other one, which cannot bring them back; and
 * the embedding is in no byte of its file. */
static void
test_forget (void)
{
  Pair pair;
  gint8 row[TEST_LENGTH];
  gboolean is_gone;
  memset (row, 77, sizeof row);
  open_pair (&pair);
  see (&pair, 0, ID (1, 1), "gate", pair.now - 2 * TEST_SECOND, 77);
  tell (&pair, 0, ID (1, 1), NULL);
  g_assert_true (test_contains (pair.stores[1]->sql.path, row, sizeof row));
  g_autofree SlIdentityState *state = g_new0 (SlIdentityState, 1);
  g_assert_true (sl_identity_shared_read (pair.stores[1], ID (1, 1), state, NULL));
  forget (&pair, 0, ID (1, 1), 0, NULL);
  g_assert_true (sl_identity_shared_is_gone (pair.stores[0], ID (1, 1)));
  tell (&pair, 1, ID (1, 1), &is_gone);
  g_assert_true (is_gone);
  g_assert_cmpuint (count_views (&pair, 0, ID (1, 1)), ==, 0);
  tell_erased (&pair, 0);
  g_assert_cmpuint (count_views (&pair, 1, ID (1, 1)), ==, 0);
  g_assert_true (pair.stores[1]->has_traces);
  g_assert_true (sl_identity_store_wipe (pair.stores[1], NULL));
  g_assert_false (test_contains (pair.stores[1]->sql.path, row, sizeof row));
  check_same (&pair);
  close_pair (&pair);
}

/* What a camera saw before a time: what it sees later is kept. */
static void
test_choice (void)
{
  Pair pair;
  open_pair (&pair);
  see (&pair, 0, ID (1, 1), "gate", pair.now - 60 * TEST_SECOND, 3);
  see (&pair, 0, ID (1, 1), "hall", pair.now - 50 * TEST_SECOND, 3);
  see (&pair, 0, ID (1, 2), "gate", pair.now - 60 * TEST_SECOND, 5);
  tell (&pair, 0, ID (1, 1), NULL);
  tell (&pair, 0, ID (1, 2), NULL);
  forget (&pair, 0, 0, pair.now - 30 * TEST_SECOND, "gate");
  tell (&pair, 1, ID (1, 1), NULL);
  g_assert_cmpuint (count_views (&pair, 0, ID (1, 1)), ==, 1);
  tell_erased (&pair, 0);
  check_same (&pair);
  g_assert_true (sl_identity_shared_is_gone (pair.stores[1], ID (1, 2)));
  see (&pair, 1, ID (1, 1), "gate", pair.now, 3);
  tell (&pair, 1, ID (1, 1), NULL);
  g_assert_cmpuint (count_views (&pair, 0, ID (1, 1)), ==, 2);
  close_pair (&pair);
}

/* Two are merged on one machine while the other one sees the one who is gone. */
static void
test_merge (void)
{
  Pair pair;
  gboolean is_gone;
  open_pair (&pair);
  see (&pair, 0, ID (1, 1), "gate", pair.now - 9 * TEST_SECOND, 3);
  see (&pair, 1, ID (2, 1), "hall", pair.now - 8 * TEST_SECOND, 4);
  tell (&pair, 1, ID (2, 1), NULL);
  g_assert_true (sl_identity_store_merge (pair.stores[0], ID (2, 1), ID (1, 1), NULL));
  see (&pair, 1, ID (2, 1), "hall", pair.now - 7 * TEST_SECOND, 5);
  tell (&pair, 1, ID (2, 1), &is_gone);
  g_assert_true (is_gone);
  g_assert_cmpuint (count_views (&pair, 0, ID (1, 1)), ==, 3);
  tell_erased (&pair, 0);
  tell (&pair, 0, ID (1, 1), NULL);
  check_same (&pair);
  close_pair (&pair);
}

/* Both machines merge the same two, each the other way: the lower number stays. */
static void
test_merge_turns (void)
{
  Pair pair;
  open_pair (&pair);
  see (&pair, 0, ID (1, 1), "gate", pair.now - 9 * TEST_SECOND, 3);
  see (&pair, 0, ID (2, 1), "hall", pair.now - 8 * TEST_SECOND, 4);
  tell (&pair, 0, ID (1, 1), NULL);
  tell (&pair, 0, ID (2, 1), NULL);
  g_assert_true (sl_identity_store_merge (pair.stores[0], ID (2, 1), ID (1, 1), NULL));
  g_assert_true (sl_identity_store_merge (pair.stores[1], ID (1, 1), ID (2, 1), NULL));
  tell_erased (&pair, 0);
  tell_erased (&pair, 1);
  check_same (&pair);
  g_assert_cmpuint (count_views (&pair, 0, ID (1, 1)), ==, 2);
  g_assert_cmpuint (count_views (&pair, 1, ID (2, 1)), ==, 0);
  close_pair (&pair);
}

/* What rules do not allow is not taken, nor what no camera can have seen. */
static void
test_bounds (void)
{
  Pair pair;
  open_pair (&pair);
  see (&pair, 1, ID (2, 1), "hall", pair.now - 8 * TEST_DAY, 3);
  see (&pair, 1, ID (2, 2), "hall", pair.now + TEST_DAY, 3);
  see (&pair, 1, ID (2, 3), "hall", pair.now, 0);
  for (guint i = 1; i <= 3; i++) {
    tell (&pair, 1, ID (2, i), NULL);
    g_assert_cmpuint (count_views (&pair, 0, ID (2, i)), ==, 0);
  }
  pair.stores[0]->rules.most = 5;
  for (guint i = 0; i < 20; i++) {
    see (&pair, 1, ID (2, 10 + i), "hall", pair.now - (20 - i) * TEST_SECOND, 3);
    tell (&pair, 1, ID (2, 10 + i), NULL);
  }
  g_autoptr (GHashTable) prints = sl_identity_shared_prints (pair.stores[0], NULL);
  g_assert_cmpuint (g_hash_table_size (prints), ==, 5);
  close_pair (&pair);
}

/* People of a file that was not shared get numbers of its machine; so do new ones. */
static void
test_numbers (void)
{
  g_autoptr (GError) error = NULL;
  Pair pair;
  gint64 first;
  SlIdentityHello hello;
  open_pair (&pair);
  g_assert_true (sl_identity_store_reserve (pair.stores[1], 5, &first, NULL));
  g_assert_cmpint (first, ==, ID (2, 1));
  g_autofree char *path = test_path (pair.folder, "three");
  g_autoptr (SlIdentityStore) third = test_store (path, NULL);
  sl_identity_store_free (pair.stores[0]);
  pair.stores[0] = g_steal_pointer (&third);
  g_assert_true (sl_identity_store_reserve (pair.stores[0], 5, &first, NULL));
  see (&pair, 0, 1, "gate", pair.now, 3);
  g_assert_true (sl_identity_shared_prepare (pair.stores[0], 3, &hello, &error));
  g_assert_cmpuint (count_views (&pair, 0, ID (3, 1)), ==, 1);
  g_assert_true (sl_identity_store_reserve (pair.stores[0], 5, &first, NULL));
  g_assert_cmpint (first, ==, ID (3, 6));
  g_assert_false (sl_identity_shared_prepare (pair.stores[0], 4, &hello, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
  g_autofree char *sentence = g_strdup_printf ("%s: it is the file of machine 3, got machine=4: "
                                               "state machine=3, or take another file",
                                               path);
  g_assert_cmpstr (error->message, ==, sentence);
  g_clear_error (&error);
  g_assert_true (sl_sql_script (&pair.stores[0]->sql, "DELETE FROM share", NULL));
  g_assert_false (sl_identity_shared_prepare (pair.stores[0], 3, &hello, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
  g_autofree char *nobody =
    g_strdup_printf ("%s: it does not say which machine it is of; expected a gallery that "
                     "sightline has made",
                     path);
  g_assert_cmpstr (error->message, ==, nobody);
  close_pair (&pair);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shared/converge", test_converge);
  g_test_add_func ("/shared/forget", test_forget);
  g_test_add_func ("/shared/choice", test_choice);
  g_test_add_func ("/shared/merge", test_merge);
  g_test_add_func ("/shared/merge-turns", test_merge_turns);
  g_test_add_func ("/shared/bounds", test_bounds);
  g_test_add_func ("/shared/numbers", test_numbers);
  return g_test_run ();
}
