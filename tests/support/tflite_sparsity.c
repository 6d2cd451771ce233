/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/tflite_sparsity.h"

#include <string.h>

/* A union: a table with a vector of numbers of 4, 2 or 1 bytes. */
static void
build_numbers (FbWriter *fb, FbNode *level, guint field, guint8 type, const gint32 *numbers,
               guint n)
{
  const guint size = type == 1 ? 4 : type == 2 ? 2 : 1;
  guint8 bytes[16 * 4];
  for (guint i = 0; i < n; i++) {
    const guint32 value = GUINT32_TO_LE ((guint32) numbers[i]);
    memcpy (bytes + i * size, &value, size);
  }
  FbNode *table = fb_table (fb);
  fb_ref (table, 0, fb_vector (fb, bytes, n, size, size, 0));
  fb_u8 (level, field, type);
  fb_ref (level, field + 1, table);
}

FbNode *
sl_tflite_sparsity_build (FbWriter *fb, const SlTfliteSparsity *sparsity)
{
  FbNode *table = fb_table (fb), *levels = fb_refs (fb);
  for (guint i = 0; i < sparsity->n_levels; i++) {
    FbNode *level = fb_table (fb);
    fb_u8 (level, 0, sparsity->levels[i].format);
    fb_i32 (level, 1, sparsity->levels[i].size);
    if (sparsity->levels[i].format != 0) {
      build_numbers (fb, level, 2, sparsity->levels[i].type, sparsity->levels[i].segments,
                     sparsity->levels[i].n_segments);
      build_numbers (fb, level, 4, sparsity->levels[i].type, sparsity->levels[i].places,
                     sparsity->levels[i].n_places);
    }
    fb_push (levels, level);
  }
  fb_ref (table, 0, fb_vector (fb, sparsity->order, sparsity->n_levels, 4, 4, 0));
  if (sparsity->n_blocks > 0)
    fb_ref (table, 1, fb_vector (fb, sparsity->blocks, sparsity->n_blocks, 4, 4, 0));
  fb_ref (table, 2, levels);
  return table;
}
