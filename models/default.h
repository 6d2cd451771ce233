/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the model is that is used when none is named: the code finder that is installed with Sightline.
 */
#ifndef SL_MODELS_DEFAULT_H
#define SL_MODELS_DEFAULT_H

#include <glib.h>

G_BEGIN_DECLS

/**
 * sl_default_model_find:
 *
 * What the environment variable SIGHTLINE_MODEL names, else DATADIR/sightline/models/codes.tflite of the installation.
 *
 * Returns: (transfer full): path of a file that exists; NULL with SL_ERROR_OPEN when there is none, the message says where
 *   it was looked for
 */
char *sl_default_model_find (GError **error);

G_END_DECLS

#endif
