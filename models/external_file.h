/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model file that a runtime of others runs whole: the model in it, and what a graph knows of
 * that. */
#pragma once

#include "models/model.h"

/** sl_external_file_open: (transfer full): the file of @stamp at @path in @runtime, which opens the
 * path itself with @by_path. Models of one file share it, unless files beside it are needed
 * (@has_files), which may have changed. NULL with SL_ERROR_OPEN where the file is another by now,
 * and as sl_external_model_new(). */
SlExternalModel *sl_external_file_open (const char *runtime, const char *path,
                                        const SlFileStamp *stamp, gboolean by_path,
                                        gboolean has_files, const SlModelLoadOptions *options,
                                        GError **error);
/** sl_external_file_skeleton: @graph gets what @external has at its edges; sizes that it leaves
 * open are 1 for a batch, and what @input_shape (nullable) states. */
gboolean sl_external_file_skeleton (SlExternalModel *external, const char *input_shape,
                                    SlGraph *graph, GError **error);
