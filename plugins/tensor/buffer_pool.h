/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A buffer pool of tensors: one GstMemory per tensor, each aligned and followed by the padding that
 * kernels may read or write. slinfer proposes one upstream for its inputs and fills one with its
 * outputs.
 */
#pragma once

#include <gst/gst.h>

#include "models/contract.h"

/** sl_tensor_pool_offer: adds a pool of @min buffers, and alignment and padding of tensor memory,
 * to an ALLOCATION query that has none, and raises these of one that has. Only sizes of @tensors
 * are kept. */
void sl_tensor_pool_offer (GstQuery *query, const SlTensorInfo *tensors, guint n, guint min);
/** sl_tensor_pool_replace: likewise in the place of what @query has. */
void sl_tensor_pool_replace (GstQuery *query, const SlTensorInfo *tensors, guint n, guint min);
