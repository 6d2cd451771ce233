/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A picture with what a model sees in it, drawn by `sightline predict --draw`: so it looks as it
 * does anywhere else.
 */
#pragma once

#include "tools/options.h"

/** sl_drawn_new: (transfer full): the first frame of the picture @path with the results of the
 * model file @model, which is read as @settings state, as JPEG in base64. @folder: for files that
 * are gone again at the end. NULL with @error set, and without when the program was interrupted. It
 * takes half a minute at most; the process that draws ends before it does. */
char *sl_drawn_new (const char *model, const SlModelSettings *settings, const char *path,
                    const char *folder, GError **error);
/** sl_drawn_new_from: the same with results from the confidence @threshold on (nullable). */
char *sl_drawn_new_from (const char *model, const SlModelSettings *settings, const char *threshold,
                         const char *path, const char *folder, GError **error);
