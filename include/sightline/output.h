/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlOutput: one of a model's output tensors as the model gives it, of predictions that decoder
 * "none" made.
 *
 * It belongs to the SlPredictions that it came from. A reference to it keeps those predictions as a
 * whole.
 */
#ifndef SL_OUTPUT_H
#define SL_OUTPUT_H

#include <glib-object.h>

G_BEGIN_DECLS

#define SL_TYPE_OUTPUT (sl_output_get_type ())

/**
 * SlOutput:
 *
 * An output tensor of a model: name, type and shape, and its numbers in order, the last dimension
 * changing fastest. Immutable; any thread may read it, take and drop references.
 *
 * Since: 0.1
 */
typedef struct _SlOutput SlOutput;

GType sl_output_get_type (void);
SlOutput *sl_output_ref (SlOutput *output);
void sl_output_unref (SlOutput *output);
const char *sl_output_get_name (const SlOutput *output);
const char *sl_output_get_dtype (const SlOutput *output);
const gint *sl_output_get_shape (const SlOutput *output, guint *n_dims);
gdouble sl_output_get_scale (const SlOutput *output);
gint sl_output_get_zero_point (const SlOutput *output);
const guint8 *sl_output_get_data (const SlOutput *output, gsize *size);
gsize sl_output_get_address (const SlOutput *output);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlOutput, sl_output_unref)

G_END_DECLS

#endif
