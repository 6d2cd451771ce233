/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline check`: everything that can be known about a description before it runs. Models,
 * labels and devices are opened, the pipeline itself never plays.
 */
#include <gst/gst.h>
#include <stdio.h>

#include "core/base/cores.h"
#include "core/base/heat.h"
#include "core/base/printable.h"
#include "models/replay/golden.h"
#include "pipelines/description/build.h"
#include "pipelines/push/crypt.h"
#include "pipelines/push/endpoint.h"
#include "pipelines/push/phones.h"
#include "plugins/elements.h"
#include "tools/check/findings.h"
#include "tools/check/together.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/run/http/choose.h"
#include "tools/run/keep.h"
#include "tools/run/settings.h"
#include "tools/search/describe.h"
#include "tools/search/encoder.h"
#include "tools/search/settings.h"

/* Writes the file that the self-test of slinfer reads, and tries it in a session of its own. */
static gboolean
write_golden (const char *path, const SlModelOptions *options, GError **error)
{
  SlModelLoadOptions how = sl_model_options_load (options, TRUE);
  how.any_backend = TRUE; /* for the key file's precision */
  how.backend.backend = SL_BACKEND_OURS;
  g_autoptr (SlModel) model = sl_model_load_with (path, NULL, &how, error);
  g_autoptr (SlSession) session =
    model != NULL ? sl_session_new (sl_model_graph (model), 1, error) : NULL;
  if (session == NULL || !sl_golden_make (model, session, options->settings.input_shape, error))
    return FALSE;
  g_autoptr (SlSession) other = sl_session_new (sl_model_graph (model), 2, error);
  if (other == NULL || !sl_golden_check (model, other, error))
    return FALSE;
  g_autofree char *golden = sl_golden_path (model),
                  *shown = sl_printable (golden, SL_PRINTABLE_MESSAGE),
                  *backends = sl_black_box_backends (session);
  printf ("%s: made with %s\n", shown, backends);
  return TRUE;
}

static void
describe (const SlDescription *description, gboolean built, GArray *findings)
{
  sl_findings_add (findings, SL_FINDING_FACT, "pipeline", "%s%s%s", description->name,
                   description->description != NULL ? ": " : "",
                   description->description != NULL ? description->description : "");
  for (guint i = 0; i < description->parameters->len; i++) {
    const SlParameter *parameter = &g_array_index (description->parameters, SlParameter, i);
    sl_findings_add (findings, SL_FINDING_FACT, "parameter", "%s=%s%s", parameter->name,
                     parameter->value,
                     parameter->is_default         ? ""
                     : parameter->from_environment ? " (environment)"
                                                   : " (--set)");
  }
  sl_findings_add (findings, SL_FINDING_FACT, "restart", "%s, back-off %g to %g s, watchdog %g s",
                   sl_restart_name (description->restart), description->backoff_min / 1000.0,
                   description->backoff_max / 1000.0, description->watchdog / 1000.0);
  if (description->privacy_strict && built)
    sl_findings_add (findings, SL_FINDING_FACT, "privacy",
                     "strict: every element that shows pictures gets them through slredact");
  if (description->watchdog == 0 && description->restart != SL_RESTART_NO)
    sl_findings_add (
      findings, SL_FINDING_ADVICE, "restart",
      "watchdog=0: a camera that stalls without closing is never noticed; set watchdog=10s");
}

static void
check_pipeline (GstElement *pipeline, const char *name, GArray *promises, GArray *findings)
{
  sl_check_advise (pipeline, findings);
  sl_check_meetings (pipeline, findings);
  if (!sl_findings_have_problems (findings) && sl_check_ready (pipeline, findings)) {
    sl_check_caps (pipeline, findings);
    sl_check_budget (pipeline, name, promises, findings);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* What the processor did while times were measured; nothing where the system does not tell. */
static void
check_processor (const SlHeat *before, GArray *findings)
{
  SlHeat after;
  sl_heat_read (g_getenv (SL_CORES_SYS), &after);
  g_autofree char *line = sl_heat_line (before, &after),
                  *warning = sl_heat_warning (before, &after);
  if (line != NULL)
    sl_findings_add (findings, SL_FINDING_FACT, "processor", "%s", line);
  if (warning != NULL)
    sl_findings_add (findings, SL_FINDING_ADVICE, "processor", "%s", warning);
}

/* The files of [push] are opened as at the start. */
static void
check_push (const SlDescription *description, GArray *findings)
{
  g_autoptr (GError) error = NULL;
  const char *path = sl_description_setting (description, SL_PUSHER, SL_PUSH_SUBSCRIPTIONS),
             *file = sl_description_setting (description, SL_PUSHER, SL_PUSH_KEY),
             *subject = sl_description_setting (description, SL_PUSHER, SL_PUSH_SUBJECT),
             *hosts = sl_description_setting (description, SL_PUSHER, SL_PUSH_HOSTS);
  if (path == NULL)
    return;
  g_autoptr (SlPushKey) key =
    sl_push_settings_check (file, subject, hosts, &error) ? sl_push_key_load (file, &error) : NULL;
  g_autoptr (GPtrArray) phones = key != NULL ? sl_phones_read (path, &error) : NULL;
  if (phones == NULL)
    sl_findings_add (findings, SL_FINDING_PROBLEM, "push", "%s", error->message);
  if (description->http.listen == NULL)
    sl_findings_add (findings, SL_FINDING_ADVICE, "push", "%s", SL_PUSH_NEEDS_HTTP);
}

/* Both models are loaded, as `sightline run` does. */
static void
check_search_models (const SlModelSettings *search, GArray *findings)
{
  guint length;
  g_autoptr (GError) bad_model = NULL, bad_text = NULL;
  g_autoptr (SlSearchEncoder) encoder = sl_search_encoder_new (search, &bad_model);
  if (encoder == NULL)
    sl_findings_add (findings, SL_FINDING_PROBLEM, "search", "%s", bad_model->message);
  if (search->text_model == NULL && search->tokenizer == NULL)
    return;
  g_autofree gfloat *words = sl_search_words (search, "red", &length, &bad_text);
  if (words == NULL)
    sl_findings_add (findings, SL_FINDING_PROBLEM, "search", "%s", bad_text->message);
}

/* @pipeline: (nullable) */
static void
check_search (const SlDescription *description, GstElement *pipeline, GArray *findings)
{
  g_autoptr (GError) error = NULL;
  g_auto (SlModelSettings) search = { NULL };
  if (!sl_search_describe (description, &search, &error))
    sl_findings_add (findings, SL_FINDING_PROBLEM, "search", "%s", error->message);
  if (error != NULL || search.model == NULL)
    return;
  g_autoptr (GPtrArray) recorders =
    pipeline != NULL ? sl_find_elements (pipeline, "slrecord") : NULL;
  if (description->http.listen == NULL)
    sl_findings_add (findings, SL_FINDING_ADVICE, "search", "%s", SL_SEARCH_NEEDS_HTTP);
  if (recorders != NULL && recorders->len == 0)
    sl_findings_add (findings, SL_FINDING_ADVICE, "search",
                     "[search] finds clips, and nothing here records any; add the group [record], "
                     "or run it together with a description that has one");
  check_search_models (&search, findings);
}

/* What the description says beside the pipeline. @pipeline: (nullable) */
static void
check_service (const SlDescription *description, GstElement *pipeline, GArray *findings)
{
  g_autoptr (GError) bad_http = NULL, bad_state = NULL;
  check_search (description, pipeline, findings);
  check_push (description, findings);
  if (!sl_http_check (description, &bad_http))
    sl_findings_add (findings, SL_FINDING_PROBLEM, "http", "%s", bad_http->message);
  if (description->state != NULL && !sl_keep_check (description->state, FALSE, &bad_state))
    sl_findings_add (findings, SL_FINDING_PROBLEM, "state", "%s", bad_state->message);
}

/* FALSE: it has a problem. */
static gboolean
check_file (const SlRunOptions *options, const char *path, SlTogether *together)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) findings = sl_findings_new ();
  SlHeat before;
  sl_heat_read (g_getenv (SL_CORES_SYS), &before);
  sl_elements_init (NULL, NULL);
  sl_run_register_elements ();
  SlDescription *description = sl_description_load (path, options->parameters, &error);
  GstElement *pipeline = description != NULL ? sl_description_build (description, &error) : NULL;
  if (description != NULL)
    describe (description, pipeline != NULL, findings);
  if (pipeline != NULL)
    check_pipeline (pipeline, description->name, together->promises, findings);
  else
    sl_findings_add (findings, SL_FINDING_PROBLEM, "description", "%s", error->message);
  if (description != NULL) {
    check_service (description, pipeline, findings);
    sl_together_add (together, description, pipeline);
  }
  check_processor (&before, findings);
  sl_findings_print (findings, path, options->json);
  return !sl_findings_have_problems (findings);
}

/* FALSE: the files cannot run together. */
static gboolean
check_together (const SlRunOptions *options, const SlTogether *together)
{
  g_autoptr (GArray) findings = sl_findings_new ();
  sl_check_together (together, findings);
  if (findings->len > 0)
    sl_findings_print (findings, "all together", options->json);
  return !sl_findings_have_problems (findings);
}

static int
check_files (const SlRunOptions *options, char **files)
{
  SlTogether together;
  gboolean good = TRUE;
  sl_together_init (&together);
  for (guint i = 0; files[i] != NULL; i++)
    good &= check_file (options, files[i], &together);
  if (files[1] != NULL)
    good &= check_together (options, &together);
  sl_together_clear (&together);
  return good ? SL_EXIT_OK : SL_EXIT_FAILED;
}

static int
run_check (int argc, char **argv)
{
  g_auto (SlRunOptions) options = { 0 };
  g_auto (SlModelOptions) model = { 0 };
  g_autofree GOptionEntry *more = sl_model_options_entries (&model, SL_SETTINGS_LIMITS);
  g_auto (GStrv) files = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *golden = NULL;
  const GOptionEntry entries[] = {
    SL_RUN_OPTION_SET (options),
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json,
      "Print one JSON object a line, for each file and for all together", NULL },
    { "make-golden", 0, 0, G_OPTION_ARG_FILENAME, &golden,
      "Instead of FILE: write MODEL.golden beside MODEL, which tests each machine that loads the "
      "model",
      "MODEL" },
    { NULL },
  };
  int status = sl_options_parse (
    "check", "FILE...",
    "Checks pipeline descriptions for errors and slow parts, without running them. Of several, the "
    "budget is checked as if they ran together.",
    NULL, argc, argv, entries, more, &files);
  if (status >= 0)
    return status;
  if (golden != NULL && files[0] != NULL)
    return sl_options_usage ("check", "--make-golden: expected no FILE with it, got '%s'",
                             files[0]);
  if (!sl_model_options_check ("check", &model))
    return SL_EXIT_USAGE;
  if (golden != NULL)
    return write_golden (golden, &model, &error) ? SL_EXIT_OK
                                                 : sl_complain ("check", "%s", error->message);
  if (files[0] == NULL)
    return sl_options_usage ("check", "expected FILE: a pipeline description (docs/pipelines.md)");
  if (!sl_run_options_check ("check", &options))
    return SL_EXIT_USAGE;
  return check_files (&options, files);
}

const SlCommand sl_command_check = { "check", "check a pipeline description without running it",
                                     run_check };
