/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What Sightline makes of a model: for `sightline inspect` and `sightline card`. */
#pragma once

#include "core/runtime/session.h"
#include "models/model.h"
#include "tools/options.h"

#define SL_REPORT_BACKENDS 8

/** SlOpCount: nodes of one operator; @view: of those without work; @on: by backend. */
typedef struct
{
  guint count, view, on[SL_REPORT_BACKENDS];
} SlOpCount;

typedef struct
{
  SlModel *model;
  SlSession *session;
  SlSessionStats stats;
  SlBackendUse backends[SL_REPORT_BACKENDS];
  guint n_backends;
  SlOpCount ops[SL_OP_COUNT];
  const char *decoder;   /* (nullable): the one that will be used */
  char *decoder_note;    /* (nullable): its assumptions */
  char *decoder_problem; /* (nullable): why there is none */
  char *input_problem;   /* (nullable): why pictures cannot be given to it yet */
} SlModelReport;

/** sl_model_report_fill: loads the model of @options, once checked, into a zeroed @report. */
gboolean sl_model_report_fill (SlModelReport *report, const SlModelOptions *options,
                               GError **error);
void sl_model_report_clear (SlModelReport *report);
/** sl_model_report_append_json: all of it as members of an object, without brackets. */
void sl_model_report_append_json (const SlModelReport *report, GString *out);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlModelReport, sl_model_report_clear)
