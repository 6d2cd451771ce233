/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* The default model: the code finder that is installed with Sightline. */
#pragma once

#include <glib.h>

/**
 * sl_default_model_find:
 *
 * What the environment variable SIGHTLINE_MODEL names, else DATADIR/sightline/models/codes.tflite
 * of the installation.
 *
 * Returns: (transfer full): path of a file that exists; NULL with SL_ERROR_OPEN when there is none,
 * the message says where it was looked for
 */
char *sl_default_model_find (GError **error);

/** Least confidences of the code finder's objects (docs/codes.md): the default; if they were read;
 * and if they were not read. */
#define SL_FINDER_THRESHOLD 0.6
#define SL_FINDER_READ_THRESHOLD 0.4
#define SL_FINDER_UNREAD_THRESHOLD 0.9

/**
 * sl_default_model_is_finder:
 * @model: (nullable): that was named
 *
 * Whether that is the code finder: no model is named, and SIGHTLINE_MODEL names no file of another
 * name.
 */
gboolean sl_default_model_is_finder (const char *model);
