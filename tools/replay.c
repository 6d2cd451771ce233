/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline replay`: the inputs of a black box through the model again, and every output compared with the recorded one bit for bit. Exit
 * status: 0 all equal, 1 something differs or fails, 2 wrong usage or a file that cannot be used.
 */
#include <stdio.h>
#include <string.h>

#include "base/cpu.h"
#include "base/show.h"
#include "replay/replay.h"
#include "tools/command.h"
#include "tools/options.h"

typedef struct
{
  char *model, *threads_text, *cpu;
  guint threads; /* once parsed 1..SL_MAX_THREADS, 0 for auto */
  gboolean any_model;
  SlLimitOptions limits;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->model);
  g_free (options->threads_text);
  g_free (options->cpu);
  sl_limit_options_clear (&options->limits);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* What a time stamp adds to a line: nothing where there is none. */
static char *
time_text (guint64 pts)
{
  return pts == G_MAXUINT64 ? g_strdup ("") : g_strdup_printf (" at %.3f s", (gdouble) pts / 1e9);
}

static void
print_found (guint64 number, const SlReplayDifference *difference, const char *failure, gpointer data)
{
  if (failure != NULL) {
    g_autofree char *shown = sl_show (failure, SL_SHOW_MESSAGE);
    printf ("inference %" G_GUINT64_FORMAT ": fails here: %s\n", number, shown);
    return;
  }
  if (difference == NULL) {
    printf ("inference %" G_GUINT64_FORMAT ": had not finished when it was recorded; it finishes here\n", number);
    return;
  }
  g_autofree char *time = time_text (difference->pts);
  printf ("inference %" G_GUINT64_FORMAT "%s: output %u differs", number, time, difference->output);
  if (difference->stored)
    printf (": %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " values, most by %g: value %" G_GSIZE_FORMAT " is %.9g, expected %.9g",
            difference->differing, difference->elements, difference->largest, difference->place, difference->got, difference->expected);
  putchar ('\n');
}

static void
print_info (const SlBlackBoxInfo *info, const SlSession *session)
{
  g_autofree char *here = sl_black_box_backends (session), *reason = sl_show (info->reason != NULL ? info->reason : "", SL_SHOW_MESSAGE);
  g_autofree char *there = sl_show (info->backends, SL_SHOW_MESSAGE), *model = sl_show (info->model, SL_SHOW_MESSAGE);
  g_autofree char *version = sl_show (info->version, SL_SHOW_NAME);
  const guint threads = sl_session_threads (session);
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (info->created / G_USEC_PER_SEC);
  g_autofree char *created = info->created != 0 ? g_date_time_format_iso8601 (time) : g_strdup ("unknown");
  printf ("model     %s\nreason    %s\nwritten   %s by Sightline %s\nrecorded  %u thread%s, %s\nhere      %u thread%s, %s\n", model, reason,
          created, version, info->threads, info->threads == 1 ? "" : "s", there, threads, threads == 1 ? "" : "s", here);
}

static int
replay (const Options *options, const char *path, GError **error)
{
  SlReplaySum sum;
  g_autoptr (SlBlackBox) box = sl_black_box_open (path, error);
  if (box == NULL)
    return SL_EXIT_USAGE;
  const SlBlackBoxInfo *info = sl_black_box_info (box);
  SlModelLoadOptions how = sl_limit_options_load (&options->limits, info->skips_input_quantize);
  if (how.input_shape == NULL)
    how.input_shape = info->input_shape;
  g_autoptr (SlModel) model = sl_model_load_with (options->model != NULL ? options->model : info->model, NULL, &how, error);
  if (model == NULL) {
    if (options->model == NULL)
      g_prefix_error (error, "the model that was recorded cannot be loaded; name it with --model FILE: ");
    return SL_EXIT_USAGE;
  }
  if (!sl_black_box_check_model (info, model, options->any_model, error)) {
    if (!options->any_model)
      g_prefix_error (error, "name the recorded model with --model FILE, or add --any-model to compare with this one: ");
    return SL_EXIT_USAGE;
  }
  g_autoptr (SlSession) session =
    sl_session_new (sl_model_graph (model), options->threads_text != NULL ? options->threads : info->threads, error);
  if (session == NULL)
    return SL_EXIT_USAGE;
  print_info (info, session);
  if (!sl_replay_run (box, session, print_found, NULL, &sum, error))
    return SL_EXIT_USAGE;
  printf ("%u inferences: %" G_GUINT64_FORMAT " equal, %" G_GUINT64_FORMAT " different, %" G_GUINT64_FORMAT " had not finished",
          sl_black_box_n_inferences (box), sum.equal, sum.different, sum.unfinished);
  if (sum.failed > 0)
    printf (", %" G_GUINT64_FORMAT " failed", sum.failed);
  putchar ('\n');
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
    sl_options_usage ("replay", "--cpu: expected an instruction set of this processor, got '%s'", cpu);
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
  const GOptionEntry entries[] = {
    { "model", 'm', 0, G_OPTION_ARG_FILENAME, &options.model, "The model (default: the path that was recorded)", "FILE" },
    { "any-model", 0, 0, G_OPTION_ARG_NONE, &options.any_model, "Compare with --model even where it is not the recorded model", NULL },
    { "threads", 't', 0, G_OPTION_ARG_STRING, &options.threads_text, "Threads to compute with, 1..64 or auto (default: as recorded)", "N" },
    { "cpu", 0, 0, G_OPTION_ARG_STRING, &options.cpu, "Best instruction set to use, such as avx2, as SIGHTLINE_CPU has it", "SET" },
    SL_OPTION_LIMITS (&options.limits),
    { NULL },
  };
  int status = sl_options_parse ("replay", "FILE", "Runs the inferences of a black box again and compares the outputs bit for bit.",
                                 "Exit status: 0 all are equal, 1 some differ, 2 a file cannot be used.", argc, argv, entries, NULL, &rest);
  if (status >= 0)
    return status;
  if (rest[0] == NULL || rest[1] != NULL)
    return sl_options_usage ("replay", "expected one FILE: a black box (docs/blackbox.md)");
  if (options.any_model && options.model == NULL)
    return sl_options_usage ("replay", "--any-model: expected --model FILE with it");
  if (!sl_options_threads ("replay", "--threads", options.threads_text, &options.threads)
      || !sl_limit_options_check ("replay", &options.limits) || !set_cpu (options.cpu))
    return SL_EXIT_USAGE;
  status = replay (&options, rest[0], &error);
  if (error != NULL)
    sl_complain ("replay", "%s", error->message);
  return status;
}

const SlCommand sl_command_replay = { "replay", "run a black box's inferences again and compare", run_replay };
