/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* People who are known cost no memory: frames, with and without embeddings, ask the heap for
 * nothing. */
#include "tests/gallery/support.h"
#include "tools/bench/allocations.h"

#define PEOPLE 12

static __thread gboolean watched;
static gint asked;

static void
seen (void)
{
  if (watched)
    g_atomic_int_inc (&asked);
}

static void
run (SlIdentityCamera *camera, guint frames, gint64 *now)
{
  SlIdentityObject objects[PEOPLE];
  gfloat looks[PEOPLE][TEST_LENGTH];
  for (guint frame = 0; frame < frames; frame++) {
    for (guint i = 0; i < PEOPLE; i++) {
      watched = FALSE;
      test_look (i, 0, frame % 7, 0.03, looks[i]);
      objects[i] =
        (SlIdentityObject){ .track = 1 + (gint32) i, .look = frame % 3 == 0 ? looks[i] : NULL };
    }
    watched = TRUE;
    sl_identity_camera_frame (camera, objects, PEOPLE, *now += TEST_SECOND / 25);
    watched = FALSE;
    for (guint i = 0; i < PEOPLE; i++)
      g_assert_cmpint (objects[i].person, !=, 0);
  }
}

static void
test_steady (void)
{
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "a.gallery");
  const SlIdentityUse use = test_use (path, "gate");
  SlIdentityCamera *camera = sl_identity_camera_new (&use, NULL);
  gint64 now = g_get_real_time ();
  g_assert_nonnull (camera);
  run (camera, 30, &now);
  g_atomic_int_set (&asked, 0);
  sl_allocations_watch (seen);
  run (camera, 300, &now);
  sl_allocations_watch (NULL);
  if (sl_allocations () < 0)
    g_test_skip ("allocations cannot be counted here");
  else
    g_assert_cmpint (g_atomic_int_get (&asked), ==, 0);
  g_assert_null (sl_identity_camera_free (camera));
  test_folder_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/steady/known", test_steady);
  return g_test_run ();
}
