/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlVectorMeta: numbers about a video frame, an embedding or estimated values. It says nothing
 * about pixels, so a frame may be converted or scaled under it.
 */
#pragma once

#include <gst/gst.h>

#include "postprocess/result.h"

/**
 * SlVectorMeta:
 * @vector: its own copy of numbers and lists; words are interned strings
 */
typedef struct
{
  GstMeta meta;
  SlVector vector;
} SlVectorMeta;

GType sl_vector_meta_api_get_type (void);
const GstMetaInfo *sl_vector_meta_get_info (void);
/** sl_buffer_add_vector_meta: (nullable): copies @vector, which has numbers. */
SlVectorMeta *sl_buffer_add_vector_meta (GstBuffer *buffer, const SlVector *vector);
/** sl_buffer_get_vector: (transfer none) (nullable): valid as long as @buffer and its meta are */
const SlVector *sl_buffer_get_vector (GstBuffer *buffer);
