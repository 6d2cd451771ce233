/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes of constants that lie in files beside the model. */
#pragma once

#include "models/lower/build.h"

/** OnnxExternal: where they lie. @constant: its name, for messages; @location: the file, from the
 * model's folder on; @length: what the model states, where @has_length */
typedef struct
{
  const char *constant, *location;
  guint64 offset, length;
  gboolean has_length;
} OnnxExternal;

/** onnx_read_external: (transfer none) (nullable): @bytes of them, the graph's; NULL with the
 * error set. */
const guint8 *onnx_read_external (Lower *o, const OnnxExternal *where, gsize bytes);
/** onnx_may_copy: counts @bytes that are copied for @constant; FALSE with the error set where
 * copies are much larger than the files. */
gboolean onnx_may_copy (Lower *o, const char *constant, guint64 bytes);
