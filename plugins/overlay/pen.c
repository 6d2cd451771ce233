/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes, and words on a coloured field. */
#include "plugins/overlay/pen.h"

#define BLACK 0x000000
#define WHITE 0xffffff

SlPen
sl_pen_make (SlCanvas *canvas, SlTextCache *text, const SlDrawStyle *style)
{
  const gint side = MIN (canvas->width, canvas->height);
  const gint font = style->font_size > 0 ? style->font_size : 10 + side / 60;
  sl_text_cache_set_size (text, font);
  return (SlPen){ canvas, text, style, style->thickness > 0 ? style->thickness : MAX (2, (side + 150) / 300), MAX (1, font / 8) };
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
  sl_canvas_fill (pen->canvas, x, y, width + 2 * pen->padding, height, sl_canvas_ink (pen->canvas, colour));
  sl_text_cache_draw (pen->text, pen->canvas, x + pen->padding, y, word, number, sl_canvas_ink (pen->canvas, contrast (colour)));
}
