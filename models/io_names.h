/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inputs and outputs of a model as users state them: by name, or by number from 0 on, in the
 * model's order; "#1" is always a number.
 */
#pragma once

#include <glib.h>

#include "core/graph/graph.h"

/** sl_io_names_find: the place of the input, or with @outputs the output, that @stated names; -1 =
 * there is none, and @error, which starts with @key, says which there are. */
gint sl_io_names_find (const SlGraph *graph, gboolean outputs, const char *stated, const char *key,
                       GError **error);
