/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Colours, sizes, and words on a coloured field. Classes take ten colours in turn, then the same
 * ones darker, then lighter.
 */
#include "plugins/overlay/pen.h"

#define BLACK 0x000000
#define WHITE 0xffffff

guint32
sl_draw_colour (gint32 label_id, const char *label)
{
  static const guint32 palette[] = { 0x00e640, 0xff3838, 0x3890ff, 0xffb21d, 0xc95dff,
                                     0x00d4d4, 0xff5fc0, 0xffee32, 0x9a5a2b, 0x9fb8c8 };
  const guint key = label_id >= 0 ? (guint) label_id : g_str_hash (label != NULL ? label : "");
  const guint shade = key / G_N_ELEMENTS (palette) % 3;
  guint32 colour = 0;
  for (gint shift = 16; shift >= 0; shift -= 8) {
    const guint32 byte = palette[key % G_N_ELEMENTS (palette)] >> shift & 0xff;
    colour |= (shade == 0 ? byte : shade == 1 ? byte * 5 / 8 : (byte + 255) / 2) << shift;
  }
  return colour;
}

SlPen
sl_pen_make (SlCanvas *canvas, SlTextCache *text, const SlDrawStyle *style)
{
  const gint side = MIN (canvas->width, canvas->height);
  const gint font = style->font_size > 0 ? style->font_size : 10 + side / 60;
  sl_text_cache_set_size (text, font);
  return (SlPen){ canvas, text, style,
                  style->thickness > 0 ? style->thickness : MAX (2, (side + 150) / 300),
                  MAX (1, font / 8) };
}

/* Black or white, whichever reads better on @rgb. */
static guint32
contrast (guint32 rgb)
{
  const guint luma = (rgb >> 16 & 0xff) * 299 + (rgb >> 8 & 0xff) * 587 + (rgb & 0xff) * 114;
  return luma > 140000 ? BLACK : WHITE;
}

void
sl_pen_tag (const SlPen *pen, gint x, gint y, const char *word, const char *number, guint32 colour)
{
  gint height;
  const gint width = sl_text_cache_measure (pen->text, word, number, &height);
  sl_canvas_fill (pen->canvas, x, y, width + 2 * pen->padding, height,
                  sl_canvas_ink (pen->canvas, colour));
  sl_text_cache_draw (pen->text, pen->canvas, x + pen->padding, y, word, number,
                      sl_canvas_ink (pen->canvas, contrast (colour)));
}
