/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * NumPy's files of one array:
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#pragma once

#include <glib.h>

#include "core/graph/tensor_info.h"

/** sl_npy_parse: type and dimensions of the array of @bytes into @info, which has no name then;
 * *@offset: where its numbers begin, outermost dimension first. FALSE with SL_ERROR_FORMAT for
 * anything else: other files, arrays of other types, of another order, cut short. */
gboolean sl_npy_parse (GBytes *bytes, SlTensorInfo *info, gsize *offset, GError **error);
