/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Decoders from shared objects (sightline/decoder_plugin.h) as rows of the decoders' table. A shared object is code: none is loaded unless its
 * path or its name is stated, and who opens a decoder for a model asks sl_decoder_plugin_is_path() of what the model states.
 */
#ifndef SL_POSTPROCESS_PLUGIN_H
#define SL_POSTPROCESS_PLUGIN_H

#include "postprocess/decoder.h"

G_BEGIN_DECLS

/** sl_decoder_plugin_is_path: whether @decoder, "NAME" or "NAME,PARAMETER=VALUE...", names a file instead of a decoder. */
gboolean sl_decoder_plugin_is_path (const char *decoder);
/** sl_decoder_plugin_find: (transfer none) (nullable): the decoder in the file @name, when it is a path, or in NAME.so of a folder of
 *  SIGHTLINE_DECODERS and of the one for all programs. It stays loaded. NULL without @error: no folder has that name. Any thread. */
const SlDecoder *sl_decoder_plugin_find (const char *name, GError **error);

G_END_DECLS

#endif
