/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GstTensorMeta, by which GStreamer's own inference elements and tensor decoders hand tensors on,
 * and tensors as other/tensors has them. Data is shared, not copied. Only where SL_HAVE_TENSOR_META
 * is defined.
 */
#pragma once

#include <gst/gst.h>

#include "models/contract.h"

typedef struct _GstTensorMeta GstTensorMeta; /* gst/analytics/gsttensormeta.h */

/** sl_tensor_meta_add: adds @n @tensors, whose bytes lie in @data (transfer full) one behind the
 * other, to @frame, which is writable, under the names @ids. @data has no reference to @frame. A
 * memory of @data can be used again when @frame is gone. FALSE, and nothing added, when its size is
 * another. */
gboolean sl_tensor_meta_add (GstBuffer *frame, GstBuffer *data, const SlTensorInfo *tensors,
                             guint n, const GQuark ids[]);
/** sl_tensor_meta_describe: what @meta holds, which anyone may have made: types and dimensions of
 * at most SL_MAX_IO tensors; returns their number, 0 with @error set. sl_tensor_infos_clear() frees
 * what it allocates. @empty: whether one has no element; the others are not described then, and the
 * number is 0 without an error. */
guint sl_tensor_meta_describe (const GstTensorMeta *meta, SlTensorInfo tensors[SL_MAX_IO],
                               gboolean *empty, GError **error);
/** sl_tensor_meta_append: appends one memory for each tensor of @meta, which
 * sl_tensor_meta_describe() has described, to @buffer. */
void sl_tensor_meta_append (const GstTensorMeta *meta, GstBuffer *buffer);
