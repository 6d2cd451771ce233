/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline bench field`: everything that is worth knowing of a board in one JSON object, for its
 * owner to send (docs/boards.md). It needs no network and no model, and says whether the kernels of
 * this processor compute what they must. Nothing is printed before all is measured.
 */
#include "tools/bench/field/field.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "config.h"
#include "core/base/cores.h"
#include "core/base/cpu.h"
#include "core/base/heat.h"
#include "core/base/json.h"
#include "preprocess/normalize.h"
#include "tools/bench/field/machine.h"
#include "tools/bench/field/picture.h"
#include "tools/bench/field/trial.h"
#include "tools/bench/timing.h"
#include "tools/command.h"
#include "tools/commit.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/progress.h"

/* Of the file: a reader of another number does not know its members. */
#define FORMAT 1
/* No further run of a network, or of the normaliser, begins after this. */
#define NETWORK_MS 1500
#define PICTURE_MS 400
/* What runs after Ctrl-C is given this long to end by itself. */
#define PATIENCE_MS 3000

static const guint all_threads[] = { 1, 2, 4 };

typedef struct
{
  GString *json, *wrong; /* @wrong: what gives other values than it must */
  gboolean emulated, timed;
  const char *root; /* (nullable): in the place of /sys */
  SlProgress progress;
  guint done;
} Field;

static void
append_heat (GString *json, const char *key, const SlHeat *heat)
{
  sl_json_append_key (json, key);
  g_string_append_c (json, '{');
  sl_json_append_number (json, "mhz", heat->mhz > 0 ? heat->mhz : NAN, 6);
  sl_json_append_number (json, "max_mhz", heat->max_mhz > 0 ? heat->max_mhz : NAN, 6);
  sl_json_append_number (json, "celsius", heat->celsius, 4);
  sl_json_append_text (json, "sensor", heat->sensor[0] != '\0' ? heat->sensor : NULL);
  sl_json_append_text (json, "throttled", heat->throttled);
  g_string_append_c (json, '}');
}

static void
append_picture (GString *json, const SlFieldPicture *picture)
{
  g_string_append_c (json, '{');
  sl_json_append_text (json, "format", picture->format);
  sl_json_append_text (json, "fit", picture->fit);
  sl_json_append_text (json, "type", picture->type);
  sl_json_append_count (json, "size", picture->size);
  if (picture->median_us > 0) {
    sl_json_append_number (json, "least_us", picture->least_us, 5);
    sl_json_append_number (json, "median_us", picture->median_us, 5);
  }
  sl_json_append_number (json, "error", picture->error, 3);
  sl_json_append_boolean (json, "right", picture->right);
  g_string_append_c (json, '}');
}

static void
append_times (GString *json, const SlFieldTrial *trial)
{
  sl_json_append_number (json, "prepare_ms", trial->prepare_ms, 5);
  sl_json_append_number (json, "first_ms", trial->first_ms, 5);
  sl_json_append_number (json, "least_ms", trial->least_ms, 5);
  sl_json_append_number (json, "median_ms", trial->median_ms, 5);
  sl_json_append_count (json, "runs", trial->runs);
}

/* The hash is a text: readers of JSON lose digits of numbers of 64 bits. */
static void
append_digest (GString *json, const SlFieldTrial *trial)
{
  const SlFieldExpected *expected = sl_field_expected (trial->network, trial->type);
  g_autofree char *hash = g_strdup_printf ("%016" G_GINT64_MODIFIER "x", trial->digest.hash);
  sl_json_append_text (json, "hash", hash);
  sl_json_append_boolean (json, "exact", expected->exact);
  sl_json_append_number (json, "size", trial->digest.size, 9);
  sl_json_append_key (json, "sums");
  g_string_append_c (json, '[');
  for (guint i = 0; i < SL_FIELD_STRETCHES; i++) {
    g_string_append (json, i > 0 ? "," : "");
    sl_json_append_double (json, trial->digest.sums[i], 9);
  }
  g_string_append_c (json, ']');
  sl_json_append_number (json, "error", trial->error, 3);
  sl_json_append_number (json, "bound", expected->exact ? 0 : expected->bound, 3);
  sl_json_append_boolean (json, "right", trial->right);
}

static void
append_trial (GString *json, const SlFieldTrial *trial)
{
  g_string_append_c (json, '{');
  sl_json_append_text (json, "network", sl_field_network_name (trial->network));
  sl_json_append_text (json, "type", sl_field_type_name (trial->type));
  sl_json_append_count (json, "threads", trial->threads);
  if (trial->runs > 0)
    append_times (json, trial);
  sl_json_append_count (json, "arena_bytes", trial->arena_bytes);
  sl_json_append_count (json, "weight_bytes", trial->weight_bytes);
  sl_json_append_count (json, "packed_bytes", trial->packed_bytes);
  sl_json_append_text (json, "backends", trial->backends);
  sl_json_append_text (json, "int8_kernels", trial->int8);
  sl_json_append_text (json, "float_kernels", trial->floats);
  append_digest (json, trial);
  g_string_append_c (json, '}');
}

static void add_wrong (Field *field, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
add_wrong (Field *field, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_string_append (field->wrong, field->wrong->len > 0 ? "; " : "");
  g_string_append_vprintf (field->wrong, format, args);
  va_end (args);
}

static void
next (Field *field)
{
  sl_progress_show (&field->progress, ++field->done);
}

static void
run_pictures (Field *field)
{
  SlFieldPicture picture;
  sl_json_append_key (field->json, "normaliser");
  g_string_append_c (field->json, '[');
  for (guint i = 0; i < SL_FIELD_PICTURES && !sl_interrupted (); i++) {
    sl_field_picture_run (i, field->timed ? PICTURE_MS : 0, &picture);
    g_string_append (field->json, i > 0 ? "," : "");
    append_picture (field->json, &picture);
    if (!picture.right)
      add_wrong (field, "the normaliser, %s to %s of %u pixels (%s kernels)", picture.format,
                 picture.type, picture.size, sl_normalizer_cpu ());
    next (field);
  }
  g_string_append_c (field->json, ']');
}

/* Whether this processor computes @type other than floats. */
static gboolean
has_type (SlFieldType type)
{
  return type != SL_FIELD_FP16 || sl_cpu_has (SL_CPU_FP16);
}

/* Whether @network is run on so many threads. Without times, two show what is wrong between
 * threads; large networks take minutes on an emulated processor, so they run on these alone. */
static gboolean
has_threads (const Field *field, SlFieldNetwork network, guint threads)
{
  const gboolean large = network == SL_FIELD_YOLO_N || network == SL_FIELD_VIT_TI;
  return field->timed ? threads <= MAX (g_get_num_processors (), 1)
                      : threads == 2 || (threads == 1 && !large);
}

static gboolean
run_network (Field *field, SlFieldNetwork network, SlFieldType type, guint threads, GError **error)
{
  SlFieldTrial trial = { .network = network, .type = type, .threads = threads };
  if (!sl_field_trial_run (&trial, field->timed ? NETWORK_MS : 0, sl_interrupted, error)) {
    g_prefix_error (error, "%s, %s, %u threads: ", sl_field_network_name (network),
                    sl_field_type_name (type), threads);
    return FALSE;
  }
  g_string_append (field->json, g_str_has_suffix (field->json->str, "[") ? "" : ",");
  append_trial (field->json, &trial);
  if (!trial.right)
    add_wrong (field, "%s as %s on %u thread%s (%s)", sl_field_network_name (network),
               sl_field_type_name (type), threads, threads > 1 ? "s" : "", trial.backends);
  next (field);
  return TRUE;
}

/* @error is set, or it was interrupted, where this returns FALSE. */
static gboolean
run_networks (Field *field, GError **error)
{
  sl_json_append_key (field->json, "networks");
  g_string_append_c (field->json, '[');
  for (SlFieldNetwork network = 0; network < SL_FIELD_N_NETWORKS; network++)
    for (SlFieldType type = 0; type < SL_FIELD_N_TYPES; type++)
      for (guint i = 0; i < G_N_ELEMENTS (all_threads); i++)
        if (has_type (type) && has_threads (field, network, all_threads[i])
            && !run_network (field, network, type, all_threads[i], error))
          return FALSE;
  g_string_append_c (field->json, ']');
  return TRUE;
}

static void
append_head (Field *field, const SlHeat *before)
{
  GString *json = field->json;
  g_string_append_c (json, '{');
  sl_json_append_count (json, "format", FORMAT);
  sl_json_append_text (json, "version", SL_VERSION);
  sl_json_append_text (json, "commit", SL_COMMIT[0] != '\0' ? SL_COMMIT : NULL);
  sl_json_append_boolean (json, "emulated", field->emulated);
  sl_field_append_machine (json, field->root, field->timed);
  append_heat (json, "before", before);
}

static void
append_tail (Field *field, const SlHeat *after, const char *warning, double seconds)
{
  GString *json = field->json;
  struct rusage usage;
  getrusage (RUSAGE_SELF, &usage);
  append_heat (json, "after", after);
  sl_json_append_text (json, "warning", warning);
  sl_json_append_number (json, "peak_rss_mb", (double) usage.ru_maxrss / 1024, 5);
  if (field->timed)
    sl_json_append_number (json, "seconds", seconds, 4);
  sl_json_append_boolean (json, "right", field->wrong->len == 0);
  g_string_append (json, "}\n");
}

static guint
count_steps (const Field *field)
{
  guint types = 0, runs = 0;
  for (SlFieldType type = 0; type < SL_FIELD_N_TYPES; type++)
    types += has_type (type);
  for (SlFieldNetwork network = 0; network < SL_FIELD_N_NETWORKS; network++)
    for (guint i = 0; i < G_N_ELEMENTS (all_threads); i++)
      runs += has_threads (field, network, all_threads[i]);
  return SL_FIELD_PICTURES + types * runs;
}

static int
run_field (Field *field)
{
  g_autoptr (GError) error = NULL;
  SlHeat before, after;
  const double start = sl_timing_now_ms ();
  sl_heat_read (field->root, &before);
  append_head (field, &before);
  sl_progress_start (&field->progress, "bench", "steps", count_steps (field));
  run_pictures (field);
  const gboolean good = run_networks (field, &error);
  sl_progress_hide ();
  if (!good && error != NULL)
    return sl_complain ("bench field", "%s", error->message);
  if (!good) {
    sl_complain ("bench field", "interrupted, so nothing is written");
    return SL_EXIT_INTERRUPTED;
  }
  sl_heat_read (field->root, &after);
  g_autofree char *warning = sl_heat_warning (&before, &after);
  append_tail (field, &after, warning, (sl_timing_now_ms () - start) / 1e3);
  fwrite (field->json->str, 1, field->json->len, stdout);
  if (warning != NULL)
    sl_complain ("bench field", "%s", warning);
  if (field->wrong->len == 0)
    return SL_EXIT_OK;
  return sl_complain (
    "bench field",
    "wrong results, so kernels are wrong on this processor: %s; please send the file, and "
    "meanwhile try a lower SIGHTLINE_CPU",
    field->wrong->str);
}

int
sl_bench_field (int argc, char **argv)
{
  g_auto (GStrv) rest = NULL;
  gboolean check = FALSE;
  const GOptionEntry entries[] = {
    { "check", 'c', 0, G_OPTION_ARG_NONE, &check,
      "Only whether results are right, without times; an emulated processor gets no more", NULL },
    { NULL },
  };
  const int status = sl_options_parse (
    "bench field", "", "Measures this board and prints one JSON object, to be sent.",
    "It needs no network and no model, and takes up to 3 minutes, seconds with --check. "
    "docs/boards.md says what it measures and where to send it.",
    argc, argv, entries, NULL, &rest);
  if (status >= 0)
    return status;
  if (rest[0] != NULL)
    return sl_options_usage ("bench field", "expected no argument, got '%s'", rest[0]);
  g_autoptr (GString) json = g_string_new (NULL), wrong = g_string_new (NULL);
  Field field = { .json = json,
                  .wrong = wrong,
                  .emulated = sl_field_emulated (),
                  .timed = !check && !sl_field_emulated (),
                  .root = g_getenv (SL_CORES_SYS) };
  sl_interrupt_catch (PATIENCE_MS);
  signal (SIGPIPE, SIG_IGN); /* main() says that nobody reads */
  return run_field (&field);
}
