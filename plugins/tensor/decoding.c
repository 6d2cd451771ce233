/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Opening a decoder for negotiated tensors. With a contract, shapes, quantisation, decoder,
 * parameters and labels are the model's; without one, only types and dimensions are known, and
 * values count as real numbers.
 */
#include "plugins/tensor/decoding.h"

#include "core/base/fail.h"
#include "plugins/tensor/caps.h"
#include "predict/contractspec.h"

void
sl_tensor_decoding_clear (SlTensorDecoding *self)
{
  g_clear_pointer (&self->decoding, sl_decoding_free);
  g_clear_pointer (&self->labels, sl_labels_unref);
  g_clear_pointer (&self->classes, sl_class_filter_free);
  sl_tensor_mapping_clear (&self->mapping);
}

static gboolean
check_outputs (const SlContract *contract, const SlTensorInfo *tensors, guint n, GError **error)
{
  if (sl_tensors_same (contract->outputs, contract->n_outputs, tensors, n))
    return TRUE;
  g_autofree char *expected = sl_tensor_infos_describe (contract->outputs, contract->n_outputs);
  g_autofree char *got = sl_tensor_infos_describe (tensors, n);
  return sl_fail (
    error, SL_ERROR_SHAPE,
    "slpostprocess: the model %s gives %s, but the caps say %s: link slpostprocess right behind "
    "slinfer",
    contract->model, expected, got);
}

static gboolean
open_tensors (SlTensorDecoding *self, SlContract *contract, const SlTensorInfo *tensors, guint n,
              const SlDecodingSettings *settings, GError **error)
{
  if (contract != NULL && !check_outputs (contract, tensors, n, error))
    return FALSE;
  tensors = contract != NULL ? contract->outputs : tensors;
  self->decoding = sl_decoding_open (contract, tensors, n, settings, &self->labels, error);
  if (self->decoding == NULL
      || !sl_decoding_check_classes (self->decoding, self->labels,
                                     contract != NULL ? contract->model : NULL, self->classes,
                                     error))
    return FALSE;
  gboolean picture = contract != NULL && contract->image.valid;
  self->tensor_width = picture ? contract->image.width : 1;
  self->tensor_height = picture ? contract->image.height : 1;
  sl_tensor_mapping_init (&self->mapping, tensors, n, 0);
  return TRUE;
}

gboolean
sl_tensor_decoding_open (SlTensorDecoding *self, const GstCaps *caps,
                         const SlDecodingSettings *settings, const char *classes, GError **error)
{
  SlTensorInfo tensors[SL_MAX_IO];
  SlDecodingSettings all = *settings;
  sl_tensor_decoding_clear (self);
  if (!sl_class_filter_parse (classes, &self->classes, error))
    return FALSE;
  if (self->classes != NULL)
    all.max_results = SL_MAX_RESULTS;
  guint n = sl_tensor_caps_parse (caps, tensors, error);
  if (n == 0)
    return FALSE;
  gboolean opened = open_tensors (self, sl_tensor_caps_contract (caps), tensors, n, &all, error);
  sl_tensor_infos_clear (tensors, n);
  if (!opened)
    sl_tensor_decoding_clear (self);
  return opened;
}

char *
sl_tensor_decoding_doubt (SlTensorDecoding *self, const GstCaps *caps, const SlFrameMeta *meta)
{
  const SlContract *contract = sl_tensor_caps_contract (caps);
  if (self->told_fit || contract == NULL || meta == NULL || meta->frame == NULL)
    return NULL;
  self->told_fit = TRUE;
  return sl_contract_fit_doubt (contract, self->decoding, &meta->affine);
}

void
sl_tensor_decoding_ids (const GstCaps *caps, const char *ids[SL_MAX_IO])
{
  const SlDecodingSettings settings = { -1, 0, 1, NULL, NULL };
  SlTensorDecoding decoding = { 0 };
  if (sl_tensor_decoding_open (&decoding, caps, &settings, NULL, NULL))
    sl_decoding_ids (decoding.decoding, ids);
  sl_tensor_decoding_clear (&decoding);
}
