/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Zones, lines and heat maps on a gray frame: what is drawn where, and what is left alone. */
#include <stdlib.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/meta/analysis_meta.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define WIDTH 160
#define HEIGHT 120
#define CAPS "video/x-raw,format=RGB,width=160,height=120,framerate=25/1"
#define STRIDE (WIDTH * 3)
#define GRAY 0x808080
#define QUIET 0xf2f2f2
#define BUSY 0xffd400

static const SlRegionPoint square[] = {
  { 0.1, 0.25 }, { 0.4, 0.25 }, { 0.4, 0.75 }, { 0.1, 0.75 }
};
static const SlRegionPoint upright[] = { { 0.75, 0.9 }, { 0.75, 0.1 } };

static GstBuffer *
gray_frame (const SlAnalysis *analysis)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, STRIDE * HEIGHT, NULL);
  gst_buffer_memset (buffer, 0, 0x80, STRIDE * HEIGHT);
  if (analysis != NULL)
    sl_buffer_set_analysis (buffer, analysis, TRUE, NULL);
  return buffer;
}

/* What sloverlay with @properties makes of a gray frame. */
static guint8 *
draw (const SlAnalysis *analysis, const char *properties)
{
  g_autofree char *launch = g_strdup_printf ("sloverlay %s", properties);
  g_autoptr (GstBuffer) out = test_line_run (launch, CAPS, CAPS, gray_frame (analysis));
  guint8 *pixels = g_malloc (STRIDE * HEIGHT);
  g_assert_cmpuint (gst_buffer_extract (out, 0, pixels, STRIDE * HEIGHT), ==, STRIDE * HEIGHT);
  return pixels;
}

static guint32
at (const guint8 *pixels, guint x, guint y)
{
  const guint8 *pixel = pixels + y * STRIDE + x * 3;
  return (guint32) pixel[0] << 16 | (guint32) pixel[1] << 8 | pixel[2];
}

static void
test_regions (void)
{
  SlRegionView regions[] = { { SL_REGION_ZONE, "door", 4, 0, square },
                             { SL_REGION_LINE, "way", 2, 0, upright } };
  const SlAnalysis analysis = { .n_regions = 2, .regions = regions };
  g_autofree guint8 *plain = draw (&analysis, "labels=false thickness=3");
  for (guint x = 20; x < 60; x++) {
    g_assert_cmphex (at (plain, x, 30), ==, QUIET);
    g_assert_cmphex (at (plain, x, 90), ==, QUIET);
    g_assert_cmphex (at (plain, x, 60), ==, GRAY);
  }
  for (guint y = 35; y < 85; y++) {
    g_assert_cmphex (at (plain, 16, y), ==, QUIET);
    g_assert_cmphex (at (plain, 64, y), ==, QUIET);
  }
  for (guint y = 15; y < 105; y++)
    g_assert_cmphex (at (plain, 120, y), ==, QUIET);
  g_assert_cmphex (at (plain, 120, 6), ==, GRAY);
  /* Upwards, its right is the right of the picture: there is the arrow, 8 thicknesses long. */
  g_assert_cmphex (at (plain, 140, 60), ==, QUIET);
  g_assert_cmphex (at (plain, 150, 60), ==, GRAY);
  g_assert_cmphex (at (plain, 100, 60), ==, GRAY);
  regions[0].inside = 1;
  g_autofree guint8 *busy = draw (&analysis, "labels=false thickness=3");
  g_assert_cmphex (at (busy, 30, 30), ==, BUSY);
  g_assert_cmphex (at (busy, 120, 60), ==, QUIET);
}

/* A line where something happened in this frame; names are written where labels are. */
static void
test_events_and_names (void)
{
  const SlRegionView regions[] = { { SL_REGION_LINE, "way", 2, 0, upright, .entered = 12 } };
  const SlAnalysisEvent event = { SL_EVENT_IN, 0, 7, "person", -1 };
  const SlAnalysis analysis = {
    .n_regions = 1, .n_events = 1, .regions = regions, .events = &event
  };
  g_autofree guint8 *bare = draw (&analysis, "labels=false"), *named = draw (&analysis, "");
  guint changed = 0;
  g_assert_cmphex (at (bare, 120, 40), ==, BUSY);
  for (guint i = 0; i < STRIDE * HEIGHT; i += 3)
    changed += memcmp (bare + i, named + i, 3) != 0;
  g_assert_cmpuint (changed, >, 100);
}

static void
test_heat (void)
{
  static const guint8 cells[] = { 0, 85, 170, 255 };
  const SlAnalysis analysis = { .heat = { 2, 2, cells, 5 } };
  g_autofree guint8 *pixels = draw (&analysis, "mask-opacity=1");
  g_assert_cmphex (at (pixels, 40, 30), ==, GRAY);
  const guint32 green = at (pixels, 120, 30), yellow = at (pixels, 40, 90),
                red = at (pixels, 120, 90);
  g_assert_cmpuint (red >> 16 & 0xff, ==, 0xff);
  g_assert_cmpuint (red & 0xffff, <, 0x0800);
  g_assert_cmpuint (green >> 8 & 0xff, >, green >> 16 & 0xff);
  g_assert_cmpuint (yellow >> 16 & 0xff, >, 0xc0);
  g_assert_cmpuint (yellow >> 8 & 0xff, >, 0xc0);
  g_autofree guint8 *off = draw (&analysis, "heat-map=false");
  g_assert_cmphex (at (off, 120, 90), ==, GRAY);
}

/* Nothing wanted, and nothing there: the picture stays as it is. */
static void
test_nothing (void)
{
  const SlRegionView regions[] = { { SL_REGION_ZONE, "door", 4, 0, square },
                                   { SL_REGION_ZONE, "no points" } };
  const SlAnalysis analysis = { .n_regions = 2, .regions = regions }, empty = { 0 };
  const SlAnalysis *const all[] = { &analysis, &empty, NULL };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    g_autofree guint8 *pixels = draw (all[i], i == 0 ? "regions=false" : "");
    for (guint k = 0; k < STRIDE * HEIGHT; k++)
      g_assert_cmpuint (pixels[k], ==, 0x80);
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ());
  g_test_add_func ("/sloverlay-regions/regions", test_regions);
  g_test_add_func ("/sloverlay-regions/events-and-names", test_events_and_names);
  g_test_add_func ("/sloverlay-regions/heat", test_heat);
  g_test_add_func ("/sloverlay-regions/nothing", test_nothing);
  return test_elements_run ();
}
