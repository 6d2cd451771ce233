/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: bytes -> a black box, each inference of which is then read to its last byte.
 * Where the checksums of a file are wrong, they are corrected first, so that mutants get behind
 * them. Built as tflite.c says.
 */
#include <string.h>

#include "core/base/byte_order.h"
#include "core/base/xxh64.h"
#include "models/replay/black_box.h"
#include "models/replay/layout.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

static void
put64 (guint8 *at, guint64 value)
{
  value = GUINT64_TO_LE (value);
  memcpy (at, &value, sizeof value);
}

static void
correct (guint8 *data, size_t size)
{
  size_t at = SL_BLACK_BOX_HEADER;
  if (size < at)
    return;
  put64 (data + 16, size);
  put64 (data + 24, sl_xxh64 (data, 24, 0));
  while (size - at >= SL_BLACK_BOX_SECTION
         && sl_le64 (data + at + 8) <= size - at - SL_BLACK_BOX_SECTION) {
    const guint64 length = sl_le64 (data + at + 8);
    put64 (data + at + 16,
           sl_xxh64 (data + at + SL_BLACK_BOX_SECTION, length, sl_xxh64 (data + at, 16, 0)));
    at += SL_BLACK_BOX_SECTION + length;
  }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  guint8 *copy = g_memdup2 (size > 0 ? data : (const guint8 *) "", MAX (size, 1));
  correct (copy, size);
  g_autoptr (GBytes) bytes = g_bytes_new_take (copy, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlBlackBox) box = sl_black_box_new (bytes, &error);
  g_assert ((box == NULL) == (error != NULL));
  for (guint i = 0; box != NULL && i < sl_black_box_n_inferences (box); i++) {
    const SlBlackBoxInfo *info = sl_black_box_info (box);
    SlBlackBoxInference inference;
    sl_black_box_inference (box, i, &inference);
    for (guint k = 0; k < info->n_inputs; k++)
      sl_xxh64 (inference.inputs[k], info->inputs[k].bytes, 0);
    for (guint k = 0; k < info->n_outputs; k++)
      if (inference.outputs[k] != NULL)
        sl_xxh64 (inference.outputs[k], info->outputs[k].bytes, 0);
  }
  return 0;
}
