/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What predictions look like: masks, boxes, skeletons and labels on a canvas. Used by sloverlay. */
#pragma once

#include "plugins/overlay/pen.h"
#include "postprocess/predictions/prediction.h"

/** sl_draw_prediction: everything that @style shows of @prediction. */
void sl_draw_prediction (SlCanvas *canvas, SlTextCache *text, const SlDrawStyle *style,
                         const SlPredictionView *prediction);
/** sl_draw_note: a line of plain text in the top right corner. */
void sl_draw_note (SlCanvas *canvas, SlTextCache *text, const SlDrawStyle *style, const char *note);
