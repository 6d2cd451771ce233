/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a second model says of the objects on a frame, collected object by object until the frame
 * can be written to.
 */
#pragma once

#include <gst/gst.h>

#include "postprocess/predictions/prediction.h"

typedef struct _SlObjectResults SlObjectResults;

SlObjectResults *sl_object_results_new (void);
/** sl_object_results_free: NULL is legal. */
void sl_object_results_free (SlObjectResults *nested);
void sl_object_results_clear (SlObjectResults *nested);
/** sl_object_results_add: copies labels and the objects (with points and masks) that are at least
 * as sure as @lowest of @prediction, which are about region meta @region of the frame (counted from
 * 0). @model (nullable): its name. */
void sl_object_results_add (SlObjectResults *nested, guint region,
                            const SlPredictionView *prediction, double lowest, const char *model);
/** sl_object_results_attach: writes what was added to the metas of @frame, which is @width x
 * @height and must be writable, and forgets it. */
void sl_object_results_attach (SlObjectResults *nested, GstBuffer *frame, gint width, gint height);
