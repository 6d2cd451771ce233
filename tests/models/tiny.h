/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small models that together use every kind of thing the reader knows; they load, prepare and run.
 */
#ifndef SL_TESTS_MODELS_TINY_H
#define SL_TESTS_MODELS_TINY_H

#include "tests/support/tflite_writer.h"

/** tiny_classifier: uint8 [1,6,6,3] -> conv, pool, fully connected, softmax -> uint8 [1,4];
 * metadata and labels in a zip. */
SlTfliteWriter *tiny_classifier (void);
/** tiny_channels: int8 [1,5,5,4] -> per-channel convolutions, pad, average pool, squeeze -> int8
 * [1,2]. */
SlTfliteWriter *tiny_channels (void);
/** tiny_float: float32 [1,4] twice -> every elementwise operator, concatenation, mean, expand ->
 * float32 [1,1,8] and [1]. */
SlTfliteWriter *tiny_float (void);
/** tiny_detector: uint8 [1,3,4] -> dequantise, TFLite_Detection_PostProcess over three anchors. */
SlTfliteWriter *tiny_detector (gint32 num_classes);

#endif
