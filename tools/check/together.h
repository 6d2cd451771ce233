/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What elements and descriptions that run in one process cannot share. */
#pragma once

#include <gst/gst.h>

#include "pipelines/description/description.h"

/** SlTogether: what is known of the files that were checked. @pipelines: GstElement, of those that
 * could be built; @names: of their descriptions; @promises: of sl_check_promises_new() */
typedef struct
{
  GPtrArray *descriptions, *pipelines, *names;
  GArray *promises;
} SlTogether;

void sl_together_init (SlTogether *together);
void sl_together_clear (SlTogether *together);
/** sl_together_add: takes @description, and @pipeline (nullable), which is in NULL. */
void sl_together_add (SlTogether *together, SlDescription *description, GstElement *pipeline);

/** sl_check_meetings: what two elements of @pipeline both ask for, and one can have. */
void sl_check_meetings (GstElement *pipeline, GArray *findings);
/** sl_check_together: what two descriptions state differently, and what elements of two pipelines
 * both ask for; what all models with a promise need. */
void sl_check_together (const SlTogether *together, GArray *findings);
