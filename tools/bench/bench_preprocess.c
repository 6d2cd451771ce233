/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline bench preprocess`: its options. */
#include "tools/bench/preprocessing.h"
#include "tools/command.h"
#include "tools/options.h"

#define MAX_ROUNDS 100000
#define MAX_FRAMES 200
/* With --quick: frames without caches, and milliseconds of a row. */
#define QUICK_FRAMES 8
#define QUICK_MS 100

static int
run_bench_preprocess (int argc, char **argv)
{
  g_auto (GStrv) rest = NULL;
  g_autofree char *format = NULL, *rounds_text = NULL, *cold_text = NULL;
  guint rounds = 200, cold = 48;
  gboolean json = FALSE, quick = FALSE;
  const GOptionEntry entries[] = {
    { "format", 'f', 0, G_OPTION_ARG_STRING, &format, "Only this pixel format, such as NV12",
      "FORMAT" },
    { "rounds", 'n', 0, G_OPTION_ARG_STRING, &rounds_text, "Measurements of each (default 200)",
      "N" },
    { "cold", 'c', 0, G_OPTION_ARG_STRING, &cold_text,
      "Frames in rotation for figures without caches, 0 for none (default 48)", "N" },
    { "quick", 'q', 0, G_OPTION_ARG_NONE, &quick,
      "Fewer measurements and frames: all formats within 20 seconds", NULL },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &json, "Print one JSON object a line", NULL },
    { NULL },
  };
  const int status = sl_options_parse (
    "bench preprocess", "", "Measures frames to tensors, beside other ways to the same.",
    "Times are microseconds on one thread; copy is memcpy() of the frame's bytes; error is the "
    "largest difference from double precision, of 255.",
    argc, argv, entries, NULL, &rest);
  if (status >= 0)
    return status;
  if (rest[0] != NULL)
    return sl_options_usage ("bench preprocess", "expected no argument, got '%s'", rest[0]);
  if (!sl_options_integer ("bench preprocess", "--rounds", rounds_text, 1, MAX_ROUNDS, &rounds)
      || !sl_options_integer ("bench preprocess", "--cold", cold_text, 0, MAX_FRAMES, &cold))
    return SL_EXIT_USAGE;
  if (quick)
    cold = MIN (cold, QUICK_FRAMES);
  const SlBenchPreprocess bench = { format, (int) rounds, (int) cold, quick ? QUICK_MS : 0, json };
  if (sl_bench_preprocess (&bench, stdout))
    return SL_EXIT_OK;
  return sl_options_usage (
    "bench preprocess",
    "--format: '%s' is none that is measured; expected GStreamer's name of one, such as NV12",
    format);
}

const SlCommand sl_command_bench_preprocess = { "bench preprocess", "measure the preprocessing",
                                                run_bench_preprocess };
