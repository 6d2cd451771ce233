/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A byte 3 after two bytes 0 is an emulation prevention byte, and is skipped. */
#include "plugins/camera/bits.h"

void
sl_bits_init (SlBits *bits, const guint8 *bytes, gsize n)
{
  guint zeros = 0;
  bits->n = bits->at = 0;
  for (gsize i = 0; i < n && bits->n < SL_BITS_BYTES; i++) {
    if (zeros >= 2 && bytes[i] == 3) {
      zeros = 0;
      continue;
    }
    zeros = bytes[i] == 0 ? zeros + 1 : 0;
    bits->bytes[bits->n++] = bytes[i];
  }
}

guint
sl_bits_read (SlBits *bits, guint n)
{
  guint value = 0;
  for (; n > 0; n--, bits->at++)
    value = value << 1
            | (bits->at / 8 < bits->n ? bits->bytes[bits->at / 8] >> (7 - bits->at % 8) & 1u : 0);
  return value;
}

guint
sl_bits_read_ue (SlBits *bits)
{
  guint zeros = 0;
  while (zeros < 32 && sl_bits_read (bits, 1) == 0)
    zeros++;
  return zeros < 32 ? (1u << zeros) - 1 + sl_bits_read (bits, zeros) : G_MAXUINT;
}
