/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sltrack behind elements that look at every third frame only, joined in the ways there are: the
 * same ids on the same frames whether the elements stand alone or in slpredict, and ids for what
 * comes later. The model makes its boxes of the frame's own pixels.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/decoder_memory.h"
#include "sightline/predictions.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

#define SIZE 256
#define CAPS "video/x-raw,format=RGB,width=256,height=256,framerate=25/1"
#define FRAME (40 * GST_MSECOND)
#define N_FRAMES 40
/* Frame in which the second object comes. */
#define SECOND_FROM 10
/* Frame from which on there is nothing any more, one that every third frame is. */
#define NOTHING_FROM 36

/* Four squares of one colour each, which say where the two objects are: one from the start, one
 * from SECOND_FROM on, both up to NOTHING_FROM. */
static GstBuffer *
frame_at (guint i)
{
  const guint8 x = (guint8) (20 + 3 * i), y = (guint8) (200 - 2 * i),
               sure = i < SECOND_FROM || i >= NOTHING_FROM ? 0 : 230;
  const guint8 colours[2][6] = { { x, 30, (guint8) (x + 60), 110, i < NOTHING_FROM ? 230 : 0, 0 },
                                 { 120, y, 180, (guint8) (y + 50), sure, 0 } };
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, SIZE * SIZE * 3, NULL);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (guint row = 0; row < SIZE; row++)
    for (guint column = 0; column < SIZE; column++)
      memcpy (map.data + (row * SIZE + column) * 3,
              colours[row / (SIZE / 2)] + column / (SIZE / 2) * 3, 3);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = i * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  return buffer;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* (transfer full): the objects of a frame, "id x y w h" each, in the order of ids, with "?" behind
 * those that were only expected. */
static char *
describe (GstBuffer *buffer)
{
  gpointer state = NULL;
  GstMeta *meta;
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))
         != NULL) {
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
    const GstStructure *object_id =
      gst_video_region_of_interest_meta_get_param (region, "object_id");
    const GstStructure *detection =
      gst_video_region_of_interest_meta_get_param (region, "detection");
    gint id = 0;
    gboolean predicted = FALSE;
    if (detection == NULL)
      continue; /* names the whole picture */
    if (object_id != NULL)
      gst_structure_get_int (object_id, "id", &id);
    gst_structure_get_boolean (detection, "predicted", &predicted);
    g_ptr_array_add (words, g_strdup_printf ("%d %u %u %u %u%s", id, region->x, region->y,
                                             region->w, region->h, predicted ? "?" : ""));
  }
  g_ptr_array_sort (words, compare);
  g_ptr_array_add (words, NULL);
  return g_strjoinv (", ", (char **) words->pdata);
}

static gboolean
has_id (const char *description, gint id)
{
  g_autofree char *first = g_strdup_printf ("%d ", id), *later = g_strdup_printf (", %d ", id);
  return g_str_has_prefix (description, first) || strstr (description, later) != NULL;
}

static void
note_frame (GstElement *element, SlPredictions *predictions, gpointer frames)
{
  const guint64 number = sl_predictions_get_frame_number (predictions);
  g_array_append_val (frames, number);
}

static char *
replaced (const char *text, const char *word, const char *by)
{
  g_auto (GStrv) parts = g_strsplit (text, word, -1);
  return g_strjoinv (by, parts);
}

typedef struct
{
  char *boxes, *labels;
} Models;

/* (transfer full): what @launch makes of each frame. @numbers: gets the frame numbers in
 * "predictions" of its element "t", if it has one */
static GPtrArray *
run (const char *launch, const Models *models, GArray *numbers)
{
  g_autofree char *with_boxes = replaced (launch, "BOXES", models->boxes),
                  *line = replaced (with_boxes, "LABELS", models->labels);
  GPtrArray *described = g_ptr_array_new_with_free_func (g_free);
  g_test_message ("%s", line);
  TestLine fixture = test_line_open (line, CAPS, CAPS);
  g_autoptr (GstElement) last = gst_bin_get_by_name (GST_BIN (fixture.harness->element), "t");
  if (last != NULL)
    g_signal_connect (last, "predictions", G_CALLBACK (note_frame), numbers);
  for (guint i = 0; i < N_FRAMES; i++) {
    g_assert_cmpint (gst_harness_push (fixture.harness, frame_at (i)), ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_assert_cmpuint (GST_BUFFER_PTS (out), ==, i * FRAME);
    g_ptr_array_add (described, describe (out));
  }
  test_assert_no_error (fixture.bus);
  test_line_close (fixture.harness, fixture.bus);
  return described;
}

#define ELEMENTS \
  "slnormalize inference-interval=3 ! slinfer model=BOXES " TEST_BOXES_DECODER " ! slpostprocess "
#define PREDICT(interval) \
  "slpredict inference-interval=" interval " model=BOXES " TEST_BOXES_DECODER " "
typedef struct
{
  const char *name;
  const char *launch[2]; /* must say the same */
  gboolean every;        /* whether objects are on every frame, not on every third */
} Case;

static const Case cases[] = {
  { "plain",
    { ELEMENTS "threshold=0.1 ! sltrack name=t", PREDICT ("3") "threshold=0.1 ! sltrack name=t" } },
  { "interpolate",
    { ELEMENTS "threshold=0.1 ! sltrack interpolate=true name=t",
      PREDICT ("3") "threshold=0.1 ! sltrack interpolate=true name=t" },
    TRUE },
  { "track", { ELEMENTS "threshold=0.1 ! sltrack", PREDICT ("3") "track=true" } },
  { "track-elements", { PREDICT ("3") "threshold=0.1 ! sltrack", ELEMENTS "track=true" } },
  /* A model that names the picture has not looked for objects. */
  { "behind-labels",
    { PREDICT ("3") "! sltrack interpolate=true",
      "slpredict model=LABELS ! " PREDICT ("3") "! sltrack interpolate=true" },
    TRUE },
  { "before-labels",
    { PREDICT ("3") "! sltrack interpolate=true",
      PREDICT ("3") "! slpredict model=LABELS ! sltrack interpolate=true" },
    TRUE },
  /* An element that skips frames leaves the results of one that does not. */
  { "skipping-labels",
    { PREDICT ("1") "! sltrack interpolate=true",
      PREDICT ("1") "! slpredict model=LABELS inference-interval=5 ! sltrack interpolate=true" },
    TRUE },
  /* An element that skips the objects of a frame leaves the results of their detector. */
  { "objects",
    { PREDICT ("1") "! sltrack interpolate=true",
      PREDICT ("1") "! slpredict model=LABELS object-class=nothing inference-interval=4 ! sltrack "
                    "interpolate=true" },
    TRUE },
};

static void
test_same (gconstpointer data)
{
  const Case *row = data;
  Models models = { test_boxes_model (), test_colour_model (SL_DTYPE_U8) };
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (guint64)),
                     others = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GPtrArray) first = run (row->launch[0], &models, numbers),
                        second = run (row->launch[1], &models, others);
  for (guint i = 0; i < N_FRAMES; i++) {
    const char *said = g_ptr_array_index (first, i);
    g_assert_cmpstr (g_ptr_array_index (second, i), ==, said);
    g_test_message ("%u: %s", i, said);
    const gboolean there = (i % 3 == 0 || row->every) && i < NOTHING_FROM;
    g_assert_cmpint (has_id (said, 1), ==, there);
    if (i > SECOND_FROM + 6)
      g_assert_cmpint (has_id (said, 2), ==, there);
    if (!row->every || i % 3 == 0)
      g_assert_null (strchr (said, '?'));
  }
  g_assert_cmpuint (numbers->len, ==, others->len);
  for (guint i = 0; i < numbers->len; i++) {
    g_assert_cmpuint (g_array_index (numbers, guint64, i), ==, row->every ? i : 3 * i);
    g_assert_cmpuint (g_array_index (others, guint64, i), ==, row->every ? i : 3 * i);
  }
  test_remove_file (models.boxes);
  test_remove_file (models.labels);
  g_free (models.boxes);
  g_free (models.labels);
}

/* JSON has the frames' own numbers, and the same ids. */
static void
test_lines (void)
{
  static const char *const launches[] = { ELEMENTS "track=true", PREDICT ("3") "track=true" };
  g_autofree char *model = test_boxes_model ();
  for (guint l = 0; l < G_N_ELEMENTS (launches); l++) {
    g_autofree char *launch = replaced (launches[l], "BOXES", model);
    TestLine fixture = test_line_open (launch, "application/x-json", CAPS);
    for (guint i = 0; i < N_FRAMES; i++)
      g_assert_cmpint (gst_harness_push (fixture.harness, frame_at (i)), ==, GST_FLOW_OK);
    for (guint i = 0; i < NOTHING_FROM; i += 3) {
      g_autofree char *line = test_take_text (gst_harness_pull (fixture.harness));
      g_autofree char *start = g_strdup_printf ("{\"source\":null,\"frame\":%u,", i);
      g_assert_true (g_str_has_prefix (line, start));
      g_assert_nonnull (strstr (line, "\"id\":1,"));
      g_assert_cmpint (strstr (line, "\"id\":2,") != NULL, ==, i > SECOND_FROM + 3);
    }
    test_line_close (fixture.harness, fixture.bus);
  }
  test_remove_file (model);
}

#define CLIP_CAPS \
  "video/x-raw,format=I420,width=320,height=320,framerate=30/1,pixel-aspect-ratio=1/1"

static void
set_up_decoder (GstBin *bin, GstBin *sub, GstElement *element, gpointer data)
{
  sl_decoder_use_own_memory (element);
}

/* (transfer full): the first 150 frames of @clip: decoded once, because decoders with threads are
 * not the same each time. */
static GPtrArray *
decode (const char *clip)
{
  g_autofree char *line = g_strdup_printf (
    "filesrc location=%s ! decodebin ! videoconvert ! videoscale add-borders=false ! videorate "
    "! " CLIP_CAPS " ! appsink name=out sync=false",
    clip);
  GPtrArray *frames = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  g_autoptr (GstElement) out = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  g_signal_connect (pipeline, "deep-element-added", G_CALLBACK (set_up_decoder), NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (frames->len < 150) {
    GstSample *sample = NULL;
    g_signal_emit_by_name (out, "pull-sample", &sample);
    g_assert_nonnull (sample);
    g_ptr_array_add (frames, gst_buffer_copy_deep (gst_sample_get_buffer (sample)));
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return frames;
}

/* (transfer full): what @launch says of each of @frames. */
static char *
follow (GPtrArray *frames, const char *launch, guint *n_ids)
{
  g_autoptr (GHashTable) ids = g_hash_table_new (NULL, NULL);
  GString *said = g_string_new (NULL);
  TestLine fixture = test_line_open (launch, CLIP_CAPS, CLIP_CAPS);
  for (guint i = 0; i < frames->len; i++) {
    g_assert_cmpint (
      gst_harness_push (fixture.harness, gst_buffer_copy (g_ptr_array_index (frames, i))), ==,
      GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (fixture.harness);
    g_autofree char *description = describe (out);
    g_auto (GStrv) objects = g_strsplit (description, ", ", -1);
    for (guint o = 0; objects[o] != NULL; o++) {
      g_string_append_printf (said, "%u: %s\n", i, objects[o]);
      if (atoi (objects[o]) > 0)
        g_hash_table_add (ids, GINT_TO_POINTER (atoi (objects[o])));
    }
  }
  *n_ids = g_hash_table_size (ids);
  test_line_close (fixture.harness, fixture.bus);
  return g_string_free (said, FALSE);
}

/* A real model on a street, on which objects come and go. */
static void
test_clip (void)
{
  g_autofree char *clip = sl_test_data ("images/video1.mp4"),
                  *model = clip != NULL ? sl_test_data ("models/ssd_mobilenet_v1.tflite") : NULL;
  guint n, n_together, n_inside;
  if (model == NULL)
    return;
  g_autofree char *alone = g_strdup_printf (
    "slnormalize inference-interval=3 ! slinfer model=%s ! slpostprocess threshold=0.1 ! sltrack",
    model);
  g_autofree char *together =
    g_strdup_printf ("slpredict inference-interval=3 model=%s threshold=0.1 ! sltrack", model);
  g_autofree char *inside =
    g_strdup_printf ("slpredict inference-interval=3 model=%s track=true threshold=0.5", model);
  g_autoptr (GPtrArray) frames = decode (clip);
  g_autofree char *expected = follow (frames, alone, &n),
                  *said = follow (frames, together, &n_together),
                  *said_inside = follow (frames, inside, &n_inside);
  g_test_message ("%u ids", n);
  g_assert_cmpuint (n, >, 1);
  g_assert_cmpstr (said, ==, expected);
  g_assert_cmpstr (said_inside, ==, expected);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/sltrack/interval", cases, test_same);
  g_test_add_func ("/sltrack/interval/lines", test_lines);
  g_test_add_func ("/sltrack/interval/clip", test_clip);
  return test_elements_run ();
}
