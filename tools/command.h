/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The program's sub-commands and its exit statuses. A command gets its own arguments with argv[0] =
 * its name, prints results to stdout and everything else to stderr, and returns one of the
 * statuses.
 */
#pragma once

#include <glib.h>

#define SL_EXIT_OK 0
/** Something could not be done; stderr says what. */
#define SL_EXIT_FAILED 1
/** The command line makes no sense. */
#define SL_EXIT_USAGE 2
/** Ended by Ctrl-C, as shells report it. */
#define SL_EXIT_INTERRUPTED 130

typedef struct
{
  const char *name;
  const char *summary;
  int (*run) (int argc, char **argv);
} SlCommand;

extern const SlCommand sl_command_predict;
extern const SlCommand sl_command_get;
extern const SlCommand sl_command_advise;
extern const SlCommand sl_command_zoo;
extern const SlCommand sl_command_inspect;
extern const SlCommand sl_command_card;
extern const SlCommand sl_command_infer;
extern const SlCommand sl_command_bench;
extern const SlCommand sl_command_backends;
extern const SlCommand sl_command_bench_preprocess;
extern const SlCommand sl_command_run;
extern const SlCommand sl_command_user;
extern const SlCommand sl_command_check;
extern const SlCommand sl_command_convert;
extern const SlCommand sl_command_quantize;
extern const SlCommand sl_command_calibrate;
extern const SlCommand sl_command_fit;
extern const SlCommand sl_command_eval;
extern const SlCommand sl_command_replay;
extern const SlCommand sl_command_search;
extern const SlCommand sl_command_gallery;
extern const SlCommand sl_command_serve;
extern const SlCommand sl_command_tokenize;

/** The modules that sl_command_load() loads: of serve, and of the other commands that are not in
 * the program. */
#define SL_SERVE_MODULE "sightline-serve.so"
#define SL_COMMANDS_MODULE "sightline-commands.so"
/** sl_command_load: (nullable): the command of the module, a word such as "run"; NULL after a
 * message on stderr. */
const SlCommand *sl_command_load (const char *name);

/** sl_complain: "sightline COMMAND: message" on stderr, with a newline; the message as
 * sl_printable_message() makes it. Returns SL_EXIT_FAILED. */
int sl_complain (const char *command, const char *format, ...) G_GNUC_PRINTF (2, 3);
