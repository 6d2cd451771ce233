/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptions of regions against what they say, and what is said of wrong and of random ones. */
#include "postprocess/analyze/regions.h"

#include <string.h>

#include "sightline/error.h"
#include "tests/support/program.h"

static const SlRegion *
region_at (const SlRegions *regions, guint i)
{
  g_assert_cmpuint (i, <, regions->list->len);
  return &g_array_index (regions->list, SlRegion, i);
}

/* The same as a file's lines and as a property's. */
static void
test_read (void)
{
  static const char *const texts[] = {
    "# who waits; where\n[zone door]\npoints=0.1,0.2 0.5,0.2 0.5,.9\nclasses=person,!dog\n"
    "anchor=centre\ndwell-after=1min\n"
    "empty-after = 10\n\n[line way in]\r\npoints = 0,0.5,1,0.5\n",
    "[zone door] points=0.1 0.2, 0.5 0.2  0.5 .9; classes=person,!dog;anchor=centre; "
    "dwell-after=60s; empty-after=10s; [line way in] points=0,0.5 1,0.5;",
  };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlRegions) regions = sl_regions_parse (texts[i], &error);
    g_assert_no_error (error);
    g_assert_cmpuint (regions->list->len, ==, 2);
    const SlRegion *zone = region_at (regions, 0), *line = region_at (regions, 1);
    g_assert_cmpint (zone->kind, ==, SL_REGION_ZONE);
    g_assert_cmpstr (zone->name, ==, "door");
    g_assert_cmpuint (zone->n_points, ==, 3);
    g_assert_cmpfloat (zone->points[2].x, ==, 0.5);
    g_assert_cmpfloat (zone->points[2].y, ==, 0.9);
    g_assert_true (sl_class_filter_passes (zone->classes, "person")
                   && !sl_class_filter_passes (zone->classes, "cat"));
    g_assert_cmpint (zone->anchor, ==, SL_ANCHOR_CENTRE);
    g_assert_cmpuint (zone->dwell_after, ==, 60000);
    g_assert_cmpuint (zone->empty_after, ==, 10000);
    g_assert_cmpuint (zone->left_behind_after, ==, 0);
    g_assert_cmpint (line->kind, ==, SL_REGION_LINE);
    g_assert_cmpstr (line->name, ==, "way in");
    g_assert_cmpint (line->anchor, ==, SL_ANCHOR_DEFAULT);
    g_assert_cmpuint (line->n_points, ==, 2);
    g_assert_cmpfloat (line->points[1].x, ==, 1);
  }
}

static void
test_later_wins (void)
{
  g_autoptr (SlRegions) regions = sl_regions_parse (
    "[zone a] points=0,0 1,0 1,1; classes=x; [zone b] points=0,0 1,0 0,1; [zone a] classes=y; "
    "points=0,0 1,0 1,1 0,1",
    NULL);
  g_assert_cmpuint (regions->list->len, ==, 2);
  g_assert_cmpuint (region_at (regions, 0)->n_points, ==, 4);
  g_assert_true (sl_class_filter_passes (region_at (regions, 0)->classes, "y"));
}

static void
test_errors (void)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "points=1,2", "'points=1,2': expected [zone NAME], [line NAME] or [mask NAME] first" },
    { "[zone door", "'[zone door': expected ']' behind a group's name" },
    { "[zon door]", "[zon door]: unknown group; expected [zone NAME], [line NAME] or [mask NAME]" },
    { "[zone ]", "[zone ]: expected a name of 1 to 64 bytes of UTF-8 without ';' behind 'zone'" },
    { "[zone a] points=0,0 1,0 1,0 1,1", "[zone a] points: corners 2 and 3 are the same" },
    { "[zone a] points", "'points': expected KEY=VALUE" },
    { "[zone a] point=0,0", "[zone a] point: unknown key of a zone; did you mean 'points'?" },
    { "[line a] dwell-after=1",
      "[line a] dwell-after: unknown key of a line; expected one of points, classes, anchor" },
    { "[zone a] points=0,0 1,0 2,1",
      "[zone a] points: expected points x,y of numbers from 0 to 1, such as 0.1,0.2 0.5,0.2 "
      "0.5,0.9, got '2,1' in '0,0 1,0 2,1'" },
    { "[zone a] points=0,0 1",
      "[zone a] points: expected points x,y of numbers from 0 to 1, such as 0.1,0.2 0.5,0.2 "
      "0.5,0.9, got '' in '0,0 1'" },
    { "[zone a] points=nan,0 1,0 1,1",
      "[zone a] points: expected points x,y of numbers from 0 to 1, such as 0.1,0.2 0.5,0.2 "
      "0.5,0.9, got 'nan,0 1,0 1,1' in 'nan,0 1,0 1,1'" },
    { "[zone a] points=0,0 1,1",
      "[zone a] points: expected at least 3 corners x,y of 0..1, got 2" },
    { "[zone a] points=0,0 1,1 0.5,0.5",
      "[zone a] points: the zone has no area; expected corners of 0..1 of the frame, in the order "
      "around it" },
    { "[zone a] points=0,0 1,0.8 1,0 0,1",
      "[zone a] points: sides 1 and 3 cross; expected corners in the order around the zone" },
    { "[zone a] points=0.1,0.1 0.9,0.9 0.9,0.1 0.1,0.9",
      "[zone a] points: sides 1 and 3 cross; expected corners in the order around the zone" },
    { "[line a] points=0,0 1,1 0,1", "[line a] points: expected 2 points x,y of 0..1, got 3" },
    { "[line a]", "[line a] points: expected 2 points x,y of 0..1, got 0" },
    { "[line a] points=0.5,0.5 0.501,0.5",
      "[line a] points: the line is shorter than 0.01 of the frame" },
    { "[zone a] anchor=center",
      "[zone a] anchor: unknown anchor 'center'; did you mean 'centre'?" },
    { "[zone a] anchor=x",
      "[zone a] anchor: unknown anchor 'x'; expected one of bottom, centre, top, left, right" },
    { "[zone a] classes=a,",
      "[zone a] classes: classes=a,: a name is empty; expected class names with ',' between, such "
      "as person,car or !dog" },
    { "[zone a] dwell-after=soon",
      "[zone a] dwell-after: expected a time such as 500ms, 2s or 1min, at most 24h, got 'soon'" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (sl_regions_parse (cases[i].text, &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
    g_assert_cmpstr (error->message, ==, cases[i].message);
  }
}

static void
test_too_many (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i <= SL_REGIONS_MOST; i++)
    g_string_append_printf (text, "[line %u] points=0,0 1,1\n", i);
  g_assert_null (sl_regions_parse (text->str, &error));
  g_assert_cmpstr (error->message, ==, "[line 64]: more than 64 zones, lines and masks");
  g_clear_error (&error);
  g_string_assign (text, "[zone a] points=");
  for (guint i = 0; i <= SL_REGION_MAX_POINTS; i++)
    g_string_append (text, "0,0 ");
  g_assert_null (sl_regions_parse (text->str, &error));
  g_assert_cmpstr (error->message, ==, "[zone a] points: more than 32 points");
}

/* The ring of a map: its last corner is its first. */
static void
test_closed (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlRegions) regions = sl_regions_parse ("[zone a] points=0,0 1,0 1,1 0,1 0,0", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_array_index (regions->list, SlRegion, 0).n_points, ==, 4);
}

/* Pieces of descriptions in any order: a list or an error, never both. */
static void
test_random (void)
{
  static const char *const pieces[] = {
    "[zone ", "[line ", "a",  "]",   "[",           "points",  "=",          "0", ".5",
    ",",      " ",      ";",  "\n",  "#",           "classes", "anchor",     "!", "\\",
    "\xff",   "1e-9",   "-1", "inf", "dwell-after", "bottom",  "1,0 1,1 0,1"
  };
  for (guint i = 0; i < 20000; i++) {
    g_autoptr (GString) text = g_string_new (NULL);
    g_autoptr (GError) error = NULL;
    for (guint n = (guint) g_test_rand_int_range (0, 40); n > 0; n--)
      g_string_append (text, pieces[g_test_rand_int_range (0, G_N_ELEMENTS (pieces))]);
    g_autoptr (SlRegions) regions = sl_regions_parse (text->str, &error);
    g_assert_true ((regions == NULL) == (error != NULL));
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/regions/read", test_read);
  g_test_add_func ("/regions/later-wins", test_later_wins);
  g_test_add_func ("/regions/errors", test_errors);
  g_test_add_func ("/regions/too-many", test_too_many);
  g_test_add_func ("/regions/closed", test_closed);
  g_test_add_func ("/regions/random", test_random);
  return g_test_run ();
}
