/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of models/ share: expected errors, small models, loading from memory and from
 * temporary files. */
#ifndef SL_TESTS_MODELS_HELPERS_H
#define SL_TESTS_MODELS_HELPERS_H

#include <glib.h>

#include "sightline/error.h"
#include "models/model.h"
#include "models/reader.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/sanitized.h"
#include "tests/support/tflite_writer.h"

/** expect_error: *error must be set, with @code and a message that contains each of the texts; NULL
 * ends them. Clears it. */
void expect_error (GError **error, SlError code, ...) G_GNUC_NULL_TERMINATED;

/** refused_onnx: (transfer full): why the file of @writer does not load with @shapes (nullable) of
 * its inputs. The message must name the file. */
GError *refused_onnx (const SlOnnxWriter *writer, const char *shapes);
/** load_bounded: (nullable): loads @path, which must take less than a second and 64 MiB beside the
 * file. */
SlModel *load_bounded (const char *path, GError **error);
/** expect_file_refused: loading @path must fail with @code and a message that has @text, within the
 * same bounds. */
void expect_file_refused (const char *path, SlError code, const char *text);

/** picture_model: input "image" of @rank dimensions @dims -> RESHAPE -> output "flat". @scale 0 =
 * not quantised. */
SlTfliteWriter *picture_model (SlDtype dtype, guint rank, const gint32 *dims, gfloat scale,
                               gint64 zero_point);

/** read_graph: (nullable): what the TFLite reader makes of the model, not prepared. @metadata
 * (nullable). */
SlGraph *read_graph (SlTfliteWriter *writer, SlModelMetadata *metadata, GError **error);

/** resident_bytes: memory of this process that is resident. */
gsize resident_bytes (void);

/** write_temp: (transfer full): a file of that content in a new temporary directory; remove with
 * sl_tflite_remove_temp(). */
char *write_temp (const char *name, const char *content, gssize length);

/** load_with_info: (nullable): writes the model and, when not NULL, @info beside it, loads and
 * removes both. */
SlModel *load_with_info (SlTfliteWriter *writer, const char *info, const SlModelSettings *overrides,
                         GError **error);
/** load_skipping_with_info: the same with @skip_input_quantize of SlModelLoadOptions. */
SlModel *load_skipping_with_info (SlTfliteWriter *writer, const char *info,
                                  const SlModelSettings *overrides, GError **error);

#endif
