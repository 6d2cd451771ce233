/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the commands' options have in common: parsing, and the options that describe a model. */
#pragma once

#include <glib.h>

#include "models/model.h"
#include "models/settings.h"

/** Options about a model; zeroed = nothing given. */
typedef struct
{
  SlModelSettings settings;
  guint threads;                   /* once checked 1..SL_MAX_THREADS, or 0 for auto */
  gboolean flags[SL_MAX_SETTINGS]; /* of options without a value, by row of the table; once checked
                                      they are in @settings */
  gboolean allow_download;         /* sl_options_parse() has done it */
} SlModelOptions;

void sl_model_options_clear (SlModelOptions *options);
/** sl_model_options_entries: (transfer full): entries for the settings of @groups (SlSettingGroup)
 * that options state; g_free() it. */
GOptionEntry *sl_model_options_entries (SlModelOptions *options, guint groups);
/** sl_model_options_check: everything given; FALSE, having complained, when something is wrong. */
gboolean sl_model_options_check (const char *command, SlModelOptions *options);
/** sl_model_options_load: how a model is loaded by @options, once checked. The texts are theirs. */
SlModelLoadOptions sl_model_options_load (const SlModelOptions *options,
                                          gboolean skip_input_quantize);
/** sl_model_options_state: whether something of @groups is given. */
gboolean sl_model_options_state (const SlModelOptions *options, guint groups);

/** SL_TEXT_ENTRY, SL_SWITCH_ENTRY: rows of a command's options without a short name. The value of
 * the first is a text, called @value in the help; the second has none. */
#define SL_TEXT_ENTRY(name, place, help, value)         \
  {                                                     \
    name, 0, 0, G_OPTION_ARG_STRING, place, help, value \
  }
#define SL_SWITCH_ENTRY(name, place, help)           \
  {                                                  \
    name, 0, 0, G_OPTION_ARG_NONE, place, help, NULL \
  }

/** An only argument that makes a command print its options as a JSON object (scripts/manual.py). It
 * is no part of --help. */
#define SL_OPTION_DESCRIBE "--describe-options"

/**
 * sl_options_parse:
 * @command: its name, for messages and usage
 * @arguments: what follows the options in the usage line
 * @summary: what the command does; @details: (nullable): shown after the options
 * @entries, @more: (nullable) @more
 * @rest: (out) (transfer full): arguments that are not options
 *
 * Prints help, SL_OPTION_DESCRIBE or complaints itself. Returns -1 to go on, else the exit status.
 */
int sl_options_parse (const char *command, const char *arguments, const char *summary,
                      const char *details, int argc, char **argv, const GOptionEntry *entries,
                      const GOptionEntry *more, GStrv *rest);

/** sl_options_clear: frees the texts that sl_options_parse() stored where @entries say. */
void sl_options_clear (const GOptionEntry *entries);

/** sl_options_integer: *@value unchanged when @text is NULL; FALSE, having complained, unless it is
 * an integer in @lo..@hi. */
gboolean sl_options_integer (const char *command, const char *option, const char *text, guint lo,
                             guint hi, guint *value);
/** sl_options_threads: likewise for 1..SL_MAX_THREADS, or "auto", which is 0. */
gboolean sl_options_threads (const char *command, const char *option, const char *text,
                             guint *threads);
/** sl_options_number: likewise for a number in @lo..@hi. */
gboolean sl_options_number (const char *command, const char *option, const char *text, double lo,
                            double hi, double *value);
/** sl_options_time: likewise for a day or a time as ISO 8601 has it, of this machine's time zone
 * where none is stated, as microseconds since 1970. */
gboolean sl_options_time (const char *command, const char *option, const char *text, gint64 *us);
/** sl_options_fraction: likewise for a number in 0..1. */
gboolean sl_options_fraction (const char *command, const char *option, const char *text,
                              double *value);
/** sl_options_target: whether @path of @option can be written: a file in a writable folder. Devices
 * and pipes are refused. Call it before long work begins. */
gboolean sl_options_target (const char *command, const char *option, const char *path);
/** sl_options_tflite: whether --output @path can become a TensorFlow Lite file: by its name, and as
 * sl_options_target() has it. */
gboolean sl_options_tflite (const char *command, const char *path);
/** sl_options_write: --output @path becomes @file in one step. FALSE with @error set, and what was
 * there before, where it cannot. */
gboolean sl_options_write (const char *path, GBytes *file, GError **error);
/** sl_options_write_text: the same of @text to @path of @option. */
gboolean sl_options_write_text (const char *option, const char *path, const GString *text,
                                GError **error);
/** sl_options_report: whether @path of @option (nullable) can be written, as sl_options_target()
 * has it, and is no file yet, or one that begins with @head, as those that the option writes do.
 * Complains about another file, which would be lost. */
gboolean sl_options_report (const char *command, const char *option, const char *path,
                            const char *head);
/** sl_options_same_file: whether @a and @b, which need not be there, are one file. */
gboolean sl_options_same_file (const char *a, const char *b);
/** sl_options_apart: whether @option @path, which is written, is another file than @other, which is
 * read and called @name; either may be NULL. Complains where it is not. */
gboolean sl_options_apart (const char *command, const char *option, const char *path,
                           const char *name, const char *other);
/** sl_options_choice: *@text becomes the spelling in @choices (NULL-terminated) that it equals in
 * any case. */
gboolean sl_options_choice (const char *command, const char *option, char **text,
                            const char *const *choices);
/** sl_options_usage: complains and returns SL_EXIT_USAGE. */
int sl_options_usage (const char *command, const char *format, ...) G_GNUC_PRINTF (2, 3);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlModelOptions, sl_model_options_clear)
