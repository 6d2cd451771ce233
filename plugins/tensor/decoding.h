/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensor caps and settings -> an open decoder with its class names: everything slpostprocess
 * decides before frames.
 */
#pragma once

#include <gst/gst.h>

#include "models/contract.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/tensor/mapping.h"
#include "postprocess/decoder.h"
#include "predict/opendecoding.h"

/**
 * SlTensorDecoding:
 * @labels: (nullable)
 * @classes: (nullable): which classes are reported
 * @tensor_width, @tensor_height: of the model's picture; 1 where nothing states it
 * @told_fit: whether sl_tensor_decoding_doubt() looked at a frame; kept when it is opened again
 */
typedef struct
{
  SlDecoding *decoding;
  SlLabels *labels;
  SlClassFilter *classes;
  SlTensorMapping mapping;
  gint tensor_width, tensor_height;
  gboolean told_fit;
} SlTensorDecoding;

/** sl_tensor_decoding_open: for fixed tensor @caps, by their contract when they carry one. @self is
 * cleared first, and stays empty when FALSE is returned with @error set. @classes: (nullable): list
 * of classes that are reported, as class_filter.h reads it; with one the decoder gives all it can,
 * since only what is left of it counts against a limit */
gboolean sl_tensor_decoding_open (SlTensorDecoding *self, const GstCaps *caps,
                                  const SlDecodingSettings *settings, const char *classes,
                                  GError **error);
/** sl_tensor_decoding_doubt: (transfer full) (nullable): for the first frame, which @meta
 * (nullable) describes: a sentence where the decoder expects pictures of another fit. */
char *sl_tensor_decoding_doubt (SlTensorDecoding *self, const GstCaps *caps,
                                const SlFrameMeta *meta);
/** sl_tensor_decoding_ids: what GStreamer's own tensor decoders call the tensors of fixed @caps, by
 * the decoder that their contract or shapes ask for; nothing in @ids where none decodes the same.
 */
void sl_tensor_decoding_ids (const GstCaps *caps, const char *ids[SL_MAX_IO]);
/** sl_tensor_decoding_clear: also for a zeroed struct. */
void sl_tensor_decoding_clear (SlTensorDecoding *self);
