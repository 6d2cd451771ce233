/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Decoders from shared objects (sightline/decoder_plugin.h), as rows of the table of decoders. A
 * shared object is code: it is loaded only when its path or name is stated. A model must not choose
 * a path: callers check the decoder that a model states with sl_decoder_plugin_is_path().
 */
#pragma once

#include "postprocess/decoder.h"

/** sl_decoder_plugin_is_path: whether @decoder, "NAME" or "NAME,PARAMETER=VALUE...", names a file
 * instead of a decoder. */
gboolean sl_decoder_plugin_is_path (const char *decoder);
/** sl_decoder_plugin_find: (transfer none) (nullable): the decoder in the file @name, when that is
 * a path. Else the decoder in NAME.so, in a folder of SIGHTLINE_DECODERS or in the system-wide
 * folder. It stays loaded. NULL without @error: no folder has such a file. Any thread. */
const SlDecoder *sl_decoder_plugin_find (const char *name, GError **error);
