/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tensor slnormalize makes: decided from the model's contract, the negotiated tensor and the
 * properties, or refused with a sentence where these contradict each other.
 */
#pragma once

#include <gst/gst.h>

#include "models/contract.h"
#include "preprocess/normalize.h"

/**
 * SlNormalizeSettings: slnormalize's properties.
 * @width, @height: 0 = automatic
 * @type, @colour, @layout, @fit: choices of properties.h; @filter: an SlFilter; @direction: a
 * GstVideoOrientationMethod
 * @pad_value: -1 = automatic
 * @crop: the part of the frame to use; width or height 0 = up to the frame's edge
 * @threads: 1..64
 * @mean, @std: (nullable): "127.5" or "123.7,116.3,103.5"
 */
typedef struct
{
  gint width, height, type, colour, layout, fit, filter, pad_value, direction, threads;
  SlRect crop;
  char *mean, *std;
} SlNormalizeSettings;

/** sl_normalize_spec_propose: the tensor to negotiate when downstream leaves it open; a picture of
 * @frame_width x @frame_height, gray or not. */
void sl_normalize_spec_propose (const SlNormalizeSettings *settings, gint frame_width,
                                gint frame_height, gboolean frame_gray, SlTensorInfo *tensor);
/** sl_normalize_spec_choose: fills @spec for the @n negotiated @tensors. @contract (nullable) is
 * obeyed; FALSE with @error set when it or the properties cannot be. */
gboolean sl_normalize_spec_choose (const SlNormalizeSettings *settings, const SlContract *contract,
                                   const SlTensorInfo *tensors, guint n, SlNormalizeSpec *spec,
                                   GError **error);
