/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPredictions: the results of a model for one frame, reference counted. Made by SlPredictor and
 * by slpostprocess; read through typed getters, or as JSON.
 */
#ifndef SL_PREDICTIONS_H
#define SL_PREDICTIONS_H

#include "sightline/object.h"
#include "sightline/output.h"

G_BEGIN_DECLS

#define SL_TYPE_PREDICTIONS (sl_predictions_get_type ())

GType sl_predictions_get_type (void);

SlPredictions *sl_predictions_ref (SlPredictions *predictions);
void sl_predictions_unref (SlPredictions *predictions);

const char *sl_predictions_get_source (const SlPredictions *predictions);
guint64 sl_predictions_get_frame_number (const SlPredictions *predictions);
guint64 sl_predictions_get_timestamp (const SlPredictions *predictions);
guint sl_predictions_get_width (const SlPredictions *predictions);
guint sl_predictions_get_height (const SlPredictions *predictions);
gboolean sl_predictions_get_latency (const SlPredictions *predictions, gint64 *age,
                                     gint64 *preprocess, gint64 *inference, gint64 *decode);
const char *sl_predictions_get_worker (const SlPredictions *predictions);

guint sl_predictions_get_n_objects (const SlPredictions *predictions);
SlObject *const *sl_predictions_get_objects (const SlPredictions *predictions);
SlObject *sl_predictions_get_object (const SlPredictions *predictions, guint index);
SlLabel *const *sl_predictions_get_labels (const SlPredictions *predictions);
const char *const *sl_predictions_get_keypoint_names (const SlPredictions *predictions);
SlMask *sl_predictions_get_class_mask (const SlPredictions *predictions);
const char *const *sl_predictions_get_mask_class_names (const SlPredictions *predictions);
guint sl_predictions_get_n_mask_classes (const SlPredictions *predictions);
const char *sl_predictions_get_mask_class (const SlPredictions *predictions, guint mask_class,
                                           gint *label_id, gdouble *fraction);
guint sl_predictions_get_n_bones (const SlPredictions *predictions);
void sl_predictions_get_bone (const SlPredictions *predictions, guint bone, guint *from, guint *to);
const gfloat *sl_predictions_get_values (const SlPredictions *predictions, guint *n);
const char *sl_predictions_get_value_name (const SlPredictions *predictions, guint value,
                                           const char **unit);
SlOutput *const *sl_predictions_get_outputs (const SlPredictions *predictions);

char *sl_predictions_to_json (const SlPredictions *predictions);
char *sl_predictions_to_text (const SlPredictions *predictions);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPredictions, sl_predictions_unref)

G_END_DECLS

#endif
