/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The finding: readings in the order of their scores, and how certain the best one is. */
#pragma once

#include "tools/fit/trial.h"
#include "tools/fit/truth.h"

/**
 * SlFinding:
 * @readings: (element-type SlReading): best first
 * @chosen: whether the first is better than the others by enough
 * @sure: whether it is by far
 * @open_fit: whether the fit made no difference, so that it is the usual one
 * @why: (nullable): where it is not chosen, the reason
 */
typedef struct
{
  const SlTrial *trial;
  GPtrArray *readings;
  gboolean chosen, sure, open_fit;
  char *why;
} SlFinding;

/** Readings that people see. */
#define SL_FINDING_SHOWN 6

/** sl_finding_new: tries all readings of @trial; @truth: (nullable). NULL with @error set, and
 * without when the program was interrupted. */
SlFinding *sl_finding_new (SlTrial *trial, const SlModelOptions *options, const SlFitTruth *truth,
                           GError **error);
void sl_finding_free (SlFinding *finding);
/** sl_finding_print: on standard output, for people or as one JSON object. */
void sl_finding_print (const SlFinding *finding, const char *model, gboolean json);
/** sl_finding_verdict: (transfer full): what was found, as a sentence. */
char *sl_finding_verdict (const SlFinding *finding);
/** SL_FIT_HEAD: how each description file of fit begins. */
#define SL_FIT_HEAD "# Found by sightline fit\n"
/** sl_finding_info: (transfer full): the text of a description file that states the best reading,
 * and what @options state. */
char *sl_finding_info (const SlFinding *finding, const SlModelOptions *options);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlFinding, sl_finding_free)
