/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the numbers of YOLO's tensors can be what a shape says, and what else they may be. Used
 * by decoders/yolo.c alone.
 */
#pragma once

#include "postprocess/decoders/yolo_shape.h"
#include "postprocess/plausible.h"

/** sl_yolo_readings: (transfer full): parameters, "KEY=VALUE", that would give @shape another
 * meaning that its tensor may allow; the first of several that fit is the likeliest. */
GPtrArray *sl_yolo_readings (const SlDecoderConfig *config, const SlYoloShape *shape);
/** sl_yolo_fits: whether @rows can be what @shape says. @scores: the same rows with the activation
 * of scores; @best: room for sl_rows_count() numbers. FALSE with the reason appended to @why
 * (nullable). */
gboolean sl_yolo_fits (const SlYoloShape *shape, const SlRows *rows, const SlRows *scores,
                       gfloat *best, GString *why);
