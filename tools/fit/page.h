/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A contact sheet: the pictures with what the model says of them with the best readings, as one
 * HTML file that needs no other. */
#pragma once

#include "tools/fit/finding.h"
#include "tools/predict/inputs.h"

/** sl_fit_page_write: to the file @path. @inputs: (element-type SlInput): the pictures. FALSE with
 * @error set, and without when the program was interrupted. */
gboolean sl_fit_page_write (const SlFinding *finding, const char *model,
                            const SlModelOptions *options, const GPtrArray *inputs,
                            const char *path, GError **error);
