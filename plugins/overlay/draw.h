/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What predictions look like: masks, boxes, skeletons and labels on a canvas. Used by sloverlay.
 */
#ifndef SL_PLUGINS_OVERLAY_DRAW_H
#define SL_PLUGINS_OVERLAY_DRAW_H

#include "plugins/overlay/canvas.h"
#include "plugins/overlay/text_cache.h"
#include "postprocess/predictions/prediction.h"

/**
 * SlDrawStyle:
 * @opacity: of masks and heat, 0..1
 * @thickness: of lines in pixels; 0 = by the size of the frame
 * @font_size: height of letters in pixels; 0 = by the size of the frame
 * @point_threshold: lowest confidence of points drawn
 */
typedef struct
{
  gboolean boxes, labels, scores, ids, masks, keypoints, regions, heat;
  double opacity, point_threshold;
  gint thickness, font_size;
} SlDrawStyle;

/** sl_draw_prediction: everything that @style shows of @prediction. */
void sl_draw_prediction (SlCanvas *canvas, SlTextCache *text, const SlDrawStyle *style, const SlPredictionView *prediction);
/** sl_draw_note: a line of plain text in the top right corner. */
void sl_draw_note (SlCanvas *canvas, SlTextCache *text, const SlDrawStyle *style, const char *note);
/** sl_draw_colour: 0xRRGGBB of a class, always the same: by number, by name where @label_id is negative. */
guint32 sl_draw_colour (gint32 label_id, const char *label);

#endif
