/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * MODEL.modelinfo: the key file beside a model with settings that the model does not state. It has
 * the keys of GStreamer's inference elements, which read it too, and our own. A .tflite may also
 * carry one in the zip behind it.
 *
 *   [modelinfo]
 *   version=1.0                    required; or 1.1
 *   group-id=my-detector           any text
 *
 *   [serving_default_input:0]      one group a tensor, named like it
 *   dir=input                      input or output
 *   type=float32                   element type
 *   dims=1,224,224,3               -1 fits any size
 *   dims-order=row-major           row-major: last dimension changes fastest; col-major: first
 *   id=image                       any text; of an output, what GStreamer's tensor decoders look
 *                                  for
 *   ranges=-1.0,1.0                what bytes 0..255 become in the tensor; one pair, or one a
 *                                  channel with ';' between
 *
 *   [sightline]                    our keys: those of models/settings.h that a key file may state;
 *                                  also taken in the first input's group
 *   mean=127.5                     one key, for example
 *   decoder-NAME=VALUE             a parameter of the decoder
 */
#pragma once

#include <glib.h>

#include "core/graph/graph.h"
#include "models/settings.h"

typedef enum
{
  SL_INFO_ANY,
  SL_INFO_INPUT,
  SL_INFO_OUTPUT
} SlInfoDir;

/** One tensor's group; dtype SL_DTYPE_INVALID, rank 0 and n_ranges 0 = not stated. @dims are
 * outermost first, -1 = any. */
typedef struct
{
  char *name;
  char *id; /* (nullable) */
  SlInfoDir dir;
  SlDtype dtype;
  guint rank;
  gint32 dims[SL_MAX_RANK];
  guint n_ranges;
  gdouble lo[3], hi[3];
} SlInfoTensor;

/** @keys: what [sightline] states, as text, checked by those who use it; labels is absolute, or
 * relative to the working directory like the file's own path. @params: string -> string: parameters
 * of the decoder. */
typedef struct
{
  char *path;
  GArray *tensors; /* of SlInfoTensor */
  SlModelSettings keys;
  GHashTable *params;
} SlModelInfo;

/** sl_modelinfo_find_file: (transfer full) (nullable): the key file of the model file @model: its
 * path with .modelinfo behind it, else in place of its extension; NULL when there is neither. */
char *sl_modelinfo_find_file (const char *model);
/** sl_modelinfo_load: reads @path. Our keys are looked for in [sightline] and in the group @input.
 */
SlModelInfo *sl_modelinfo_load (const char *path, const char *input, GError **error);
/** sl_modelinfo_parse: the same of @bytes; @path for messages, and for what the key labels is
 * relative to. */
SlModelInfo *sl_modelinfo_parse (GBytes *bytes, const char *path, const char *input,
                                 GError **error);
/** sl_modelinfo_early_key: (transfer full) (nullable): our key @key in [sightline] of @path
 * (nullable), before anything else is known of the model; NULL when there is no such file or key.
 */
char *sl_modelinfo_early_key (const char *path, const char *key);
void sl_modelinfo_free (SlModelInfo *info);
/** sl_modelinfo_find: (nullable): the group of tensor @name. */
const SlInfoTensor *sl_modelinfo_find (const SlModelInfo *info, const char *name);
/** sl_modelinfo_check: FALSE with SL_ERROR_CONTRACT when a group names no input or output of @graph
 * or contradicts it. A group of another name that states dir, type and dims is that of the tensor
 * at the same place, else of the only one, that agrees with it, as GStreamer has it: it takes that
 * tensor's name. */
gboolean sl_modelinfo_check (SlModelInfo *info, const SlGraph *graph, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlModelInfo, sl_modelinfo_free)
