/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files that the models of a running pipeline were made of, so that a new model at the same
 * path can be taken up.
 */
#pragma once

#include <gst/gst.h>

typedef struct _SlRunModels SlRunModels;

/** sl_run_models_new: notes the files of each slinfer of @pipeline (transfer none), which must
 * outlive it: model, key file, labels. */
SlRunModels *sl_run_models_new (GstElement *pipeline);
void sl_run_models_free (SlRunModels *models);
/** sl_run_models_reload: has each slinfer load its model again of whose files one was written to
 * since they were noted, or which were not there; they are noted anew. Returns (transfer full)
 * their paths with ", " between, "" for none. @missing: (out) (transfer full): likewise the paths
 * of those that are there no more; their models go on. */
char *sl_run_models_reload (SlRunModels *models, char **missing);
