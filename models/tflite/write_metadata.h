/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The writer for metadata.c: a contract as TFLite Metadata and as the description file appended to
 * the model. */
#pragma once

#include "models/contract.h"

/** tfl_metadata_write: (transfer full): the FlatBuffer of the entry TFLITE_METADATA: mean, std,
 * order of colours, the labels' file. */
GBytes *tfl_metadata_write (const SlContract *contract, guint n_outputs);
/** tfl_metadata_append: appends the archive: sightline.modelinfo, and labels.txt where there are
 * labels. */
void tfl_metadata_append (GByteArray *out, const SlContract *contract);
