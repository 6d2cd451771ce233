/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Embeddings of classes that somebody made before, in a file of NumPy. */
#pragma once

#include <glib.h>

/** sl_class_embeddings_load: (transfer full): the rows of the .npy file @path, [classes,length] of
 * float32 or float16, as floats. NULL with @error set for another file, and for a row that is not
 * finite or all 0. */
gfloat *sl_class_embeddings_load (const char *path, guint *n, guint *length, GError **error);
