/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SlCustomDecoder: a decoder that an application writes, in any language, for SlPredictor. */
#ifndef SL_CUSTOM_DECODER_H
#define SL_CUSTOM_DECODER_H

#include "sightline/predictions.h"

G_BEGIN_DECLS

#define SL_TYPE_FINDINGS (sl_findings_get_type ())
#define SL_TYPE_CUSTOM_DECODER (sl_custom_decoder_get_type ())

/**
 * SlFindings:
 *
 * The results of a custom decoder for one frame. It accepts all results: those with NaN or infinite
 * values, below the threshold or without area are dropped, and the best are kept. After
 * SlCustomDecoderClass.decode() has returned, additions are ignored. It belongs to one thread.
 *
 * Since: 0.1
 */
typedef struct _SlFindings SlFindings;

GType sl_findings_get_type (void);
SlFindings *sl_findings_ref (SlFindings *findings);
void sl_findings_unref (SlFindings *findings);
void sl_findings_add_object (SlFindings *findings, gdouble x_min, gdouble y_min, gdouble x_max,
                             gdouble y_max, gdouble confidence, gint label_id);
void sl_findings_add_label (SlFindings *findings, gint label_id, gdouble confidence);
void sl_findings_set_values (SlFindings *findings, const gfloat *values, guint n,
                             gboolean is_embedding);

/**
 * SlCustomDecoder:
 *
 * A decoder to subclass, for a model that no built-in decoder supports. An instance is the property
 * #SlPredictor:custom-decoder of any number of predictors.
 *
 * Since: 0.1
 */
G_DECLARE_DERIVABLE_TYPE (SlCustomDecoder, sl_custom_decoder, SL, CUSTOM_DECODER, GObject)

/**
 * SlCustomDecoderClass::decode:
 * @self: a custom decoder
 * @tensors: has the model's output tensors, sl_predictions_get_outputs(), and nothing else
 * @findings: gets the results
 *
 * Called for each frame, in the thread that predicts. It must neither predict with the predictor
 * that calls it nor read or set that predictor's properties: these calls would deadlock.
 *
 * Since: 0.1
 */

/**
 * SlCustomDecoderClass:
 * @decode: adds the results of a frame's tensors to findings
 *
 * Since: 0.1
 */
struct _SlCustomDecoderClass
{
  GObjectClass parent_class;
  void (*decode) (SlCustomDecoder *self, SlPredictions *tensors, SlFindings *findings);
  /*< private >*/
  gpointer reserved[8];
};

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlFindings, sl_findings_unref)

G_END_DECLS

#endif
