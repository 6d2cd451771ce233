/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening a decoder for negotiated tensors. With a contract, shapes, quantisation, decoder, parameters and labels are the
 * model's; without one, only types and dimensions are known, and values count as real numbers.
 */
#include "plugins/tensordecoding.h"

#include "core/error.h"
#include "plugins/tensorcaps.h"

#include <string.h>

/* For finding out which decoder it is, whose own threshold then counts. */
#define ANY_THRESHOLD 0.5f

void
sl_tensor_decoding_clear (SlTensorDecoding *self)
{
  g_clear_pointer (&self->decoding, sl_decoding_free);
  g_clear_pointer (&self->labels, sl_labels_unref);
  sl_tensor_map_clear (&self->map);
}

static void
describe_tensors (const SlTensorContract *tensors, guint n, SlDecoderConfig *config)
{
  config->n_tensors = n;
  for (guint i = 0; i < n; i++) {
    config->tensors[i].dtype = tensors[i].dtype;
    config->tensors[i].rank = tensors[i].rank;
    memcpy (config->tensors[i].dims, tensors[i].dims, sizeof tensors[i].dims);
    config->tensors[i].scale = tensors[i].scale;
    config->tensors[i].zero_point = tensors[i].zero_point;
  }
}

static gboolean
check_outputs (const SlContract *contract, const SlTensorContract *tensors, guint n, GError **error)
{
  if (sl_tensors_same (contract->outputs, contract->n_outputs, tensors, n))
    return TRUE;
  g_autofree char *expected = sl_tensors_describe (contract->outputs, contract->n_outputs);
  g_autofree char *got = sl_tensors_describe (tensors, n);
  g_set_error (error, SL_ERROR, SL_ERROR_SHAPE,
               "slpostprocess: the model %s gives %s, but the caps say %s: link slpostprocess right behind slinfer", contract->model,
               expected, got);
  return FALSE;
}

static gboolean
check_labels (const SlTensorDecoding *self, const SlContract *contract, GError **error)
{
  guint classes = sl_decoding_classes (self->decoding);
  if (self->labels == NULL || classes == 0)
    return TRUE;
  if (contract != NULL && self->labels == contract->labels)
    return sl_contract_check_labels (contract, classes, error);
  if (sl_labels_count (self->labels) >= classes)
    return TRUE;
  g_set_error (error, SL_ERROR, SL_ERROR_LABELS,
               "%s: expected at least %u class names, one for each class of the tensor, got %u: give the labels "
               "file that belongs to the model",
               sl_labels_origin (self->labels), classes, sl_labels_count (self->labels));
  return FALSE;
}

static SlDecoding *
open_decoder (const char *name, SlDecoderConfig *config, gdouble threshold, GError **error)
{
  config->threshold = threshold < 0 ? ANY_THRESHOLD : (gfloat) threshold;
  SlDecoding *decoding = sl_decoding_new (name, config, error);
  if (decoding == NULL || threshold >= 0 || sl_decoding_decoder (decoding)->threshold == config->threshold)
    return decoding;
  config->threshold = sl_decoding_decoder (decoding)->threshold;
  sl_decoding_free (decoding);
  return sl_decoding_new (name, config, error);
}

static gboolean
open_tensors (SlTensorDecoding *self, SlContract *contract, const SlTensorContract *tensors, guint n, const SlDecodingSettings *settings,
              GError **error)
{
  SlDecoderConfig config = { .max_results = (guint) settings->max_results, .iou_threshold = (gfloat) MAX (settings->iou_threshold, 0) };
  const char *decoder = settings->decoder;
  if (contract != NULL) {
    if (!check_outputs (contract, tensors, n, error))
      return FALSE;
    tensors = contract->outputs;
    config.params = contract->decoder_params;
    config.input_width = contract->image.valid ? contract->image.width : 0;
    config.input_height = contract->image.valid ? contract->image.height : 0;
    decoder = decoder != NULL ? decoder : contract->decoder;
  }
  if (settings->labels != NULL) {
    self->labels = sl_labels_load (settings->labels, error);
    if (self->labels == NULL)
      return FALSE;
  } else if (contract != NULL && contract->labels != NULL) {
    self->labels = sl_labels_ref (contract->labels);
  }
  describe_tensors (tensors, n, &config);
  config.n_labels = self->labels != NULL ? sl_labels_count (self->labels) : 0;
  self->decoding = open_decoder (decoder, &config, settings->threshold, error);
  if (self->decoding == NULL || !check_labels (self, contract, error))
    return FALSE;
  gboolean picture = contract != NULL && contract->image.valid;
  self->tensor_width = picture ? contract->image.width : 1;
  self->tensor_height = picture ? contract->image.height : 1;
  sl_tensor_map_init (&self->map, tensors, n, 0);
  return TRUE;
}

gboolean
sl_tensor_decoding_open (SlTensorDecoding *self, const GstCaps *caps, const SlDecodingSettings *settings, GError **error)
{
  SlTensorContract tensors[SL_MAX_IO];
  sl_tensor_decoding_clear (self);
  guint n = sl_tensor_caps_parse (caps, tensors, error);
  if (n == 0)
    return FALSE;
  gboolean opened = open_tensors (self, sl_tensor_caps_contract (caps), tensors, n, settings, error);
  sl_tensor_contracts_clear (tensors, n);
  if (!opened)
    sl_tensor_decoding_clear (self);
  return opened;
}
