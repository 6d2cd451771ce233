/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline bench`: hands over to the benchmark named. */
#include "tools/bench/bench.h"

#include <stdio.h>
#include <string.h>

#include "tools/bench/field/field.h"
#include "tools/command.h"
#include "tools/options.h"

/* The other ways that the preprocessing is compared with are GStreamer's. */
static int
run_loaded (int argc, char **argv)
{
  const SlCommand *command = sl_command_load ("bench_preprocess");
  return command != NULL ? command->run (argc, argv) : SL_EXIT_FAILED;
}

static int
run_bench (int argc, char **argv)
{
  if (argc > 1 && strcmp (argv[1], "model") == 0)
    return sl_bench_model (argc - 1, argv + 1);
  if (argc > 1 && strcmp (argv[1], "preprocess") == 0)
    return run_loaded (argc - 1, argv + 1);
  if (argc > 1 && strcmp (argv[1], "field") == 0)
    return sl_bench_field (argc - 1, argv + 1);
  if (argc == 2 && strcmp (argv[1], SL_OPTION_DESCRIBE) == 0)
    return sl_bench_model (argc, argv) == SL_EXIT_OK && run_loaded (argc, argv) == SL_EXIT_OK
             ? sl_bench_field (argc, argv)
             : SL_EXIT_FAILED;
  if (argc > 1 && (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0)) {
    printf ("Usage:\n  sightline bench model MODEL      how fast a model runs\n"
            "  sightline bench preprocess       how fast frames become tensors\n"
            "  sightline bench field            everything about this board, as a file to send\n\n"
            "Each has --help.\n");
    return SL_EXIT_OK;
  }
  return sl_options_usage ("bench", "expected 'model MODEL', 'preprocess' or 'field'%s%s",
                           argc > 1 ? ", got " : "", argc > 1 ? argv[1] : "");
}

const SlCommand sl_command_bench = { "bench", "measure a model or the preprocessing", run_bench };
