/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What all drawing on one frame has in common: the canvas, the style, colours, and sizes that
 * follow the shorter side of the frame.
 */
#pragma once

#include "plugins/overlay/canvas.h"
#include "plugins/overlay/style.h"
#include "plugins/overlay/text_cache.h"

/** @thickness: of lines; @padding: around text; in pixels */
typedef struct
{
  SlCanvas *canvas;
  SlTextCache *text;
  const SlDrawStyle *style;
  gint thickness, padding;
} SlPen;

/** sl_draw_colour: 0xRRGGBB of a class, always the same: by number, by name where @label_id is
 * negative. */
guint32 sl_draw_colour (gint32 label_id, const char *label);
SlPen sl_pen_make (SlCanvas *canvas, SlTextCache *text, const SlDrawStyle *style);
/** sl_pen_tag: a @word (nullable) and a @number (nullable) on a field of @colour, 0xRRGGBB. */
void sl_pen_tag (const SlPen *pen, gint x, gint y, const char *word, const char *number,
                 guint32 colour);
