/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a second model says of the objects on a frame, collected object by object until the frame can be written to.
 */
#ifndef SL_PLUGINS_META_NESTED_H
#define SL_PLUGINS_META_NESTED_H

#include <gst/gst.h>

#include "postprocess/predictions/prediction.h"

G_BEGIN_DECLS

typedef struct _SlNested SlNested;

SlNested *sl_nested_new (void);
/** sl_nested_free: NULL is legal. */
void sl_nested_free (SlNested *nested);
void sl_nested_clear (SlNested *nested);
/** sl_nested_add: copies labels and the objects (with points and masks) that are at least as sure as @lowest of @prediction, which are
 *  about region meta @region of the frame (counted from 0). @model (nullable): its name. */
void sl_nested_add (SlNested *nested, guint region, const SlPredictionView *prediction, double lowest, const char *model);
/** sl_nested_attach: writes what was added to the metas of @frame, which is @width x @height and must be writable, and forgets it. */
void sl_nested_attach (SlNested *nested, GstBuffer *frame, gint width, gint height);

G_END_DECLS

#endif
