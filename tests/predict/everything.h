/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predictions with something of everything. */
#ifndef SL_TESTS_PREDICT_EVERYTHING_H
#define SL_TESTS_PREDICT_EVERYTHING_H

#include "predict/predictions_private.h"
#include "sightline/sightline.h"
#include "tests/support/testdata.h"

#include <string.h>

/* A prediction with everything, whose memory is overwritten before it returns. */
static SlPredictions *
everything (void)
{
  static const char *const names[] = { "nose", NULL };
  static const guint8 bones[][2] = { { 0, 1 } };
  char label[] = "cat", whole[] = "indoor", sky[] = "sky", source[] = "camera 1";
  SlPoint points[] = { { 0.25, 0.5, 0.9 }, { 0.5, -0.125, 0.1 } };
  char breed[] = "tabby", model[] = "breeds.tflite";
  guint8 outline[] = { 0, 255, 130, 7 };
  SlLabelled details[] = { { 5, 0.625, breed, model } };
  char symbology[] = "qr-code", text[] = "hello", add_on[] = "52495";
  guint8 bytes[] = "hello";
  SlCodeView code = {
    symbology, text, bytes, 5, TRUE, 1, { { 0, 0 }, { 1, 0 }, { 1, 1.5 }, { 0, 1 } }, add_on
  };
  SlObjectView objects[] = {
    { 10, 20, 30, 40, 0.1, 0.2, 0.4, 0.6, 0.75, 17, label, 2, points, .object_id = 12,
      .tracked_since = 99, .mask = { 2, 2, outline }, .n_labels = 1, .labels = details,
      .code = &code },
    { 0, 0, 100, 100, 0, 0, 1, 1, 0.5, -1, "unknown", 0, NULL, .parent = 1 },
  };
  SlLabelled labels[] = { { 3, 0.875, whole, NULL } };
  guint8 cells[] = { 0, 1, 1, 255, 1, 0 };
  SlMaskClass classes[] = { { 1, sky, 0.5 }, { 0, "background", 1.0 / 3 } };
  char yaw[] = "yaw", degrees[] = "degrees";
  gfloat numbers[] = { -12.5f };
  const char *number_names[] = { yaw }, *number_units[] = { degrees };
  SlLatency latency = { 100, 20, 60, 5 };
  SlSkeleton skeleton = { 2, 1, names, bones };
  SlPredictionView prediction = { .source = source,
                                  .frame = 7,
                                  .timestamp = 40000000,
                                  .width = 100,
                                  .height = 100,
                                  .n_objects = 2,
                                  .objects = objects,
                                  .n_labels = 1,
                                  .labels = labels,
                                  .skeleton = &skeleton,
                                  .mask = { 3, 2, cells },
                                  .n_mask_classes = 2,
                                  .mask_classes = classes,
                                  .vector = { 1, numbers, FALSE, number_names, number_units },
                                  .latency = &latency,
                                  .worker = "w1" };
  SlPredictions *predictions = sl_predictions_new (&prediction);
  memset (label, 'x', sizeof label - 1);
  memset (whole, 'x', sizeof whole - 1);
  memset (sky, 'x', sizeof sky - 1);
  memset (source, 'x', sizeof source - 1);
  memset (outline, 1, sizeof outline);
  memset (breed, 'x', sizeof breed - 1);
  memset (model, 'x', sizeof model - 1);
  memset (details, 0, sizeof details);
  memset (symbology, 'x', sizeof symbology - 1);
  memset (text, 'x', sizeof text - 1);
  memset (bytes, 'x', sizeof bytes - 1);
  memset (&code, 0, sizeof code);
  memset (points, 0, sizeof points);
  memset (objects, 0, sizeof objects);
  memset (labels, 0, sizeof labels);
  memset (cells, 9, sizeof cells);
  memset (classes, 0, sizeof classes);
  memset (yaw, 'x', sizeof yaw - 1);
  memset (degrees, 'x', sizeof degrees - 1);
  memset (numbers, 0, sizeof numbers);
  memset (number_names, 0, sizeof number_names);
  memset (number_units, 0, sizeof number_units);
  memset (&latency, 0, sizeof latency);
  memset (&skeleton, 0, sizeof skeleton);
  return predictions;
}

#endif
