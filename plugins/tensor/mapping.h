/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading tensors out of a buffer that anyone may have made: sizes checked first, memory used in
 * place where it is aligned and padded as needed, copied once where it is not. Used by slinfer and
 * slpostprocess, one thread at a time.
 */
#pragma once

#include <gst/gst.h>

#include "models/contract.h"

typedef enum
{
  SL_TENSOR_MAPPING_OK,
  SL_TENSOR_MAPPING_BAD_SIZE,   /* the buffer does not hold exactly these tensors */
  SL_TENSOR_MAPPING_UNREADABLE, /* a memory refused to be mapped */
  SL_TENSOR_MAPPING_NO_MEMORY
} SlTensorMappingStatus;

/**
 * SlTensorMapping:
 * @bytes, @align: size and element size of each tensor
 * @padding: bytes that must be readable behind each
 * @data: valid from sl_tensor_mapping_read() to sl_tensor_mapping_done()
 * @scratch: copies of tensors that could not be used in place; made when first needed, then kept
 * @mapped: memories to unmap
 */
typedef struct
{
  guint n;
  gsize bytes[SL_MAX_IO];
  gsize align[SL_MAX_IO];
  gsize padding;
  const void *data[SL_MAX_IO];
  void *scratch[SL_MAX_IO];
  GstMemory *mapped[SL_MAX_IO];
  GstMapInfo info[SL_MAX_IO];
} SlTensorMapping;

void sl_tensor_mapping_init (SlTensorMapping *mapping, const SlTensorInfo *tensors, guint n,
                             gsize padding);
/** sl_tensor_mapping_clear: also for a zeroed mapping. */
void sl_tensor_mapping_clear (SlTensorMapping *mapping);
/** sl_tensor_mapping_read: @buffer (transfer none) must stay until sl_tensor_mapping_done(), which
 * is only needed after SL_TENSOR_MAPPING_OK. Tensors are one GstMemory each, or lie one behind the
 * other however the memories are cut. */
SlTensorMappingStatus sl_tensor_mapping_read (SlTensorMapping *mapping, GstBuffer *buffer);
void sl_tensor_mapping_done (SlTensorMapping *mapping);
/** sl_tensor_mapping_complaint: (transfer full): the sentence for @status, with expected and got
 * bytes. */
char *sl_tensor_mapping_complaint (const SlTensorMapping *mapping, GstBuffer *buffer,
                                   SlTensorMappingStatus status);
