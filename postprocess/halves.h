/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors of float16 as float32, for decoders that read no others. */
#pragma once

#include "postprocess/decoder.h"

/** SlHalves: of @n tensors; NULL in @values for one that is no float16. */
typedef struct
{
  guint n;
  gsize elements[SL_MAX_IO];
  gfloat *values[SL_MAX_IO];
  const void *data[SL_MAX_IO];
} SlHalves;

/** sl_halves_new: (transfer full) (nullable): for the tensors of @config, which become float32
 * there; NULL where none is float16. */
SlHalves *sl_halves_new (SlDecoderConfig *config);
void sl_halves_free (SlHalves *halves);
/** sl_halves_read: (transfer none): the tensors at @data, those of float16 as float32; valid until
 * the next call. */
const void *const *sl_halves_read (SlHalves *halves, const void *const *data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlHalves, sl_halves_free)
