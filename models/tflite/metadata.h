/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metadata of a TFLite file: the TFLITE_METADATA buffer and the files in the appended zip. */
#pragma once

#include "models/reader.h"

/** The description file in the archive behind a model. */
#define TFL_METADATA_MEMBER "sightline.modelinfo"

/**
 * tfl_metadata_read:
 * @bytes: the whole file
 * @buffer, @size: (nullable): the TFLITE_METADATA buffer inside it
 *
 * Fills @metadata. A damaged buffer or zip is an error; what the file does not say stays zero.
 */
gboolean tfl_metadata_read (GBytes *bytes, const guint8 *buffer, gsize size,
                            SlModelMetadata *metadata, GError **error);
