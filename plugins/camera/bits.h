/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads bits of the first bytes of a NAL unit, without its emulation prevention bytes. */
#pragma once

#include <glib.h>

/** As much as is looked at: a recovery point lies among the first SEI messages, and what is read of
 * parameter sets in front. */
#define SL_BITS_BYTES 512

/** SlBits: beyond the end there are zeros. */
typedef struct
{
  guint8 bytes[SL_BITS_BYTES];
  gsize n, at; /* bytes; the next bit */
} SlBits;

void sl_bits_init (SlBits *bits, const guint8 *bytes, gsize n);
/** sl_bits_read: the next @n bits, 32 at most. */
guint sl_bits_read (SlBits *bits, guint n);
/** sl_bits_read_ue: an Exp-Golomb code; G_MAXUINT for more than 31 bits. */
guint sl_bits_read_ue (SlBits *bits);
