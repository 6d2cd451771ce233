/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A decoder plug-in: maps [1,H,W,C] of scores, one a class, as FOMO and other finders of centre
 * points give them. Each cell whose best score reaches the threshold is an object of that cell's
 * size times the parameter "size" (1).
 *
 *   cc -shared -fPIC -O2 $(pkg-config --cflags sightline-1.0) cells_decoder.c -o cells.so
 *   sightline predict --model MODEL --decoder ./cells.so,size=2 PICTURE
 */
#include <sightline/decoder_plugin.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct
{
  const SlDecoderTensor *map;
  float size;
} Cells;

static void *
open_cells (const SlDecoderModel *model, char *message, size_t n)
{
  const SlDecoderTensor *map = &model->tensors[0];
  const char *size = model->param (model, "size");
  Cells cells = { map, size != NULL ? strtof (size, NULL) : 1 };
  if (model->n_tensors != 1 || map->rank != 4 || map->dims[0] != 1)
    return snprintf (message, n, "expected one map"), NULL;
  if (!(cells.size > 0 && cells.size <= 100))
    return snprintf (message, n, "size: expected above 0, up to 100, got '%s'", size), NULL;
  Cells *state = malloc (sizeof *state);
  return state != NULL ? memcpy (state, &cells, sizeof cells) : NULL;
}

static void
decode_cells (void *opened, const void *const *data, SlDecoderOutput *output)
{
  const Cells *cells = opened;
  const int rows = cells->map->dims[1], columns = cells->map->dims[2], n = cells->map->dims[3];
  for (int i = 0; i < rows * columns * n; i++) {
    const float score = sl_decoder_tensor_value (cells->map, data[0], (uint32_t) i);
    const float w = cells->size / (float) columns / 2, h = cells->size / (float) rows / 2;
    const float x = ((float) (i / n % columns) + 0.5f) / (float) columns;
    const float y = ((float) (i / n / columns) + 0.5f) / (float) rows;
    const SlDecoderBox box = { x - w, y - h, x + w, y + h, score, i % n };
    output->add_object (output, &box, NULL);
  }
}

const SlDecoderPlugin sightline_decoder = {
  SL_DECODER_PLUGIN_HEAD,
  .name = "cells",
  .description = "one map [1,H,W,C] of scores of centre points, one a class",
  .params = (const char *const[]){ "size", NULL },
  .threshold = 0.5f,
  .suppress = 1,
  .open = open_cells,
  .decode = decode_cells,
  .close = free
};
