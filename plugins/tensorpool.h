/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A buffer pool of tensors: one GstMemory per tensor, each aligned and followed by the padding that kernels may read
 * or write. slinfer proposes one upstream for its inputs and fills one with its outputs.
 */
#ifndef SL_PLUGINS_TENSORPOOL_H
#define SL_PLUGINS_TENSORPOOL_H

#include <gst/gst.h>

#include "models/contract.h"

G_BEGIN_DECLS

#define SL_TYPE_TENSOR_POOL (sl_tensor_pool_get_type ())
G_DECLARE_FINAL_TYPE (SlTensorPool, sl_tensor_pool, SL, TENSOR_POOL, GstBufferPool)

/** sl_tensor_pool_new: (transfer full): only sizes of @tensors are kept. Configure and activate it like any pool; the
 *  configured size must be sl_tensor_pool_size(). */
GstBufferPool *sl_tensor_pool_new (const SlTensorContract *tensors, guint n);
/** sl_tensor_pool_size: bytes of all tensors of one buffer, padding not counted. */
guint sl_tensor_pool_size (SlTensorPool *pool);
/** sl_tensor_allocation_params: alignment and padding of tensor memory, raised to what @params already ask. */
void sl_tensor_allocation_params (GstAllocationParams *params);
/** sl_tensor_pool_offer: adds a pool of @min buffers and the parameters to an ALLOCATION query that has none, and raises
 *  the parameters of one that has. */
void sl_tensor_pool_offer (GstQuery *query, const SlTensorContract *tensors, guint n, guint min);

G_END_DECLS

#endif
