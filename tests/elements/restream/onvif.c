/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predictions as ONVIF metadata, read by GLib's parser: coordinates, classes, hostile labels. */
#include <string.h>

#include "plugins/restream/onvif.h"
#include "plugins/restream/place.h"
#include "sightline/error.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

/* What was read, one word after another. */
static void
start_element (GMarkupParseContext *context, const char *name, const char **names,
               const char **values, gpointer read, GError **error)
{
  g_string_append_printf (read, "%s ", name);
  for (guint i = 0; names[i] != NULL; i++)
    g_string_append_printf (read, "%s=%s ", names[i], values[i]);
}

static void
text (GMarkupParseContext *context, const char *bytes, gsize length, gpointer read, GError **error)
{
  if (length > 0)
    g_string_append_printf (read, "'%.*s' ", (int) length, bytes);
}

static char *
parse (const SlPredictionView *prediction)
{
  static const GMarkupParser parser = { .start_element = start_element, .text = text };
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) document = g_string_new (NULL);
  GString *read = g_string_new (NULL);
  sl_onvif_append (document, prediction, 1762000000123456);
  GMarkupParseContext *context = g_markup_parse_context_new (&parser, 0, read, NULL);
  g_assert_true (
    g_markup_parse_context_parse (context, document->str, (gssize) document->len, &error));
  g_assert_true (g_markup_parse_context_end_parse (context, &error));
  g_markup_parse_context_free (context);
  return g_string_free (read, FALSE);
}

#define STREAM "tt:MetadataStream xmlns:tt=http://www.onvif.org/ver10/schema "
#define FRAME STREAM "tt:VideoAnalytics tt:Frame UtcTime=2025-11-01T12:26:40.123Z "

static void
test_empty (void)
{
  const SlPredictionView nothing = { .width = 4, .height = 4 };
  g_autofree char *none = parse (NULL), *frame = parse (&nothing);
  g_assert_cmpstr (none, ==, STREAM);
  g_assert_cmpstr (frame, ==, FRAME);
}

/* The frame's upper left corner is -1, 1. */
static void
test_objects (void)
{
  const SlLabelled colour = { .label = "red", .confidence = 0.25 };
  const SlObjectView objects[] = {
    { .x_max = 0.5, .y_max = 0.25, .confidence = 0.75, .label = "Person", .object_id = 12 },
    { .x_min = 0.5,
      .y_min = 0.5,
      .x_max = 1,
      .y_max = 1,
      .confidence = 0.5,
      .label = "cup",
      .n_labels = 1,
      .labels = &colour },
  };
  const SlPredictionView prediction = {
    .width = 4, .height = 4, .n_objects = 2, .objects = objects
  };
  g_autofree char *read = parse (&prediction);
  g_assert_cmpstr (
    read, ==,
    FRAME "tt:Object ObjectId=12 tt:Appearance tt:Shape "
          "tt:BoundingBox left=-1.00000 top=1.00000 right=0.00000 bottom=0.50000 "
          "tt:CenterOfGravity x=-0.50000 y=0.75000 tt:Class tt:Type Likelihood=0.750 'Human' "
          "tt:Type Likelihood=0.750 'Person' "
          "tt:Object tt:Appearance tt:Shape "
          "tt:BoundingBox left=0.00000 top=0.00000 right=1.00000 bottom=-1.00000 "
          "tt:CenterOfGravity x=0.50000 y=-0.50000 tt:Class tt:Type Likelihood=0.500 'cup' "
          "tt:Type Likelihood=0.250 'red' ");
}

/* Names come from models of others, and confidences may be logits. */
static void
test_hostile (void)
{
  const SlLabelled labels[] = {
    { .label = "<b a=\"1\">&'\1\x7f\xff]]>", .confidence = 1e9 },
    { .label = "", .confidence = -1 },
  };
  const SlPredictionView prediction = { .width = 4, .height = 4, .n_labels = 2, .labels = labels };
  g_autofree char *read = parse (&prediction);
  g_assert_cmpstr (read, ==,
                   FRAME
                   "tt:Object tt:Appearance tt:Shape "
                   "tt:BoundingBox left=-1.00000 top=1.00000 right=1.00000 bottom=-1.00000 "
                   "tt:CenterOfGravity x=0.00000 y=0.00000 tt:Class tt:Type Likelihood=1.000 "
                   "'<b a=\"1\">&'\\x01\\x7f\\xff]]>' "
                   "tt:Object tt:Appearance tt:Shape "
                   "tt:BoundingBox left=-1.00000 top=1.00000 right=1.00000 bottom=-1.00000 "
                   "tt:CenterOfGravity x=0.00000 y=0.00000 tt:Class tt:Type Likelihood=0.000 ");
}

static void
test_places (void)
{
  static const struct
  {
    const char *text, *address, *path;
    guint port;
    gboolean is_open;
  } good[] = {
    { ":8554/door", "0.0.0.0", "/door", 8554, TRUE },
    { "localhost:0/a/B_1.x-y", "127.0.0.1", "/a/B_1.x-y", 0, FALSE },
    { "127.0.0.2:1/x", "127.0.0.2", "/x", 1, FALSE },
    { "[::1]:65535/x", "::1", "/x", 65535, FALSE },
    { "[::]:554/x", "::", "/x", 554, TRUE },
  };
  static const char *const addresses[] = {
    "",      "door",       ":8554",  "8554/door",  ":/door",       ":65536/x",
    ":-1/x", "::1:8554/x", "[::1/x", "host:554/x", "rtsp://x:1/y", "[127.0.0.1]:1/x"
  };
  static const char *const paths[] = { ":1/",   ":1//",   ":1/a/",       ":1/a b",     ":1/../x",
                                       ":1/.x", ":1/a?b", ":1/stream=0", ":1/\xc3\xa4" };
  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    g_auto (SlRestreamPlace) place = { 0 };
    g_assert_true (sl_restream_place_parse (&place, good[i].text, NULL));
    g_assert_cmpstr (place.address, ==, good[i].address);
    g_assert_cmpstr (place.path, ==, good[i].path);
    g_assert_cmpuint (place.port, ==, good[i].port);
    g_assert_cmpint (sl_restream_place_is_open (&place), ==, good[i].is_open);
  }
  for (guint i = 0; i < G_N_ELEMENTS (addresses) + G_N_ELEMENTS (paths); i++) {
    g_auto (SlRestreamPlace) place = { 0 };
    g_autoptr (GError) error = NULL;
    const gboolean address = i < G_N_ELEMENTS (addresses);
    const char *tried = address ? addresses[i] : paths[i - G_N_ELEMENTS (addresses)];
    const char *said =
      address
        ? ": expected ADDR:PORT/NAME with an address in numbers, such as :8554/door, "
          "127.0.0.1:8554/door or [::1]:8554/door"
        : ": expected a path of at most 128 letters, digits, '.', '_' and '-', whose parts do not "
          "begin with '.', got '";
    g_autofree char *begin = g_strconcat ("rtsp=", tried, said, NULL);
    g_test_message ("%s", tried);
    g_assert_false (sl_restream_place_parse (&place, tried, &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
    g_assert_true (g_str_has_prefix (error->message, begin));
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/restream/onvif/empty", test_empty);
  g_test_add_func ("/restream/onvif/objects", test_objects);
  g_test_add_func ("/restream/onvif/hostile", test_hostile);
  g_test_add_func ("/restream/places", test_places);
  return test_elements_run ();
}
