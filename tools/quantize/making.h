/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `quantize` and `calibrate` have in common: the options that say how a model gets fewer bits,
 * and the file made until the two models agree as far as is asked for.
 */
#ifndef SL_TOOLS_QUANTIZE_MAKING_H
#define SL_TOOLS_QUANTIZE_MAKING_H

#include "models/quantize/quantize.h"

/** @limit, @how: of the texts, once checked. */
typedef struct
{
  char *method, *percentile, *float_head, *weights, *activations, *min_agreement, *prune;
  gboolean prune_blocks;
  gdouble limit;
  SlQuantizeOptions how;
} SlMakingOptions;

/** SL_MAKING_ENTRIES: entries that put their texts into @making. */
#define SL_MAKING_ENTRIES(making)                                                      \
  { "method",                                                                          \
    0,                                                                                 \
    0,                                                                                 \
    G_OPTION_ARG_STRING,                                                               \
    &(making)->method,                                                                 \
    "Method for the ranges of tensors: minmax, percentile or mse (default mse)",       \
    "NAME" },                                                                          \
    { "percentile",                                                                    \
      0,                                                                               \
      0,                                                                               \
      G_OPTION_ARG_STRING,                                                             \
      &(making)->percentile,                                                           \
      "Share of values inside a range, 0..1 (default 0.9999)",                         \
      "X" },                                                                           \
    { "float-head",                                                                    \
      0,                                                                               \
      0,                                                                               \
      G_OPTION_ARG_STRING,                                                             \
      &(making)->float_head,                                                           \
      "Keep layers float that lose too much with 8 bits: auto or none (default auto)", \
      "HOW" },                                                                         \
    { "weights",                                                                       \
      0,                                                                               \
      0,                                                                               \
      G_OPTION_ARG_STRING,                                                             \
      &(making)->weights,                                                              \
      "Scales of weights: per-channel or per-tensor (default per-channel)",            \
      "HOW" },                                                                         \
    { "activations",                                                                   \
      0,                                                                               \
      0,                                                                               \
      G_OPTION_ARG_STRING,                                                             \
      &(making)->activations,                                                          \
      "Type of 8-bit values: int8 or uint8 (default int8)",                            \
      "TYPE" },                                                                        \
    { "prune",                                                                         \
      0,                                                                               \
      0,                                                                               \
      G_OPTION_ARG_STRING,                                                             \
      &(making)->prune,                                                                \
      "First set this share of each layer's weights to zero, the smallest ones, 0..1", \
      "X" },                                                                           \
    { "prune-blocks",                                                                  \
      0,                                                                               \
      0,                                                                               \
      G_OPTION_ARG_NONE,                                                               \
      &(making)->prune_blocks,                                                         \
      "With --prune: in blocks of four, which 8-bit layers skip",                      \
      NULL },                                                                          \
  {                                                                                    \
    "min-agreement", 0, 0, G_OPTION_ARG_STRING, &(making)->min_agreement,              \
      "Keep the noisiest layers float until this agreement is reached, 0..1", "X"      \
  }

/** sl_making_options_check: fills @limit and @how, of which @what, @equalize and @threads are the
 * caller's; FALSE, having complained, when a text is wrong. */
gboolean sl_making_options_check (const char *command, SlMakingOptions *making);
void sl_making_options_clear (SlMakingOptions *making);

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

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlMakingOptions, sl_making_options_clear)

#endif
