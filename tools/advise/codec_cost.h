/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What decoding a camera's frames costs on this machine. */
#pragma once

#include <glib.h>

#include "tools/advise/plan.h"

/** sl_codec_names: (transfer none): NULL-terminated: what cameras send. */
const char *const *sl_codec_names (void);
/**
 * sl_codec_cost: encodes a drawn picture that moves into a file of @folder, decodes it by the
 * decoder that GStreamer ranks first, and counts the processor time of a frame.
 * @decoder: (out) (transfer full): its name; NULL where nothing is decoded
 *
 * Returns: FALSE with @error set where an encoder or a decoder is missing
 */
gboolean sl_codec_cost (const char *codec, const SlAdvisedCamera *camera, const char *folder,
                        gdouble *ms, char **decoder, GError **error);
