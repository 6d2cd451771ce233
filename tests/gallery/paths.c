/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which way people can go: times that are worked out by hand, and texts that are refused. */
#include <string.h>

#include "pipelines/gallery/paths.h"
#include "sightline/error.h"
#include "tests/gallery/support.h"
#include "tests/support/program.h"

static void
test_ways (void)
{
  static const struct
  {
    const char *from, *to;
    gdouble least; /* seconds */
  } ways[] = {
    { "gate", "gate", 0 },   { "gate", "hall", 5 },
    { "hall", "gate", 0.5 }, { "gate", "roof", 125 } /* over the hall */,
    { "roof", "hall", 600 }, /* nothing leads down */
    { "yard", "gate", 0 },   /* nothing is said of it */ { "hall", "roof", 120 },
    { "roof", "gate", 600 }, { "gate", "yard", 60 },
    { "hall", "yard", 300 },
  };
  g_autoptr (GError) error = NULL;
  SlIdentityCameras cameras;
  sl_identity_cameras_init (&cameras);
  g_autofree SlIdentityPaths *paths = sl_identity_paths_new (
    "gate>hall:5-60s, hall>gate:500ms-1min,hall>roof:2-5min,roof>exit:1s-10min", &cameras, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    const guint from = (guint) sl_identity_cameras_number (&cameras, ways[i].from),
                to = (guint) sl_identity_cameras_number (&cameras, ways[i].to);
    const gint64 least = (gint64) (ways[i].least * G_USEC_PER_SEC);
    g_assert_true (sl_identity_paths_allow (paths, from, to, least));
    g_assert_true (sl_identity_paths_allow (paths, from, to, G_MAXINT64));
    g_assert_true (least == 0 || !sl_identity_paths_allow (paths, from, to, least - 1000));
  }
  sl_identity_cameras_clear (&cameras);
}

static void
test_refused (void)
{
  static const char *const texts[] = { "",
                                       "gate",
                                       "gate>hall",
                                       "gate>hall:5",
                                       "gate>hall:-5s",
                                       "gate>hall:9-5s",
                                       "gate>hall:0-0s",
                                       "gate>hall:5-60y",
                                       "gate>hall:x-60s",
                                       ">hall:5-60s",
                                       "gate>:5-60s",
                                       "gate>gate:5-60s",
                                       "gate:5-60s>hall",
                                       "gate>hall:5-60s," };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) error = NULL;
    SlIdentityCameras cameras;
    sl_identity_cameras_init (&cameras);
    g_assert_null (sl_identity_paths_new (texts[i], &cameras, &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message,
                              "paths: expected FROM>TO:LEAST-MOST with the names of "
                              "two cameras and times, such as gate>hall:5-60s, "
                              "got '"));
    sl_identity_cameras_clear (&cameras);
  }
  g_autoptr (GString) many = g_string_new ("c0>c1:1-2s");
  g_autoptr (GError) error = NULL;
  SlIdentityCameras cameras;
  sl_identity_cameras_init (&cameras);
  for (guint i = 1; i < SL_IDENTITY_CAMERAS; i++)
    g_string_append_printf (many, ",c%u>c%u:1-2s", i, i + 1);
  g_assert_null (sl_identity_paths_new (many->str, &cameras, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_LIMIT);
  g_assert_cmpstr (error->message, ==, "paths: expected at most 64 cameras");
  sl_identity_cameras_clear (&cameras);
}

/* Somebody who looks the same as one at the gate a second ago is another person in the hall. */
static void
test_gated (void)
{
  g_autoptr (GError) error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  SlIdentityUse gate = test_use (path, "gate"), hall = test_use (path, "hall");
  gate.paths = hall.paths = "gate>hall:5-60s";
  SlIdentityCamera *first = sl_identity_camera_new (&gate, &error),
                   *second = sl_identity_camera_new (&hall, &error);
  g_assert_no_error (error);
  const gint64 now = g_get_real_time ();
  gint64 people[3];
  for (guint i = 0; i < 3; i++) {
    gfloat look[TEST_LENGTH];
    test_look (1, 0, i, 0.01, look);
    SlIdentityObject object = { .track = 1 + (gint32) i, .look = look };
    sl_identity_camera_frame (i == 0 ? first : second, &object, 1,
                              now
                                + (i == 0   ? 0
                                   : i == 1 ? TEST_SECOND
                                            : 20 * TEST_SECOND));
    people[i] = object.person;
  }
  g_assert_cmpint (people[1], !=, people[0]);
  g_assert_true (people[2] == people[0] || people[2] == people[1] || people[2] == 0);
  hall.paths = "gate";
  g_assert_null (sl_identity_camera_new (&hall, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
  g_free (sl_identity_camera_free (first));
  g_free (sl_identity_camera_free (second));
  test_folder_remove (folder);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/paths/ways", test_ways);
  g_test_add_func ("/paths/refused", test_refused);
  g_test_add_func ("/paths/gated", test_gated);
  return g_test_run ();
}
