/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ATTENTION whose keys and values have 8 bits, and whose queries and shares are rounded row by
 * row. */
#pragma once

#include "core/backends/int8/int8.h"

typedef struct _SlInt8Attention SlInt8Attention;

gboolean sl_int8_attention_supports (const SlNode *node);
/** sl_int8_attention_new: (transfer none): of @node, in @host's arena. */
SlInt8Attention *sl_int8_attention_new (const SlInt8Isa *isa, SlHost *host, const SlNode *node);
void sl_int8_attention_run (const SlInt8Attention *attention, SlPool *pool,
                            const void *const *inputs, gfloat *output);
