/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints predictions as JSON, one line each, with everything that one can hold: for the schema's
 * test. */
#include <math.h>
#include <stdio.h>

#include "postprocess/predictions/prediction.h"

static const SlPoint points[] = { { 0.25, 0.5, 0.9 }, { -0.125, 1.5, 0 } };
static const guint8 shares[] = { 200, 0, 127, 128, 255, 0 };
static const SlObjectView objects[] = {
  { 10, 20, 30, 40, 0.0123457, 0.1, 0.5, 1, 0.83, 0, "person", 2, points, 7, 0, { 3, 2, shares } },
  { 0, 0, 1, 1, 0, 0, 1e-7, 0.333333333, NAN, -1, "traffic \"light\"\\ \xff", 0, NULL },
};
static const guint8 bytes[] = { 'a', 0, 0xff };
static const SlCodeView read_codes[] = {
  { "qr-code",
    "two\nlines \x1b[1m",
    (const guint8 *) "two\nlines \x1b[1m",
    14,
    TRUE,
    1,
    { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, NAN } } },
  { "code \"39\" \xff", NULL, bytes, 3, FALSE, 7, { { 0, 0 } } },
};
static const SlTextView read_texts[] = {
  { "A0", 0.5, 3, "old", 2, { { 'A', 0, 0.25f }, { '0', 'O', 0.75f } } },
  { "\xe4\xba\xac", NAN, 1, NULL, 1, { { 0x4eac, 0, NAN } } },
};
static const SlObjectView read_objects[] = {
  { 10, 20, 30, 40, 0.25, 0.1, 0.5, 1, 0.83, 0, "plate", .text = &read_texts[0] },
  { 10, 20, 30, 40, 0.25, 0.1, 0.5, 1, 0.83, 0, "plate", .text = &read_texts[1] },
  { 10, 20, 30, 40, 0.25, 0.1, 0.5, 1, 0.83, 0, "qr", .code = &read_codes[0] },
  { 10, 20, 30, 40, 0.25, 0.1, 0.5, 1, 0.83, 2, "linear", .code = &read_codes[1] },
};
static const SlLabelled said[] = { { 1, 0.5, "smiles", "mood.tflite" }, { -1, NAN, "?", NULL } };
static const SlObjectView nested[] = {
  { 10, 20, 30, 40, 0.25, 0.1, 0.5, 1, 0.83, 0, "person" },
  { 11, 21, 3, 4, 0.3, 0.1, 0.4, 1, 0.5, 1, "face", 2, points, .n_labels = 2, .labels = said,
    .parent = 1 },
  { 11, 21, 1, 1, 0.3, 0.1, 0.4, 1, 0.5, 2, "eye", .parent = 2 },
};
static const SlLabelled labels[] = { { 653, 220 / 256.0, "military uniform" } };
static const guint8 cells[] = { 0, 0, 12, 255, 255, 12 };
static const SlMaskClass mask_classes[] = { { 0, "background", 1 / 3.0 }, { 12, "dog", 1 / 3.0 } };
static const char *const names[] = { "left_eye", "right_eye" };
static const SlSkeleton skeleton = { 2, 0, names, NULL };
static const SlLatency latency = { 21000, 900, -1, 0 };

static const SlClassCount counts[] = { { "person", 1, 3, 2 } };
static const SlRegionView regions[] = {
  { SL_REGION_ZONE, "door", .n_classes = 1, .classes = counts, .inside = 1, .entered = 3, .left = 2,
    .longest = 1.5, .mean_dwell = 2, .occupancy = { 60, 0.25, 2, 3, 2 } },
  { SL_REGION_LINE, "way \"in\"", .n_classes = 1, .classes = counts, .entered = 3, .left = 2 },
};
static const SlAnalysisEvent events[] = { { SL_EVENT_ENTERED, 0, 7, "person", -1 },
                                          { SL_EVENT_LEFT, 0, 6, "person", 2.5 },
                                          { SL_EVENT_OUT, 1, 7, "person", -1 },
                                          { SL_EVENT_EMPTY, 0, 0, NULL, 10 } };
static const SlPresence presences[] = { { 7, 0, 1.5 } };
static const SlAnalysis analyses[] = {
  { 0 },
  { .since = G_GINT64_CONSTANT (1772381045678901),
    .n_regions = 2,
    .regions = regions,
    .n_events = 4,
    .events = events,
    .n_presences = 1,
    .presences = presences,
    .heat = { 3, 2, cells, 9 },
    .interval_over = TRUE },
};

static const gfloat numbers[] = { 0.5f, NAN };
static const guint8 codes[] = { 7 };
static const SlTensorInfo infos[] = {
  { .name = (char *) "scores",
    .dtype = SL_DTYPE_F32,
    .rank = 2,
    .dims = { 1, 2 },
    .bytes = sizeof numbers },
  { .dtype = SL_DTYPE_U8, .rank = 1, .dims = { 1 }, .bytes = 1, .scale = 0.5f, .zero_point = 3 }
};
static const void *const tensors[] = { numbers, codes };

static const SlPredictionView predictions[] = {
  { .timestamp = 0, .width = 1, .height = 1, .vector = { 2, numbers, TRUE } },
  { .timestamp = 0, .width = 1, .height = 1, .outputs = { 2, infos, tensors } },
  { .timestamp = 0, .width = 1, .height = 1, .vector = { 2, numbers, FALSE, names, names } },
  { .timestamp = 0, .width = 1, .height = 1, .analysis = &analyses[0] },
  { .timestamp = 0,
    .width = 1,
    .height = 1,
    .analysis = &analyses[1],
    .latency = &latency,
    .utc = G_GINT64_CONSTANT (1772381045678901) },
  { .timestamp = G_MAXUINT64, .width = 1, .height = 1 },
  { .source = "a/b \xC3\xA9.bmp",
    .frame = 12,
    .timestamp = 400000000,
    .width = 810,
    .height = 1080,
    .n_objects = 2,
    .objects = objects,
    .n_labels = 1,
    .labels = labels,
    .skeleton = &skeleton,
    .mask = { 3, 2, cells },
    .n_mask_classes = 2,
    .mask_classes = mask_classes,
    .latency = &latency },
  { .source = "read",
    .timestamp = 0,
    .width = 99,
    .height = 99,
    .n_objects = 2,
    .objects = read_objects },
  { .source = "nested",
    .timestamp = 0,
    .width = 99,
    .height = 99,
    .n_objects = 3,
    .objects = nested },
  { .source = "x",
    .timestamp = 0,
    .width = 2,
    .height = 2,
    .n_objects = 1,
    .objects = objects,
    .latency = &latency },
};

int
main (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (predictions); i++) {
    GString *line = g_string_new (NULL);
    sl_prediction_append_json (line, &predictions[i]);
    puts (line->str);
    g_string_free (line, TRUE);
  }
  return 0;
}
