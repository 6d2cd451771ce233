/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The runtime of a loaded model: Sightline's own sessions, or another runtime, which gets the file.
 */
#pragma once

#include <glib.h>

#include "core/base/energy.h"
#include "core/runtime/session.h"
#include "models/model.h"

/**
 * sl_model_session_new:
 * @model: what it was loaded for (SlModelLoadOptions) runs it
 * @threads: as for sl_session_new()
 * @notice: (out) (nullable) (transfer full): a sentence if another runtime runs it than was
 * requested Another runtime first runs on zeros,
 *   so that its device starts, or fails, before the first frame.
 */
SlSession *sl_model_session_new (SlModel *model, guint threads, char **notice, GError **error);

/**
 * SlBackendTrial: one model in both.
 * @ours_ms, @theirs_ms: the shortest run
 * @ours_cpu_ms, @theirs_cpu_ms: processor time of a run, of all threads, also of those that spin
 * after it; the mean
 * @difference: largest difference of two values of an output, as a share of the largest magnitude
 * in ours, of floats at least 0.001
 * @ours_joules, @theirs_joules: of a run, the mean; of the whole system
 * @apart: largest difference of two values
 * @same_top: the largest value of each output is at the same place
 * @agrees: @difference is at most SL_BACKEND_AGREEMENT
 */
typedef struct
{
  gdouble ours_ms, theirs_ms, ours_cpu_ms, theirs_cpu_ms, ours_joules, theirs_joules, difference,
    apart;
  gboolean same_top, agrees;
} SlBackendTrial;

/** Results of the same model may differ by this share of an output's largest magnitude. */
#define SL_BACKEND_AGREEMENT 0.01

/** sl_backend_fill: @data of @tensor gets noise, which is another for each @item: floats in the
 * range of @image (nullable), else of 0..1; bytes; indices and the like stay small. */
void sl_backend_fill (const SlTensorInfo *tensor, const SlImageContract *image, guint item,
                      void *data);
/** sl_backend_difference: the largest difference of two values, as a share of the largest
 * magnitude, which of floats counts as 0.001 at least: scores of noise are next to nothing.
 * Infinite where only one of the two is NaN. */
gdouble sl_backend_difference (const SlTensorInfo *tensor, const void *a, const void *b);
/** sl_backend_try: runs both on the same noise, in turns, for up to @ms milliseconds. @energy:
 * (nullable): without it @trial has no joules. FALSE with @error set when a run fails. */
gboolean sl_backend_try (SlSession *ours, SlSession *theirs, const SlContract *contract, guint ms,
                         SlEnergy *energy, SlBackendTrial *trial, GError **error);
