/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `quantize` and `calibrate` have in common: the options that say how a model gets fewer bits,
 * and the file made until the two models agree as far as is asked for.
 */
#pragma once

#include "models/quantize/quantize.h"
#include "tools/options.h"

/** @limit, @how: of the texts, once checked. */
typedef struct
{
  char *method, *percentile, *float_head, *weights, *activations, *min_agreement, *prune;
  gboolean prune_blocks;
  gdouble limit;
  SlQuantizeOptions how;
} SlMakingOptions;

/** SL_MAKING_ENTRIES: entries that put their texts into @making, which sl_options_clear() frees. */
#define SL_MAKING_ENTRIES(making)                                                                \
  SL_TEXT_ENTRY ("method", &(making)->method,                                                    \
                 "Method for the ranges of tensors: minmax, percentile or mse (default mse)",    \
                 "NAME"),                                                                        \
    SL_TEXT_ENTRY ("percentile", &(making)->percentile,                                          \
                   "Share of values inside a range, 0..1 (default 0.9999)", "X"),                \
    SL_TEXT_ENTRY (                                                                              \
      "float-head", &(making)->float_head,                                                       \
      "Keep layers float that lose too much with 8 bits: auto or none (default auto)", "HOW"),   \
    SL_TEXT_ENTRY ("weights", &(making)->weights,                                                \
                   "Scales of weights: per-channel or per-tensor (default per-channel)", "HOW"), \
    SL_TEXT_ENTRY ("activations", &(making)->activations,                                        \
                   "Type of 8-bit values: int8 or uint8 (default int8)", "TYPE"),                \
    SL_TEXT_ENTRY (                                                                              \
      "prune", &(making)->prune,                                                                 \
      "First set this share of each layer's weights to zero, the smallest ones, 0..1", "X"),     \
    SL_SWITCH_ENTRY ("prune-blocks", &(making)->prune_blocks,                                    \
                     "With --prune: in blocks of four, which 8-bit layers skip"),                \
    SL_TEXT_ENTRY ("min-agreement", &(making)->min_agreement,                                    \
                   "Keep the noisiest layers float until this agreement is reached, 0..1", "X")

/** sl_making_options_check: fills @limit and @how, of which @what, @equalize and @threads are the
 * caller's; FALSE, having complained, when a text is wrong. */
gboolean sl_making_options_check (const char *command, SlMakingOptions *making);

/** SlCompareAll: has @quantizer's file compared on all that is kept for it. FALSE with @error set,
 * and without when the program was interrupted. */
typedef gboolean (*SlCompareAll) (gpointer data, GError **error);

/** sl_making_file: (transfer full) (nullable): the file of what @quantizer learned, compared, with
 * layers kept float until the agreement of
 *  @making holds or none is left. NULL as @compare returns FALSE, or with @error set. */
GBytes *sl_making_file (SlQuantizer *quantizer, const SlMakingOptions *making, SlCompareAll compare,
                        gpointer data, SlQuantizeReport *report, GError **error);
/** sl_making_check_agreement: FALSE with @error set when @report has less than @making asks for, or
 * nothing; @output is not to be written then. */
gboolean sl_making_check_agreement (const SlMakingOptions *making, const SlQuantizeReport *report,
                                    const char *output, GError **error);
