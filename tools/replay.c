/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline replay`: the inputs of a black box through the model again, and every output compared
 * with the recorded one bit for bit. Exit status: 0 all equal, 1 something differs or fails, 2
 * wrong usage or a file that cannot be used.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/cpu.h"
#include "core/base/json.h"
#include "core/base/printable.h"
#include "models/state.h"
#include "models/replay/replay.h"
#include "tools/command.h"
#include "tools/options.h"

typedef struct
{
  SlModelOptions model;
  char *cpu;
  gboolean any_model, json;
} Options;

static void
options_clear (Options *options)
{
  sl_model_options_clear (&options->model);
  g_free (options->cpu);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* What was found, and the first of it. */
typedef struct
{
  const Options *options;
  gboolean differs;
  SlReplayDifference first;
  guint64 failed; /* number of the first that fails here */
  char *failure;  /* (nullable): why */
} Report;

static void
report_clear (Report *report)
{
  g_free (report->failure);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Report, report_clear)

static void
print_found (guint64 number, const SlReplayDifference *difference, const char *failure)
{
  if (failure != NULL) {
    g_autofree char *shown = sl_printable (failure, SL_PRINTABLE_MESSAGE);
    printf ("inference %" G_GUINT64_FORMAT ": fails here: %s\n", number, shown);
    return;
  }
  if (difference == NULL) {
    printf ("inference %" G_GUINT64_FORMAT
            ": had not finished when it was recorded; it finishes here\n",
            number);
    return;
  }
  g_autofree char *time = difference->pts == G_MAXUINT64
                            ? g_strdup ("")
                            : g_strdup_printf (" at %.3f s", (gdouble) difference->pts / 1e9);
  printf ("inference %" G_GUINT64_FORMAT "%s: output %u differs", number, time, difference->output);
  if (difference->stored)
    printf (": %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
            " values, most by %g: value %" G_GSIZE_FORMAT " is %.9g, expected %.9g",
            difference->differing, difference->elements, difference->largest, difference->place,
            difference->got, difference->expected);
  putchar ('\n');
}

static void
take_found (guint64 number, const SlReplayDifference *difference, const char *failure,
            gpointer data)
{
  Report *report = data;
  if (!report->options->json)
    print_found (number, difference, failure);
  if (difference != NULL && !report->differs) {
    report->differs = TRUE;
    report->first = *difference;
  } else if (failure != NULL && report->failure == NULL) {
    report->failed = number;
    report->failure = g_strdup (failure);
  }
}

/* (transfer full) (nullable): NULL where it is unknown */
static char *
written_text (const SlBlackBoxInfo *info)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (info->created / G_USEC_PER_SEC);
  return info->created != 0 && time != NULL ? g_date_time_format_iso8601 (time) : NULL;
}

static void
print_info (const SlBlackBoxInfo *info, const SlSession *session)
{
  g_autofree char *here = sl_black_box_backends (session),
                  *reason =
                    sl_printable (info->reason != NULL ? info->reason : "", SL_PRINTABLE_MESSAGE);
  g_autofree char *there = sl_printable (info->backends, SL_PRINTABLE_MESSAGE),
                  *model = sl_printable (info->model, SL_PRINTABLE_MESSAGE);
  g_autofree char *version = sl_printable (info->version, SL_PRINTABLE_NAME),
                  *written = written_text (info);
  const guint threads = sl_session_threads (session);
  printf ("model     %s\nreason    %s\nwritten   %s by Sightline %s\nrecorded  %u thread%s, %s\n"
          "here      %u thread%s, %s\n",
          model, reason, written != NULL ? written : "unknown", version, info->threads,
          info->threads == 1 ? "" : "s", there, threads, threads == 1 ? "" : "s", here);
}

static void
print_sum (const SlReplaySum *sum, guint n)
{
  printf ("%u inferences: %" G_GUINT64_FORMAT " equal, %" G_GUINT64_FORMAT
          " different, %" G_GUINT64_FORMAT " had not finished",
          n, sum->equal, sum->different, sum->unfinished);
  if (sum->failed > 0)
    printf (", %" G_GUINT64_FORMAT " failed", sum->failed);
  putchar ('\n');
}

static void
append_difference (GString *out, const SlReplayDifference *difference)
{
  g_string_append_printf (out, "{\"inference\":%" G_GUINT64_FORMAT ",\"output\":%u",
                          difference->number, difference->output);
  sl_json_append_number (
    out, "seconds",
    difference->pts == G_MAXUINT64 ? (gdouble) NAN : (gdouble) difference->pts / 1e9, 9);
  if (difference->stored) {
    g_string_append_printf (out,
                            ",\"values\":%" G_GSIZE_FORMAT ",\"differing\":%" G_GSIZE_FORMAT
                            ",\"place\":%" G_GSIZE_FORMAT,
                            difference->elements, difference->differing, difference->place);
    sl_json_append_number (out, "got", difference->got, 9);
    sl_json_append_number (out, "expected", difference->expected, 9);
    sl_json_append_number (out, "largest", difference->largest, 9);
  }
  g_string_append_c (out, '}');
}

/* How the model ran, there or here. */
static void
append_run (GString *out, const char *key, guint threads, const char *backends)
{
  g_string_append_printf (out, ",\"%s\":{\"threads\":%u", key, threads);
  sl_json_append_text (out, "backends", backends);
  g_string_append_c (out, '}');
}

static void
print_json (const char *path, const char *model, const SlBlackBox *box, const SlSession *session,
            const Report *report, const SlReplaySum *sum)
{
  const SlBlackBoxInfo *info = sl_black_box_info (box);
  g_autoptr (GString) out = g_string_new ("{\"file\":");
  g_autofree char *here = sl_black_box_backends (session), *written = written_text (info);
  sl_json_append_string (out, path);
  sl_json_append_text (out, "model", model);
  sl_json_append_text (out, "reason", info->reason);
  sl_json_append_text (out, "written", written);
  sl_json_append_text (out, "sightline", info->version);
  append_run (out, "recorded", info->threads, info->backends);
  append_run (out, "here", sl_session_threads (session), here);
  sl_json_append_boolean (out, "same", sum->different + sum->failed == 0);
  g_string_append_printf (
    out,
    ",\"inferences\":%u,\"equal\":%" G_GUINT64_FORMAT ",\"different\":%" G_GUINT64_FORMAT
    ",\"unfinished\":%" G_GUINT64_FORMAT ",\"failed\":%" G_GUINT64_FORMAT ",\"first_difference\":",
    sl_black_box_n_inferences (box), sum->equal, sum->different, sum->unfinished, sum->failed);
  if (report->differs)
    append_difference (out, &report->first);
  else
    g_string_append (out, "null");
  g_string_append (out, ",\"first_failure\":");
  if (report->failure != NULL) {
    g_string_append_printf (out, "{\"inference\":%" G_GUINT64_FORMAT, report->failed);
    sl_json_append_text (out, "message", report->failure);
    g_string_append_c (out, '}');
  } else {
    g_string_append (out, "null");
  }
  g_string_append (out, "}\n");
  fputs (out->str, stdout);
}

static int
replay (const Options *options, const char *path, GError **error)
{
  SlReplaySum sum;
  g_auto (Report) report = { .options = options };
  g_autoptr (SlBlackBox) box = sl_black_box_open (path, error);
  if (box == NULL)
    return SL_EXIT_USAGE;
  const SlBlackBoxInfo *info = sl_black_box_info (box);
  SlModelLoadOptions how = sl_model_options_load (&options->model, info->skips_input_quantize);
  if (how.input_shape == NULL)
    how.input_shape = info->input_shape;
  if (how.state == NULL)
    how.state = info->state != NULL ? info->state : SL_STATE_NONE;
  how.handed_inputs = info->handed;
  how.backend.precision = info->precision;
  g_autoptr (SlModel) model = sl_model_load_with (
    options->model.settings.model != NULL ? options->model.settings.model : info->model,
    &options->model.settings, &how, error);
  if (model == NULL) {
    if (options->model.settings.model == NULL)
      g_prefix_error (error,
                      "the model that was recorded cannot be loaded; name it with --model FILE: ");
    return SL_EXIT_USAGE;
  }
  if (!sl_black_box_check_model (info, model, options->any_model, error)) {
    if (!options->any_model)
      g_prefix_error (
        error,
        "name the recorded model with --model FILE, or add --any-model to compare with this one: ");
    return SL_EXIT_USAGE;
  }
  g_autoptr (SlSession) session = sl_session_new (
    sl_model_graph (model),
    options->model.settings.threads != NULL ? options->model.threads : info->threads, error);
  if (session == NULL)
    return SL_EXIT_USAGE;
  if (!options->json)
    print_info (info, session);
  if (!sl_replay_run (box, session, take_found, &report, &sum, error))
    return SL_EXIT_USAGE;
  if (options->json)
    print_json (path, sl_model_path (model), box, session, &report, &sum);
  else
    print_sum (&sum, sl_black_box_n_inferences (box));
  return sum.different + sum.failed > 0 ? SL_EXIT_FAILED : SL_EXIT_OK;
}

/* Before anything asks for the processor's instruction sets. */
static gboolean
set_cpu (const char *cpu)
{
  SlCpuChoice choice;
  if (cpu == NULL)
    return TRUE;
  sl_cpu_resolve (sl_cpu_detect (), g_getenv ("SIGHTLINE_CPU_MASK"), cpu, &choice);
  if (choice.warning[0] != '\0') {
    sl_options_usage ("replay", "--cpu: expected an instruction set of this processor, got '%s'",
                      cpu);
    return FALSE;
  }
  g_setenv ("SIGHTLINE_CPU", cpu, TRUE);
  return TRUE;
}

static int
run_replay (int argc, char **argv)
{
  g_auto (Options) options = { 0 };
  g_auto (GStrv) rest = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree GOptionEntry *more =
    sl_model_options_entries (&options.model, SL_SETTINGS_LIMITS | SL_SETTINGS_WORDS);
  const GOptionEntry entries[] = {
    { "model", 'm', 0, G_OPTION_ARG_FILENAME, &options.model.settings.model,
      "The model (default: the recorded path)", "FILE" },
    { "any-model", 0, 0, G_OPTION_ARG_NONE, &options.any_model,
      "Compare with --model even if it is not the recorded model", NULL },
    { "threads", 't', 0, G_OPTION_ARG_STRING, &options.model.settings.threads,
      "Threads to compute with, 1..64 or auto (0 = auto; default: as recorded)", "N" },
    { "cpu", 0, 0, G_OPTION_ARG_STRING, &options.cpu,
      "Best instruction set to use, such as avx2, like SIGHTLINE_CPU", "SET" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL },
    { NULL },
  };
  int status = sl_options_parse (
    "replay", "FILE",
    "Runs the inferences of a black box again and compares the outputs bit for bit.",
    "Exit status: 0 all are equal, 1 some differ, 2 a file cannot be used.", argc, argv, entries,
    more, &rest);
  if (status >= 0)
    return status;
  if (rest[0] == NULL || rest[1] != NULL)
    return sl_options_usage ("replay", "expected one FILE: a black box (docs/blackbox.md)");
  if (options.any_model && options.model.settings.model == NULL)
    return sl_options_usage ("replay", "--any-model: expected --model FILE with it");
  if (!sl_model_options_check ("replay", &options.model) || !set_cpu (options.cpu))
    return SL_EXIT_USAGE;
  status = replay (&options, rest[0], &error);
  if (error != NULL)
    sl_complain ("replay", "%s", error->message);
  return status;
}

const SlCommand sl_command_replay = { "replay", "run a black box's inferences again and compare",
                                      run_replay };
