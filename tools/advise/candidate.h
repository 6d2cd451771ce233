/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models that may do a task, measured in elements of a pipeline. */
#pragma once

#include <gst/gst.h>

#include "tools/advise/plan.h"

/** Numbers of threads that are tried at most: 1, 2, 4, 8. */
#define SL_ADVISED_THREADS 4

/**
 * SlCandidate:
 * @model: as users name it
 * @classes: (nullable): the label that the task is
 * @options: (nullable): properties that it needs, "name=value"
 * @problem: (nullable): why it is out of the question, or was not measured
 * @work: multiply-adds of a frame
 * @is_trial: made by one drawn picture: its times are right, its answers are not
 */
typedef struct
{
  char *model, *classes, *problem;
  GStrv options;
  guint64 work;
  gboolean is_trial, eight_bits;
  guint n_times;
  SlPlanTimes times[SL_ADVISED_THREADS];
} SlCandidate;

void sl_candidate_free (SlCandidate *candidate);
/** sl_candidates_find: (transfer full): of SlCandidate: @models (nullable), or those of the zoo
 * that are in the cache and whose task is @task. NULL with @error set where there is none. */
GPtrArray *sl_candidates_find (const char *task, const char *const *models, GError **error);
/** sl_candidate_measure: fills @times, or @problem; @caps: of the camera's frames. */
void sl_candidate_measure (SlCandidate *candidate, GstCaps *caps, guint processors);
/** sl_candidate_quantize: (transfer full) (nullable): @candidate with 8 bits, by a picture drawn in
 * @folder; NULL where it has them already, or cannot have them. */
SlCandidate *sl_candidate_quantize (const SlCandidate *candidate, const char *folder);
