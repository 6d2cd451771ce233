/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slinfer's properties, and the model, session and recorder that are made by them. */
#pragma once

#include "models/settings.h"
#include "plugins/base/properties.h"
#include "plugins/tensor/model_swap.h"

/** SlInferSettings: the texts are nullable; zeroed = what may be cleared. @handed_inputs is of no
 * property: what sl_held_inputs_stated() says. */
typedef struct
{
  SlModelSettings model;
  char *handed_inputs, *black_box, *need;
  gint input_wait, black_box_seconds, black_box_limit, black_box_files, batch, batch_timeout,
    priority;
  gdouble promised_rate;
} SlInferSettings;

/** sl_infer_settings_properties: (transfer none): the properties of slinfer, of which there is one
 * class. @offset: of its SlInferSettings in the instance. */
const SlProperty *sl_infer_settings_properties (gsize offset, guint *n);
void sl_infer_settings_clear (SlInferSettings *settings);
/** sl_infer_settings_copy: what @to was is freed. */
void sl_infer_settings_copy (const SlInferSettings *from, SlInferSettings *to);
/** sl_infer_settings_free: of SlInferSettings on the heap, for SlLoadedModel. */
void sl_infer_settings_free (gpointer settings);
/**
 * sl_infer_settings_load:
 * @skip: leaves out the QUANTIZE operator at the model's input, where there is one
 * @swap: (nullable): the swap in whose thread this runs. Stopping the swap stops the loading
 * @written, @owner: @written is called for each black box, with a GWeakRef of @owner
 *
 * Fills all of @loaded but its settings. FALSE with @error set; then @loaded is empty. Where there
 * is a golden file (models/replay/golden.h), the model has passed it. Without @skip it passed when
 * it was loaded before.
 */
gboolean sl_infer_settings_load (const SlInferSettings *settings, gboolean skip, SlModelSwap *swap,
                                 SlRecorderWritten written, gpointer owner, SlLoadedModel *loaded,
                                 GError **error);
