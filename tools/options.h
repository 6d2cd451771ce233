/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the commands' options have in common: parsing, and the options that describe a model.
 */
#ifndef SL_TOOLS_OPTIONS_H
#define SL_TOOLS_OPTIONS_H

#include <glib.h>

#include "models/contract.h"
#include "models/model.h"

/** What a model may ask for; NULL and 0 = not given. */
typedef struct
{
  char *tensor_text, *work_text, *input_shape, *fixed_inputs, *state;
  guint tensor, work; /* MiB and billions of multiply-adds, once parsed */
} SlLimitOptions;

/** Who runs the model, and how precisely; NULL = not given. */
typedef struct
{
  char *backend, *provider, *options, *delegate, *precision;
  gboolean fallback;
} SlBackendOptions;

/** Options about the model; NULL and 0 = not given. */
typedef struct
{
  char *model;
  char *threads_text;
  guint threads; /* once parsed 1..SL_MAX_THREADS, or 0 for auto */
  SlLimitOptions limits;
  SlBackendOptions backend;
  char *labels, *mean, *std, *colour, *fit, *layout, *decoder;
} SlModelOptions;

void sl_model_options_clear (SlModelOptions *options);
/** sl_model_options_entries: (transfer full): entries for --labels and the contract's overrides; g_free() it. */
GOptionEntry *sl_model_options_entries (SlModelOptions *options);
/** sl_model_options_overrides: the same as the contract takes them; pointers are @options'. */
SlContractOverrides sl_model_options_overrides (const SlModelOptions *options);

/** An only argument that makes a command print its options as a JSON object (scripts/manual.py). It is no part of --help. */
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
int sl_options_parse (const char *command, const char *arguments, const char *summary, const char *details, int argc, char **argv,
                      const GOptionEntry *entries, const GOptionEntry *more, GStrv *rest);

/** sl_options_integer: *@value unchanged when @text is NULL; FALSE, having complained, unless it is an integer in @lo..@hi. */
gboolean sl_options_integer (const char *command, const char *option, const char *text, guint lo, guint hi, guint *value);
/** sl_options_threads: likewise for 1..SL_MAX_THREADS, or "auto", which is 0. */
gboolean sl_options_threads (const char *command, const char *option, const char *text, guint *threads);
/** sl_options_number: likewise for a number in @lo..@hi. */
gboolean sl_options_number (const char *command, const char *option, const char *text, double lo, double hi, double *value);
/** sl_options_fraction: likewise for a number in 0..1. */
gboolean sl_options_fraction (const char *command, const char *option, const char *text, double *value);
/** sl_options_target: whether @path of @option can be written: a file in a writable folder. Devices and pipes are refused. Call it before
 *  long work begins. */
gboolean sl_options_target (const char *command, const char *option, const char *path);
/** sl_options_tflite: whether --output @path can become a TensorFlow Lite file: by its name, and as sl_options_target() has it. */
gboolean sl_options_tflite (const char *command, const char *path);
/** sl_options_write: --output @path becomes @file in one step. FALSE with @error set, and what was there before, where it cannot. */
gboolean sl_options_write (const char *path, GBytes *file, GError **error);
/** sl_options_same_file: whether @a and @b, which need not be there, are one file. */
gboolean sl_options_same_file (const char *a, const char *b);
/** sl_options_apart: whether @option @path, which is written, is another file than @other, which is read and called @name; either may be
 *  NULL. Complains where it is not. */
gboolean sl_options_apart (const char *command, const char *option, const char *path, const char *name, const char *other);
/** sl_options_choice: *@text becomes the spelling in @choices (NULL-terminated) that it equals in any case. */
gboolean sl_options_choice (const char *command, const char *option, char **text, const char *const *choices);
/** SL_OPTION_LIMITS: entries for --tensor-limit, --work-limit, --input-shape, --fixed-inputs and --state that put their texts into @limits. */
#define SL_OPTION_LIMITS(limits)                                                                                                             \
  { "tensor-limit",                                                                                                                          \
    0,                                                                                                                                       \
    0,                                                                                                                                       \
    G_OPTION_ARG_STRING,                                                                                                                     \
    &(limits)->tensor_text,                                                                                                                  \
    "Most MiB that the model's tensors may take, 1..1048576 (default 1024)",                                                                 \
    "MIB" },                                                                                                                                 \
    { "work-limit", 0, 0, G_OPTION_ARG_STRING, &(limits)->work_text, "Most multiply-adds of a frame, in billions, 1..1000000 (default 250)", \
      "N" },                                                                                                                                 \
    { "input-shape", 0, 0, G_OPTION_ARG_STRING, &(limits)->input_shape, "Size of an input that the model leaves open, such as 1,3,224,224",  \
      "N,N,..." },                                                                                                                           \
    { "fixed-inputs",   0, 0, G_OPTION_ARG_STRING, &(limits)->fixed_inputs, "Inputs that are always the same, such as 1=style.npy or 1=0.5", \
      "INPUT=VALUE;..." },                                                                                                                   \
  {                                                                                                                                          \
    "state", 0, 0, G_OPTION_ARG_STRING, &(limits)->state,                                                                                    \
      "Inputs that get an output of the frame before, such as h0=hn,c0=cn, or none (default: told by names)", "INPUT=OUTPUT,..."             \
  }
/** SL_OPTION_BACKEND: entries for --backend, --provider, --provider-options, --delegate, --fallback and --precision. */
#define SL_OPTION_BACKEND(given)                                                                                                                \
  { "backend", 0, 0, G_OPTION_ARG_STRING, &(given)->backend, "Who runs the model: " SL_BACKEND_NAMES " (default sightline)", "NAME" },          \
    { "provider", 0, 0, G_OPTION_ARG_STRING, &(given)->provider, "Execution providers of ONNX Runtime, such as tensorrt,cuda", "NAME,..." },    \
    { "provider-options", 0, 0, G_OPTION_ARG_STRING, &(given)->options, "Options of the first provider, or of the delegate", "KEY=VALUE,..." }, \
    { "delegate", 0, 0, G_OPTION_ARG_FILENAME, &(given)->delegate, "External delegate of TensorFlow Lite", "FILE.so" },                         \
    { "fallback", 0, 0, G_OPTION_ARG_NONE, &(given)->fallback, "Sightline runs the model where the backend cannot", NULL },                     \
  {                                                                                                                                             \
    "precision", 0, 0, G_OPTION_ARG_STRING, &(given)->precision, "Of layers of floats: " SL_PRECISION_NAMES " (default float)", "NAME"          \
  }
void sl_backend_options_clear (SlBackendOptions *given);
/** sl_backend_options_load: @how is for sl_model_session_new(), by the backend that is given. */
void sl_backend_options_load (const SlBackendOptions *given, guint threads, SlModelLoadOptions *how);
void sl_limit_options_clear (SlLimitOptions *limits);
/** sl_limit_options_check: FALSE with a message when a limit is not a number or is outside its range. */
gboolean sl_limit_options_check (const char *command, SlLimitOptions *limits);
/** sl_limit_options_load: how a model is loaded under @limits. */
SlModelLoadOptions sl_limit_options_load (const SlLimitOptions *limits, gboolean skip_input_quantize);
/** sl_model_options_check: numbers and choices of @options; FALSE, having complained, when one is wrong. */
gboolean sl_model_options_check (const char *command, SlModelOptions *options);
/** sl_options_usage: complains and returns SL_EXIT_USAGE. */
int sl_options_usage (const char *command, const char *format, ...) G_GNUC_PRINTF (2, 3);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlLimitOptions, sl_limit_options_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlBackendOptions, sl_backend_options_clear)

#endif
