/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What all drawing on one frame has in common: the canvas, and sizes that follow the shorter side of the frame.
 */
#ifndef SL_PLUGINS_OVERLAY_PEN_H
#define SL_PLUGINS_OVERLAY_PEN_H

#include "plugins/overlay/draw.h"

/** @thickness: of lines; @padding: around text; in pixels */
typedef struct
{
  SlCanvas *canvas;
  SlTextCache *text;
  const SlDrawStyle *style;
  gint thickness, padding;
} SlPen;

SlPen sl_pen_make (SlCanvas *canvas, SlTextCache *text, const SlDrawStyle *style);
/** sl_pen_tag: a @word (nullable) and a @number (nullable) on a field of @colour, 0xRRGGBB. */
void sl_pen_tag (const SlPen *pen, gint x, gint y, const char *word, const char *number, guint32 colour);

#endif
