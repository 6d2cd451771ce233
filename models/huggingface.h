/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of Hugging Face's tools beside a model: preprocessor_config.json (pixel values, size, crop,
 * order of channels) and config.json (names of classes). They lie in the model's folder, or above
 * it where exporters put the model into a folder "onnx".
 */
#pragma once

#include "models/reader.h"

#define SL_HUGGINGFACE_PREPROCESSOR "preprocessor_config.json"
#define SL_HUGGINGFACE_CONFIG "config.json"

/** sl_huggingface_find: (transfer full) (nullable): file @name that belongs to the model @path. */
char *sl_huggingface_find (const char *path, const char *name);
/**
 * sl_huggingface_read:
 * @path: of the model
 * @height, @width: pixels of the input that preprocessing ends with, 0 = not stated
 *
 * Fills normalisation, order of channels, fit and labels from the files that there are. Errors: a
 * preprocessor_config.json that is no JSON object or states what cannot be, such as a deviation of
 * 0; names of classes that are damaged.
 */
gboolean sl_huggingface_read (const char *path, SlModelMetadata *metadata, gint32 *height,
                              gint32 *width, GError **error);
