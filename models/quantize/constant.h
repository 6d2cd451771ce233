/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of constant tensors before quantisation. */
#pragma once

#include "core/graph/graph.h"

/** sl_constant_is_within: whether all magnitudes of @tensor, constant floats, are at most @most and
 * not NaN; with FLT_MAX, finite: others cannot be quantised. */
gboolean sl_constant_is_within (const SlTensor *tensor, gfloat most);

/** sl_constant_writable: the values of constant @tensor of @graph as ones that may be changed: a
 * copy, since its own file's bytes may not. */
gfloat *sl_constant_writable (SlGraph *graph, gint32 tensor);
