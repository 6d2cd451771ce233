/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What readers share. */
#include "postprocess/read/reader.h"

#include <string.h>

gboolean
sl_read_is_inside (const SlReadHow *how, double x, double y)
{
  double u, v;
  sl_affine_apply (&how->map, x, y, &u, &v);
  return u >= how->box[0] && u <= how->box[2] && v >= how->box[1] && v <= how->box[3];
}

/* Shift JIS of two bytes a character and nothing else, as QR codes have it in their Kanji mode (ISO
 * 18004): first bytes 0x81..0x9f and 0xe0..0xeb. */
static gboolean
is_kanji (const guint8 *bytes, guint n)
{
  for (guint i = 0; i + 1 < n; i += 2)
    if (!((bytes[i] >= 0x81 && bytes[i] <= 0x9f) || (bytes[i] >= 0xe0 && bytes[i] <= 0xeb))
        || bytes[i + 1] < 0x40 || bytes[i + 1] > 0xfc)
      return FALSE;
  return n > 0 && n % 2 == 0;
}

void
sl_read_decode_kanji (SlReadCode *code)
{
  gsize n = 0;
  if (strstr (code->symbology, "qr-code") == NULL || !is_kanji (code->bytes, code->n_bytes)
      || g_utf8_validate ((const char *) code->bytes, code->n_bytes, NULL))
    return;
  g_autofree char *text =
    g_convert ((const char *) code->bytes, code->n_bytes, "UTF-8", "SHIFT_JIS", NULL, &n, NULL);
  if (text == NULL || n > SL_READ_MAX_BYTES)
    return;
  memcpy (code->bytes, text, n + 1);
  code->n_bytes = (guint) n;
}
