/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects of the frames of a clip: which frames are kept, which are in a part, and its JSON. */
#include "config.h"

#include <string.h>

#include "plugins/record/trail.h"
#include "tests/support/program.h"

static void
put (SlTrail *trail, guint ms, guint n, const char *label)
{
  const SlObjectView object = { .x_min = 0.25,
                                .y_min = 0.5,
                                .x_max = 0.75,
                                .y_max = 1,
                                .confidence = 0.5,
                                .label = label,
                                .object_id = (gint32) ms };
  g_autofree SlObjectView *objects = g_new (SlObjectView, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    objects[i] = object;
  const SlPredictionView prediction = { .n_objects = n, .objects = objects };
  sl_trail_put (trail, ms * GST_MSECOND, n > 0 ? &prediction : NULL);
}

static char *
json_of (const SlTrail *trail, guint from, guint to)
{
  g_autoptr (SlTrailPart) part = sl_trail_part (trail, from * GST_MSECOND, to * GST_MSECOND);
  GString *out = g_string_new (NULL);
  sl_trail_part_append_json (out, part, from * GST_MSECOND);
  return g_string_free (out, FALSE);
}

static void
test_part (void)
{
  SlTrail trail;
  sl_trail_init (&trail);
  put (&trail, 0, 0, NULL);
  put (&trail, 100, 1, "person");
  put (&trail, 200, 1, "cat");
  put (&trail, 300, 0, NULL);
  put (&trail, 400, 0, NULL);
  put (&trail, 500, 1, "person");
  g_autofree char *part = json_of (&trail, 150, 450), *all = json_of (&trail, 0, 1000);
  g_assert_cmpstr (
    part, ==,
    "{\"labels\":[\"person\",\"cat\"],\"cut\":false,\"frames\":[[0.05,[1,200,0.5,0.25,0.5,0.5,"
    "0.5]],[0.15]]}");
  g_assert_cmpstr (
    all, ==,
    "{\"labels\":[\"person\",\"cat\"],\"cut\":false,\"frames\":[[0.1,[0,100,0.5,0.25,0.5,0.5,0.5]],"
    "[0.2,[1,200,0.5,0.25,0.5,0.5,0.5]],[0.3],[0.5,[0,500,0.5,0.25,0.5,0.5,0.5]]]}");
  sl_trail_trim (&trail, 300 * GST_MSECOND);
  g_autofree char *left = json_of (&trail, 0, 1000);
  g_assert_nonnull (strstr (left, "\"frames\":[[0.3],[0.5,"));
  sl_trail_clear (&trail);
}

/* What does not fit is left out, and that is said until there is room again. */
static void
test_bounds (void)
{
  SlTrail trail;
  sl_trail_init (&trail);
  for (guint i = 0; i < 400; i++) {
    g_autofree char *label = g_strdup_printf ("class %u", i);
    put (&trail, i, 99, label);
  }
  g_assert_cmpuint (trail.cells->len, <=, SL_TRAIL_CELLS);
  g_assert_cmpuint (trail.labels->len, ==, SL_TRAIL_LABELS);
  g_assert_true (trail.cut);
  g_autofree char *other = json_of (&trail, 300, 300);
  g_assert_nonnull (strstr (other, "\"cut\":true,\"frames\":[[0,[null,300,0.5"));
  sl_trail_trim (&trail, 400 * GST_MSECOND);
  g_assert_cmpuint (trail.cells->len, ==, 0);
  put (&trail, 500, 1, "class 0");
  g_assert_false (trail.cut);
  sl_trail_clear (&trail);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/slrecord/trail/part", test_part);
  g_test_add_func ("/slrecord/trail/bounds", test_bounds);
  return g_test_run ();
}
