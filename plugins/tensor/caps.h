/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Tensor caps:
 * "other/tensors,format=static,num_tensors=N,dimensions=3:224:224:1,types=uint8,framerate=F",
 * innermost dimension first, and the older "other/tensor,dimension=3:224:224:1,type=uint8".
 * NNStreamer negotiates both. The field "contract" holds the contract, an SlContract. Caps of other
 * projects' elements have no such field.
 */
#pragma once

#include <gst/gst.h>

#include "models/contract.h"

#define SL_TENSORS_CAPS_NAME "other/tensors"
#define SL_TENSOR_CAPS_NAME "other/tensor"
/** Pad template of every tensor pad. */
#define SL_TENSOR_TEMPLATE_CAPS                                               \
  "other/tensors, format=(string)static, num_tensors=(int)[1, " G_STRINGIFY ( \
    SL_MAX_IO) "], framerate=(fraction)[0/1, max]; "                          \
               "other/tensor, framerate=(fraction)[0/1, max]"

/** sl_contract_get_type: boxed type of SlContract, comparable and printable inside caps. */
#define SL_TYPE_CONTRACT (sl_contract_get_type ())
GType sl_contract_get_type (void);

/** sl_tensor_caps_new: caps that accept @n tensors in every spelling: tensors and, for one tensor,
 * also tensor, with trailing dimensions of 1 or without. The framerate is open. @contract
 * (nullable) is added to each structure. */
GstCaps *sl_tensor_caps_new (const SlTensorInfo *tensors, guint n, SlContract *contract);
/** sl_tensor_caps_parse: reads the tensors that the fixed @caps describe. Returns their number; 0
 * with @error set. sl_tensor_infos_clear() frees the allocated parts of @tensors. */
guint sl_tensor_caps_parse (const GstCaps *caps, SlTensorInfo tensors[SL_MAX_IO], GError **error);
/** sl_tensor_caps_contract: (transfer none) (nullable): the contract in @caps. */
SlContract *sl_tensor_caps_contract (const GstCaps *caps);
/** sl_tensor_caps_prefer: gives writable @caps of one tensor the type and the dimensions of @tensor
 * where they leave these open. */
void sl_tensor_caps_prefer (GstCaps *caps, const SlTensorInfo *tensor);
/** sl_tensors_same: whether types and shapes are equal. Outermost dimensions of 1 are ignored. */
gboolean sl_tensors_same (const SlTensorInfo *a, guint n_a, const SlTensorInfo *b, guint n_b);
/** SlCapsMap: (transfer full): the writable caps of one pad that match @one, caps of one structure
 * on the other pad. */
typedef GstCaps *(*SlCapsMap) (const GstCaps *one, gpointer data);
/** sl_caps_transform: (transfer full): calls @map for each structure of @caps, keeps the
 * structure's frame rate, and intersects the result with @filter (nullable), in the order of
 * @filter. */
GstCaps *sl_caps_transform (GstCaps *caps, GstCaps *filter, SlCapsMap map, gpointer data);
