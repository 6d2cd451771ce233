/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameter sets are read as far as needed. After an invalid parameter set the frame numbers are
 * unknown, and no gap is detected. */
#include "plugins/camera/frame_number.h"

/* Of a signed code only the length counts here. */
static void
skip_codes (SlBits *bits, guint n)
{
  for (; n > 0 && bits->at / 8 < bits->n; n--)
    sl_bits_read_ue (bits);
}

/* A difference of 0 ends a list: what follows is like the last. */
static void
skip_scaling_list (SlBits *bits, guint n)
{
  guint last = 8, next = 8;
  for (guint i = 0; i < n && bits->at / 8 < bits->n; i++) {
    if (next != 0) {
      const guint code = sl_bits_read_ue (bits);
      const guint delta =
        (code & 1) != 0 ? code / 2 + 1 : -(code / 2); /* of 256 values, so that none overflows */
      next = (last + delta) & 255;
    }
    last = next == 0 ? last : next;
  }
}

/* What the profiles from High on have in front. FALSE: nonsense. @planes: colours are pictures of
 * their own */
static gboolean
skip_high (SlBits *bits, gboolean *planes)
{
  const guint chroma = sl_bits_read_ue (bits);
  *planes = chroma == 3 && sl_bits_read (bits, 1) != 0;
  skip_codes (bits, 2);
  sl_bits_read (bits, 1);
  if (sl_bits_read (bits, 1) != 0)
    for (guint i = 0; i < (chroma == 3 ? 12u : 8u); i++)
      if (sl_bits_read (bits, 1) != 0)
        skip_scaling_list (bits, i < 6 ? 16 : 64);
  return chroma <= 3;
}

/* Of the picture order count. */
static gboolean
skip_order (SlBits *bits)
{
  const guint type = sl_bits_read_ue (bits);
  if (type == 0) {
    skip_codes (bits, 1);
  } else if (type == 1) {
    sl_bits_read (bits, 1);
    skip_codes (bits, 2);
    skip_codes (bits, MIN (sl_bits_read_ue (bits), 255));
  }
  return type <= 2;
}

void
sl_frame_numbers_sps (SlFrameNumbers *numbers, const guint8 *payload, gsize n)
{
  static const guint8 high[] = { 100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135 };
  SlBits bits;
  sl_bits_init (&bits, payload, n);
  const guint profile = sl_bits_read (&bits, 8);
  gboolean planes = FALSE, good = TRUE;
  sl_bits_read (&bits, 16);
  const guint id = sl_bits_read_ue (&bits);
  for (guint i = 0; i < G_N_ELEMENTS (high); i++)
    if (profile == high[i])
      good = skip_high (&bits, &planes);
  const guint length = sl_bits_read_ue (&bits);
  good = good && length <= 12 && skip_order (&bits);
  skip_codes (&bits, 1);
  const gboolean gaps = sl_bits_read (&bits, 1) != 0;
  if (id >= SL_H264_SPS)
    return;
  numbers->bits[id] = good && !gaps && bits.at <= bits.n * 8 ? (guint8) (length + 4) : 0;
  numbers->planes[id] = planes;
}

void
sl_frame_numbers_pps (SlFrameNumbers *numbers, const guint8 *payload, gsize n)
{
  SlBits bits;
  sl_bits_init (&bits, payload, n);
  const guint id = sl_bits_read_ue (&bits), sps = sl_bits_read_ue (&bits);
  if (id < SL_H264_PPS && sps < SL_H264_SPS)
    numbers->sps[id] = (guint8) sps;
}

gint
sl_frame_numbers_slice (const SlFrameNumbers *numbers, SlBits *slice, guint *modulus)
{
  const guint pps = sl_bits_read_ue (slice), sps = pps < SL_H264_PPS ? numbers->sps[pps] : 0;
  if (pps >= SL_H264_PPS || numbers->bits[sps] == 0)
    return -1;
  if (numbers->planes[sps])
    sl_bits_read (slice, 2);
  *modulus = 1u << numbers->bits[sps];
  return (gint) sl_bits_read (slice, numbers->bits[sps]);
}
