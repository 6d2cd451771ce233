/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cameras that share a gallery: persons with known numbers walk by, and the truth is compared with
 * the identities. A pair of sightings of one person that share an identity is found; one of two
 * persons is a mistake. Precision is the share of pairs with one identity that are right. Recall is
 * the share of pairs of one person that have one identity.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "sightline/error.h"
#include "tests/gallery/support.h"
#include "tests/support/program.h"

#define FRAME (TEST_SECOND / 2)
#define NOISE 0.03

static SlIdentityCamera *
open_camera (const SlIdentityUse *use)
{
  g_autoptr (GError) error = NULL;
  SlIdentityCamera *camera = sl_identity_camera_new (use, &error);
  g_assert_no_error (error);
  return camera;
}

static void
close_camera (SlIdentityCamera *camera)
{
  g_assert_null (sl_identity_camera_free (camera));
}

/* A frame with one track, whose embedding is @look (nullable). */
static SlIdentityObject
show (SlIdentityCamera *camera, gint32 track, const gfloat *look, gint64 now)
{
  SlIdentityObject object = { .track = track, .look = look };
  sl_identity_camera_frame (camera, &object, 1, now);
  return object;
}

static SlIdentityObject
show_person (SlIdentityCamera *camera, gint32 track, guint person, guint n, gint64 now)
{
  gfloat look[TEST_LENGTH];
  test_look (person, 0, n, NOISE, look);
  return show (camera, track, look, now);
}

/* Who was seen, and who it was taken for. */
typedef struct
{
  guint truth;
  gint64 identity;
} Seen;

static void
measure (const Seen *seen, guint n, gdouble *precision, gdouble *recall)
{
  guint both = 0, same_identity = 0, same_person = 0;
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < i; k++) {
      const gboolean identity = seen[i].identity != 0 && seen[i].identity == seen[k].identity,
                     person = seen[i].truth == seen[k].truth;
      same_identity += identity;
      same_person += person;
      both += identity && person;
    }
  *precision = same_identity > 0 ? (gdouble) both / same_identity : 1;
  *recall = same_person > 0 ? (gdouble) both / same_person : 1;
}

/* Pairs of people pass one camera, then the other one, again and again. */
#define PEOPLE 24
#define ROUNDS 4
#define LOOKS 6

static void
test_walk (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  const SlIdentityUse gate = test_use (path, "gate"), hall = test_use (path, "hall");
  SlIdentityCamera *cameras[] = { open_camera (&gate), open_camera (&hall) };
  Seen seen[PEOPLE * ROUNDS];
  guint n = 0;
  gint32 track = 1;
  gint64 now = g_get_real_time () - TEST_DAY;
  for (guint round = 0; round < ROUNDS; round++)
    for (guint p = 0; p < PEOPLE; p += 2) {
      SlIdentityObject objects[2];
      for (guint look = 0; look < LOOKS; look++) {
        gfloat looks[2][TEST_LENGTH];
        for (guint i = 0; i < 2; i++) {
          test_look (p + i, round % 2, round * LOOKS + look, NOISE, looks[i]);
          objects[i] = (SlIdentityObject){ .track = track + (gint32) i, .look = looks[i] };
        }
        sl_identity_camera_frame (cameras[round % 2], objects, 2, now += FRAME);
      }
      for (guint i = 0; i < 2; i++)
        seen[n++] = (Seen){ p + i, objects[i].person };
      g_assert_cmpint (objects[0].person, !=, objects[1].person);
      g_assert_cmpfloat (objects[0].confidence, >, round > 0 ? 0.9 : 0.4);
      g_assert_cmpstr (objects[0].cameras, ==, round == 0 ? "gate" : "gate,hall");
      track += 2;
    }
  gdouble precision, recall;
  measure (seen, n, &precision, &recall);
  g_test_message ("precision %.3f, recall %.3f", precision, recall);
  g_assert_cmpfloat (precision, ==, 1);
  g_assert_cmpfloat (recall, >=, 0.98);
  SlIdentityStats stats;
  sl_identity_camera_stats (cameras[0], &stats);
  g_assert_cmpuint (stats.lost + stats.failed, ==, 0);
  close_camera (cameras[0]);
  close_camera (cameras[1]);
  test_folder_remove (folder);
}

/* Two who look the same: in one frame they are two; one of them alone is nobody for sure. */
static void
test_twins (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  const SlIdentityUse use = test_use (path, "gate");
  SlIdentityCamera *camera = open_camera (&use);
  gfloat looks[3][TEST_LENGTH];
  gint64 now = g_get_real_time ();
  for (guint i = 0; i < 3; i++)
    test_look (5, 0, i, 0.01, looks[i]);
  SlIdentityObject objects[] = { { .track = 1, .look = looks[0] },
                                 { .track = 2, .look = looks[1] } };
  sl_identity_camera_frame (camera, objects, 2, now);
  g_assert_cmpint (objects[0].person, !=, 0);
  g_assert_cmpint (objects[1].person, !=, 0);
  g_assert_cmpint (objects[0].person, !=, objects[1].person);
  SlIdentityObject third = show (camera, 3, looks[2], now += TEST_SECOND);
  g_assert_cmpint (third.person, ==, 0);
  show (camera, 3, looks[2], now += TEST_SECOND);
  third = show (camera, 3, looks[2], now += TEST_SECOND);
  g_assert_cmpint (third.person, !=, 0);
  g_assert_cmpint (third.person, !=, objects[0].person);
  g_assert_cmpint (third.person, !=, objects[1].person);
  g_assert_cmpfloat (third.confidence, <, 0.1);
  close_camera (camera);
  test_folder_remove (folder);
}

/* Of two tracks of one person in one frame, the surer one is it. */
static void
test_two_tracks (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  const SlIdentityUse use = test_use (path, "gate");
  SlIdentityCamera *camera = open_camera (&use);
  gint64 now = g_get_real_time ();
  const gint64 person = show_person (camera, 1, 7, 0, now).person;
  g_assert_cmpint (show_person (camera, 2, 7, 1, now += FRAME).person, ==, person);
  SlIdentityObject both[] = { { .track = 1 }, { .track = 2 } };
  sl_identity_camera_frame (camera, both, 2, now += FRAME);
  g_assert_cmpint (both[0].person != 0, !=, both[1].person != 0);
  close_camera (camera);
  test_folder_remove (folder);
}

/* A gallery that is closed and opened again has the same people, with a key and without. */
static void
test_again (gconstpointer data)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery"), *key = test_key (folder, "key", 'a');
  SlIdentityUse use = test_use (path, "gate");
  gint64 people[5];
  gint64 now = g_get_real_time () - TEST_SECOND;
  use.key_file = data != NULL ? key : NULL;
  for (guint start = 0; start < 3; start++) {
    SlIdentityCamera *camera = open_camera (&use);
    for (guint p = 0; p < 5; p++) {
      const SlIdentityObject object = show_person (camera, 1 + (gint32) p, p, start, now++);
      if (start > 0)
        g_assert_cmpint (object.person, ==, people[p]);
      people[p] = object.person;
    }
    close_camera (camera);
  }
  test_folder_remove (folder);
}

static void
test_hostile (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  const SlIdentityUse use = test_use (path, "gate");
  const gfloat values[] = { 0, NAN, INFINITY, -INFINITY, 3e38f, 1e-45f };
  SlIdentityCamera *camera = open_camera (&use);
  gfloat look[TEST_LENGTH];
  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    for (guint k = 0; k < TEST_LENGTH; k++)
      look[k] = values[i];
    const SlIdentityObject object = show (camera, 1 + (gint32) i, look, 1000);
    g_assert_true (object.person == 0 || isfinite (object.confidence));
    if (i < 4)
      g_assert_cmpint (object.person, ==, 0);
  }
  g_assert_cmpint (show_person (camera, 0, 1, 0, 2000).person, ==, 0);
  g_assert_cmpint (show_person (camera, -1, 1, 0, 2000).person, ==, 0);
  g_assert_cmpint (show_person (camera, G_MAXINT32, 1, 0, 2000).person, !=, 0);
  sl_identity_camera_frame (camera, NULL, 0, 3000);
  close_camera (camera);
  test_folder_remove (folder);
}

static void
expect (GError *error, SlError code, const char *part)
{
  g_assert_error (error, SL_ERROR, (gint) code);
  if (strstr (error->message, part) == NULL)
    g_error ("expected '%s' in '%s'", part, error->message);
  g_error_free (error);
}

static void
test_refused (void)
{
  GError *error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery"), *key = test_key (folder, "key", 'a');
  SlIdentityUse use = test_use (path, "gate");
  SlIdentityCamera *camera = open_camera (&use);
  use.model = "another";
  g_assert_null (sl_identity_camera_new (&use, &error));
  expect (g_steal_pointer (&error), SL_ERROR_CONTRACT, "has it open with embeddings of another");
  use = test_use (path, "gate");
  use.key_file = key;
  g_assert_null (sl_identity_camera_new (&use, &error));
  expect (g_steal_pointer (&error), SL_ERROR_ARGUMENT, "has it open with another key-file");
  for (use.length = 0; use.length <= 4097; use.length += 4097) {
    g_assert_null (sl_identity_camera_new (&use, &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_CONTRACT);
    g_assert_nonnull (strstr (error->message, ": expected embeddings of 1 to 4096 numbers, got "));
    g_assert_nonnull (strstr (error->message, ": take another model of appearance"));
    g_clear_error (&error);
  }
  use = test_use (path, "a,b");
  g_assert_null (sl_identity_camera_new (&use, &error));
  expect (g_steal_pointer (&error), SL_ERROR_ARGUMENT, "without commas and control characters");
  close_camera (camera);
  camera = NULL;
  SlIdentityCamera *all[SL_IDENTITY_CAMERAS];
  for (guint i = 0; i < SL_IDENTITY_CAMERAS; i++) {
    g_autofree char *name = g_strdup_printf ("c%u", i);
    use = test_use (path, name);
    use.path = key;
    g_autofree char *other = test_path (folder, "b.gallery");
    use.path = other;
    all[i] = open_camera (&use);
  }
  g_autofree char *other = test_path (folder, "b.gallery");
  use = test_use (other, "one-more");
  g_assert_null (sl_identity_camera_new (&use, &error));
  expect (g_steal_pointer (&error), SL_ERROR_LIMIT, "'one-more' is one too many; expected at most");
  for (guint i = 0; i < SL_IDENTITY_CAMERAS; i++)
    close_camera (all[i]);
  test_folder_remove (folder);
}

/* Waits until @stats->written is @least. */
static void
wait_written (SlIdentityCamera *camera, guint64 least, SlIdentityStats *stats)
{
  sl_identity_camera_stats (camera, stats);
  while (stats->written < least) {
    g_thread_yield ();
    sl_identity_camera_stats (camera, stats);
  }
}

/* While another program has the file, frames are answered. What has no place is counted. */
static void
test_slow (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  const SlIdentityUse use = test_use (path, "gate");
  SlIdentityCamera *camera = open_camera (&use);
  SlIdentityStore *other = sl_identity_store_open (path, NULL, &error);
  SlIdentityStats stats;
  gint64 now = g_get_real_time ();
  guint known = 0;
  g_assert_no_error (error);
  g_assert_true (sl_sql_script (&other->sql, "BEGIN IMMEDIATE", NULL));
  const gint64 start = g_get_monotonic_time ();
  for (guint p = 0; p < 900; p++)
    known += show_person (camera, 1 + (gint32) p, p, 0, now += TEST_SECOND).person != 0;
  g_test_message ("%u of 900 in %" G_GINT64_FORMAT " us", known, g_get_monotonic_time () - start);
  sl_identity_camera_stats (camera, &stats);
  g_assert_cmpuint (known, ==, 256); /* the numbers that were there */
  g_assert_cmpuint (stats.lost, ==, 900 - 256);
  g_assert_true (sl_sql_script (&other->sql, "ROLLBACK", NULL));
  wait_written (camera, 512, &stats);
  sl_identity_store_free (other);
  g_autofree char *trouble = sl_identity_camera_free (camera);
  g_assert_nonnull (strstr (trouble, "644 changes of it are lost"));
  test_folder_remove (folder);
}

/* Somebody who is forgotten while they are in view is a new person at the next look; everything
 * else stays. */
static void
test_forgotten (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  const SlIdentityUse use = test_use (path, "gate");
  SlIdentityCamera *camera = open_camera (&use);
  SlIdentityStats stats;
  gint64 now = g_get_real_time ();
  const gint64 stays = show_person (camera, 1, 1, 0, now).person,
               goes = show_person (camera, 2, 2, 0, now).person;
  const SlIdentityChoice choice = { goes, 0, NULL };
  guint gone;
  wait_written (camera, 4, &stats);
  SlIdentityStore *other = sl_identity_store_open (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sl_identity_store_forget (other, &choice, &gone, &error));
  do
    sl_identity_camera_stats (camera, &stats);
  while (stats.people != 1);
  g_assert_cmpint (show (camera, 2, NULL, now).person, ==, 0);
  const gint64 again = show_person (camera, 2, 2, 1, now).person;
  g_assert_cmpint (again, >, goes);
  g_assert_cmpint (show (camera, 1, NULL, now).person, ==, stays);
  sl_identity_store_free (other);
  close_camera (camera);
  test_folder_remove (folder);
}

/* Cameras of one file with other rules: the strictest count, at once. */
static void
test_strictest (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityUse gate = test_use (path, "gate"), hall = test_use (path, "hall");
  SlIdentityCamera *first = open_camera (&gate);
  SlIdentityStats stats;
  gint64 now = g_get_real_time () - 2 * TEST_DAY;
  for (guint p = 0; p < 10; p++)
    show_person (first, 1 + (gint32) p, p, 0, p < 4 ? now : g_get_real_time ());
  hall.rules.keep = TEST_DAY;
  SlIdentityCamera *second = open_camera (&hall);
  do
    sl_identity_camera_stats (first, &stats);
  while (stats.people != 6);
  hall.rules.most = 2;
  SlIdentityCamera *third = open_camera (&hall);
  do
    sl_identity_camera_stats (first, &stats);
  while (stats.people != 2);
  close_camera (third);
  close_camera (second);
  close_camera (first);
  test_folder_remove (folder);
}

/* More people in a frame than the gallery may have: those who are in it stay. Somebody new takes
 * the place of one who has left. */
static void
test_crowd (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityUse use = test_use (path, "gate");
  gfloat looks[4][TEST_LENGTH];
  gint64 now = g_get_real_time ();
  use.rules.most = 2;
  SlIdentityCamera *camera = open_camera (&use);
  for (guint p = 0; p < 4; p++)
    test_look (p, 0, 0, NOISE, looks[p]);
  const gint64 first = show (camera, 1, looks[0], now).person,
               second = show (camera, 2, looks[1], now += FRAME).person;
  SlIdentityObject crowd[] = { { .track = 4, .look = looks[3] },
                               { .track = 3, .look = looks[2] },
                               { .track = 2, .look = looks[1] },
                               { .track = 1, .look = looks[0] } };
  for (guint i = 0; i < 3; i++) {
    sl_identity_camera_frame (camera, crowd, 4, now += FRAME);
    g_assert_cmpint (crowd[0].person, ==, 0);
    g_assert_cmpint (crowd[1].person, ==, 0);
    g_assert_cmpint (crowd[2].person, ==, second);
    g_assert_cmpint (crowd[3].person, ==, first);
  }
  sl_identity_camera_frame (camera, crowd + 1, 2, now += FRAME);
  g_assert_cmpint (crowd[1].person, >, second);
  g_assert_cmpint (crowd[2].person, ==, second);
  close_camera (camera);
  test_folder_remove (folder);
}

/* A camera learns from tracks what cosines mean: one whose embeddings are all alike needs a higher
 * threshold than the usual one, which would take all for one person. */
static void
test_learned (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityUse use = test_use (path, "gate");
  SlIdentityCamera *camera = open_camera (&use);
  Seen seen[40];
  gint64 now = g_get_real_time () - TEST_DAY;
  gint32 track = 1;
  guint n = 0, wrong = 0;
  for (guint p = 0; p < 80; p += 2, track += 2) {
    SlIdentityObject objects[2];
    for (guint step = 0; step < 4; step++) {
      gfloat looks[2][TEST_LENGTH];
      for (guint i = 0; i < 2; i++) {
        test_look (p + i, 0, step, 0.01, looks[i]);
        for (guint k = 0; k < TEST_LENGTH; k++) /* what all have in common: cosines around 0.8 */
          looks[i][k] += 0.25f;
        objects[i] = (SlIdentityObject){ .track = track + (gint32) i, .look = looks[i] };
      }
      sl_identity_camera_frame (camera, objects, 2, now += TEST_SECOND);
    }
    if (p >= 40) {
      seen[n++] = (Seen){ p, objects[0].person };
      seen[n++] = (Seen){ p + 1, objects[1].person };
    }
  }
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < i; k++)
      wrong += seen[i].identity != 0 && seen[i].identity == seen[k].identity;
  g_test_message ("%u of %u pairs are taken for one person", wrong, n * (n - 1) / 2);
  g_assert_cmpuint (wrong, <=, n * (n - 1) / 2 / 100);
  close_camera (camera);
  /* What was learned is in the file. */
  camera = open_camera (&use);
  gfloat look[TEST_LENGTH];
  test_look (999, 0, 0, 0.01, look);
  for (guint k = 0; k < TEST_LENGTH; k++)
    look[k] += 0.25f;
  const SlIdentityObject stranger = show (camera, 1, look, now);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (stranger.person, !=, seen[i].identity);
  close_camera (camera);
  test_folder_remove (folder);
}

/* How a person looks on a camera: at a right angle to all others, and different on the second one.
 * The cosine between both cameras is about 0.4. */
static void
look_different (guint person, guint camera, guint n, gfloat look[TEST_LENGTH])
{
  const guint32 seeds[] = { 78, person, camera, n };
  g_autoptr (GRand) noise = g_rand_new_with_seed_array (seeds, G_N_ELEMENTS (seeds));
  for (guint i = 0; i < TEST_LENGTH; i++)
    look[i] = (gfloat) g_rand_double_range (noise, -NOISE, NOISE);
  look[2 * person] += 1;
  look[2 * person + 1] += 2 * (gfloat) camera;
}

/* @n people from @first on are seen by both cameras, two at a time. Their identities on each. */
static void
walk_by (const char *path, guint first, guint n, gint32 *track, gint64 *now, gint64 (*ids)[2])
{
  const SlIdentityUse gate = test_use (path, "gate"), hall = test_use (path, "hall");
  SlIdentityCamera *cameras[] = { open_camera (&gate), open_camera (&hall) };
  for (guint camera = 0; camera < 2; camera++)
    for (guint p = 0; p < n; p += 2) {
      SlIdentityObject objects[2];
      for (guint frame = 0; frame < LOOKS; frame++) {
        gfloat looks[2][TEST_LENGTH];
        for (guint i = 0; i < 2; i++) {
          look_different (first + p + i, camera, frame, looks[i]);
          objects[i] = (SlIdentityObject){ .track = *track + (gint32) i, .look = looks[i] };
        }
        sl_identity_camera_frame (cameras[camera], objects, 2, *now += FRAME);
      }
      *track += 2;
      for (guint i = 0; i < 2; i++)
        ids[p + i][camera] = objects[i].person;
    }
  close_camera (cameras[0]);
  close_camera (cameras[1]);
}

/* How many of 16 people are known on the second camera, after 16 others were @merged by hand there,
 * or were not. */
static guint
count_known (gboolean merged)
{
  enum
  {
    PEOPLE_EACH = 16
  };
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  gint64 ids[PEOPLE_EACH][2], now = g_get_real_time () - TEST_DAY;
  gint32 track = 1;
  guint known = 0;
  walk_by (path, 0, PEOPLE_EACH, &track, &now, ids);
  g_autoptr (SlIdentityStore) store = sl_identity_store_open (path, NULL, NULL);
  for (guint i = 0; i < PEOPLE_EACH; i++) {
    g_assert_cmpint (ids[i][0], !=, ids[i][1]);
    if (merged)
      g_assert_true (sl_identity_store_merge (store, ids[i][1], ids[i][0], NULL));
  }
  /* They come again: each is known, and different from the other one in the frame. */
  walk_by (path, 0, PEOPLE_EACH, &track, &now, ids);
  walk_by (path, PEOPLE_EACH, PEOPLE_EACH, &track, &now, ids);
  for (guint i = 0; i < PEOPLE_EACH; i++)
    for (guint k = 0; k < PEOPLE_EACH; k++)
      if (i == k)
        known += ids[i][0] == ids[i][1];
      else
        g_assert_cmpint (ids[i][0], !=, ids[k][1]);
  g_clear_pointer (&store, sl_identity_store_free);
  test_folder_remove (folder);
  return known;
}

/* Merges teach what the cosines of other people mean on these two cameras. */
static void
test_merged (void)
{
  g_assert_cmpuint (count_known (FALSE), ==, 0);
  g_assert_cmpuint (count_known (TRUE), ==, 16);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/book/walk", test_walk);
  g_test_add_func ("/book/twins", test_twins);
  g_test_add_func ("/book/two-tracks", test_two_tracks);
  g_test_add_data_func ("/book/again/plain", NULL, test_again);
  g_test_add_data_func ("/book/again/key", "key", test_again);
  g_test_add_func ("/book/hostile", test_hostile);
  g_test_add_func ("/book/refused", test_refused);
  g_test_add_func ("/book/slow", test_slow);
  g_test_add_func ("/book/forgotten", test_forgotten);
  g_test_add_func ("/book/strictest", test_strictest);
  g_test_add_func ("/book/crowd", test_crowd);
  g_test_add_func ("/book/learned", test_learned);
  g_test_add_func ("/book/merged", test_merged);
  return g_test_run ();
}
