/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlCustomDecoder: a decoder that an application writes, in any language, for SlPredictor.
 */
#ifndef SL_CUSTOM_DECODER_H
#define SL_CUSTOM_DECODER_H

#include "sightline/predictions.h"

G_BEGIN_DECLS

#define SL_TYPE_FINDINGS (sl_findings_get_type ())
#define SL_TYPE_CUSTOM_DECODER (sl_custom_decoder_get_type ())

/**
 * SlFindings:
 *
 * What a custom decoder finds in one frame. It takes anything: what is not finite, below the threshold or without area is left out, the best
 * are kept. After SlCustomDecoderClass.decode() has returned it takes nothing more. It belongs to one thread.
 *
 * Since: 0.1
 */
typedef struct _SlFindings SlFindings;

GType sl_findings_get_type (void);
SlFindings *sl_findings_ref (SlFindings *findings);
void sl_findings_unref (SlFindings *findings);
void sl_findings_add_object (SlFindings *findings, gdouble x_min, gdouble y_min, gdouble x_max, gdouble y_max, gdouble confidence,
                             gint label_id);
void sl_findings_add_label (SlFindings *findings, gint label_id, gdouble confidence);
void sl_findings_set_values (SlFindings *findings, const gfloat *values, guint n, gboolean is_embedding);

/**
 * SlCustomDecoder:
 *
 * A decoder to subclass, for a model whose outputs no other decoder knows. An instance is the property #SlPredictor:custom-decoder of any
 * number of predictors.
 *
 * Since: 0.1
 */
G_DECLARE_DERIVABLE_TYPE (SlCustomDecoder, sl_custom_decoder, SL, CUSTOM_DECODER, GObject)

/**
 * SlCustomDecoderClass::decode:
 * @self: a custom decoder
 * @tensors: has the model's output tensors, sl_predictions_get_outputs(), and nothing else
 * @findings: where to add what they mean
 *
 * Called for each frame, in the thread that predicts. It must neither predict with the predictor that calls it
 * nor read or set that one's properties, which waits for ever.
 *
 * Since: 0.1
 */

/**
 * SlCustomDecoderClass:
 * @decode: adds to findings what a frame's tensors mean
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
