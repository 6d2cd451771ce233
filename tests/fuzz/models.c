/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mutates real models, loads each mutant, runs it on two frames, decodes and prints what it gives,
 * as an application would.
 *
 *   fuzz-models [--mutants 1000] [--seconds 0] [--seed 1] [--first 0] [--jobs 2] [--timeout 20]
 * [--save FOLDER] FILE|FOLDER...
 *
 * Mutants follow from the seed, their number and the files alone, so `--seed S --first N --mutants
 * 1 --save FOLDER` with the same files writes mutant N again. Worker processes do the work: the
 * parent sees a worker that dies or stays on one mutant, or that grows, says which mutant it was,
 * keeps the file, and starts another worker behind it. The exit status is 1 when there was such a
 * finding. Sanitizers see what a crash does not: build with -Db_sanitize=address,undefined.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "core/runtime/session.h"
#include "models/model.h"
#include "sightline/sightline.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/mutate_onnx.h"
#include "tests/fuzz/mutate_torchscript.h"

#define MAX_JOBS 16
/* A worker that has so much more memory than at its start is a finding: models declare at most this
 * much. */
#define MAX_GROWTH (G_GUINT64_CONSTANT (3) << 30)
/* Mutants that no predictor takes run with zeros when their tensors are this small. */
#define MAX_RUN_BYTES (32 << 20)
#define FRAME_WIDTH 320
#define FRAME_HEIGHT 240

typedef struct
{
  char *path;
  guint8 *data;
  gsize size;
  GArray *sites;
  OnnxSites *onnx;               /* (nullable): instead of @sites */
  TorchscriptParts *torchscript; /* (nullable): instead of @sites */
} Sample;

/* What a worker tells the parent; in memory that both see. */
typedef struct
{
  gint64 mutant;  /* being worked on, -1 before the first */
  gint64 started; /* monotonic time */
  gint64 done, loaded, ran;
} Progress;

static gint64 option_mutants = 1000, option_seed = 1, option_first = 0;
static gint option_seconds = 0, option_jobs = 2, option_timeout = 20;
static char *option_save;
static char **option_files;
static const GOptionEntry options[] = {
  { "mutants", 0, 0, G_OPTION_ARG_INT64, &option_mutants, "Mutants to try", "N" },
  { "seconds", 0, 0, G_OPTION_ARG_INT, &option_seconds,
    "Stop after so long, whatever --mutants says; 0 = do not", "S" },
  { "seed", 0, 0, G_OPTION_ARG_INT64, &option_seed, "Another seed gives other mutants", "N" },
  { "first", 0, 0, G_OPTION_ARG_INT64, &option_first, "Number of the first mutant", "N" },
  { "jobs", 0, 0, G_OPTION_ARG_INT, &option_jobs, "Worker processes", "N" },
  { "timeout", 0, 0, G_OPTION_ARG_INT, &option_timeout,
    "Seconds of processor time that one mutant may take", "S" },
  { "save", 0, 0, G_OPTION_ARG_FILENAME, &option_save,
    "Where the mutants that found something are written", "FOLDER" },
  { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &option_files, NULL, NULL },
  { NULL }
};

static void
sample_free (gpointer data)
{
  Sample *sample = data;
  g_free (sample->path);
  g_free (sample->data);
  g_array_unref (sample->sites);
  mutate_onnx_sites_free (sample->onnx);
  mutate_torchscript_parts_free (sample->torchscript);
  g_free (sample);
}

static void
add_file (GPtrArray *samples, const char *path)
{
  Sample *sample = g_new0 (Sample, 1);
  g_autoptr (GError) error = NULL;
  if (!g_file_get_contents (path, (char **) &sample->data, &sample->size, &error)) {
    g_printerr ("fuzz-models: %s\n", error->message);
    exit (2);
  }
  sample->path = g_strdup (path);
  sample->sites = mutate_find_sites (sample->data, sample->size);
  sample->onnx = mutate_onnx_find_sites (sample->data, sample->size);
  sample->torchscript = mutate_torchscript_split (sample->data, sample->size);
  g_ptr_array_add (samples, sample);
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static void
add_folder (GPtrArray *samples, const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (const char *name; folder != NULL && (name = g_dir_read_name (folder)) != NULL;)
    if (g_str_has_suffix (name, ".tflite") || g_str_has_suffix (name, ".onnx")
        || g_str_has_suffix (name, ".pt") || g_str_has_suffix (name, ".pt2")
        || g_str_has_suffix (name, ".ptl") || g_str_has_suffix (name, ".torchscript"))
      g_ptr_array_add (names, g_build_filename (path, name, NULL));
  g_ptr_array_sort (names, by_name);
  for (guint i = 0; i < names->len; i++)
    add_file (samples, g_ptr_array_index (names, i));
}

static GPtrArray *
read_samples (void)
{
  GPtrArray *samples = g_ptr_array_new_with_free_func (sample_free);
  for (guint i = 0; option_files != NULL && option_files[i] != NULL; i++)
    if (g_file_test (option_files[i], G_FILE_TEST_IS_DIR))
      add_folder (samples, option_files[i]);
    else
      add_file (samples, option_files[i]);
  return samples;
}

/* make_mutant: (transfer full): mutant @number and its length; *@random goes on with choices of how
 * it is run. */
static guint8 *
make_mutant (const GPtrArray *samples, gint64 number, gsize *size, GRand **random)
{
  const guint32 seed[] = { (guint32) option_seed, (guint32) (option_seed >> 32), (guint32) number,
                           (guint32) (number >> 32) };
  *random = g_rand_new_with_seed_array (seed, G_N_ELEMENTS (seed));
  const Sample *sample =
    g_ptr_array_index (samples, (guint) g_rand_int_range (*random, 0, (gint32) samples->len));
  *size = sample->size;
  if (sample->onnx != NULL)
    return mutate_onnx (sample->data, size, sample->onnx, *random);
  if (sample->torchscript != NULL)
    return mutate_torchscript (sample->torchscript, size, *random);
  guint8 *data = g_memdup2 (sample->data, MAX (sample->size, 1));
  *size = mutate (data, sample->size, sample->sites, *random);
  return data;
}

static void
check_text (gint64 number, const char *what, const char *text, gboolean json)
{
  if (g_utf8_validate (text, -1, NULL)
      && (!json || (text[0] == '{' && strpbrk (text, "\n\033") == NULL)))
    return;
  g_printerr ("mutant %" G_GINT64_FORMAT ": %s is not what readers expect: %s\n", number, what,
              text);
  abort ();
}

static void
check_confidence (gdouble confidence)
{
  if (confidence >= 0 && confidence <= 1)
    return;
  g_printerr ("confidence: expected 0..1, got %g\n", confidence);
  abort ();
}

static void
check_predictions (gint64 number, const SlPredictions *predictions)
{
  g_autofree char *json = sl_predictions_to_json (predictions),
                  *text = sl_predictions_to_text (predictions);
  check_text (number, "JSON", json, TRUE);
  check_text (number, "text", text, FALSE);
  for (guint i = 0; i < sl_predictions_get_n_objects (predictions); i++)
    check_confidence (sl_object_get_confidence (sl_predictions_get_object (predictions, i)));
  for (SlLabel *const *label = sl_predictions_get_labels (predictions); *label != NULL; label++)
    check_confidence (sl_label_get_confidence (*label));
}

static const char *
any_precision (GRand *random)
{
  static const char *const precisions[] = { "float", "float", "bf16", "fp16" };
  return precisions[g_rand_int_range (random, 0, G_N_ELEMENTS (precisions))];
}

/* set_choices: what a user may say about a model that says too little of itself. */
static void
set_choices (SlPredictor *predictor, GRand *random)
{
  static const char *const decoders[] = { "ssd",       "torchvision", "yunet",        "scrfd",
                                          "ultraface", "nanodet",     "ssd-raw",      "fastestdet",
                                          "pose",      "labels",      "segmentation", "image",
                                          "yolo" };
  if (g_rand_boolean (random))
    g_object_set (predictor, "mean", "127.5", "std", "127.5", NULL);
  g_object_set (predictor, "precision", any_precision (random), NULL);
  if (g_rand_int_range (random, 0, 4) == 0)
    g_object_set (predictor, "decoder",
                  decoders[g_rand_int_range (random, 0, G_N_ELEMENTS (decoders))], NULL);
  if (g_rand_int_range (random, 0, 4) == 0)
    g_object_set (predictor, "threshold", g_rand_double (random), "iou-threshold",
                  g_rand_double (random), "max-results", (guint) g_rand_int_range (random, 1, 1000),
                  "top-k", (guint) g_rand_int_range (random, 1, 50), NULL);
}

static gboolean
predict_twice (gint64 number, SlPredictor *predictor, GRand *random)
{
  g_autofree guint8 *pixels = g_malloc (FRAME_WIDTH * FRAME_HEIGHT * 3);
  for (guint i = 0; i < FRAME_WIDTH * FRAME_HEIGHT * 3; i++)
    pixels[i] = (guint8) g_rand_int (random);
  g_autoptr (GBytes) bytes = g_bytes_new_static (pixels, FRAME_WIDTH * FRAME_HEIGHT * 3);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (SlPredictions) predictions =
      sl_predictor_predict_bytes (predictor, "RGB", FRAME_WIDTH, FRAME_HEIGHT, bytes, NULL);
    if (predictions == NULL)
      return FALSE;
    check_predictions (number, predictions);
  }
  return TRUE;
}

/* Models of open shapes are refused without one. Small, for speed. */
static SlModel *
load_bare (const char *path, GRand *random)
{
  SlModelLoadOptions how = { .backend = { .precision = any_precision (random) } };
  SlModel *model = sl_model_load_with (path, NULL, &how, NULL);
  how.input_shape = "1,3,64,64";
  return model != NULL ? model : sl_model_load_with (path, NULL, &how, NULL);
}

/* run_bare: a model that is no picture's, or that states no size, runs once, on zeros. */
static gboolean
run_bare (const char *path, GRand *random)
{
  g_autoptr (SlModel) model = load_bare (path, random);
  SlGraph *graph = model != NULL ? sl_model_graph (model) : NULL;
  gsize bytes = 0;
  for (guint i = 0; graph != NULL && i < sl_graph_n_tensors (graph); i++)
    bytes += sl_graph_tensor (graph, (gint32) i)->bytes;
  g_autoptr (SlSession) session =
    graph != NULL && bytes <= MAX_RUN_BYTES ? sl_session_new (graph, 1, NULL) : NULL;
  if (session == NULL)
    return FALSE;
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    inputs[i] = sl_tensor_buffer_new (sl_graph_input_tensor (graph, i)->bytes);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  sl_session_run (session, (const void *const *) inputs, outputs);
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    sl_tensor_buffer_free (inputs[i]);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    sl_tensor_buffer_free (outputs[i]);
  return TRUE;
}

static void
try_mutant (const GPtrArray *samples, gint64 number, const char *path, Progress *progress)
{
  gsize size;
  GRand *random;
  g_autofree guint8 *data = make_mutant (samples, number, &size, &random);
  g_autoptr (GError) error = NULL;
  g_unlink (path); /* written over, a longer mutant before this one would show behind its end */
  if (!g_file_set_contents_full (path, (char *) data, (gssize) size, G_FILE_SET_CONTENTS_NONE, 0600,
                                 &error)) {
    g_printerr ("fuzz-models: %s\n", error->message);
    _exit (2);
  }
  g_autoptr (SlPredictor) predictor = g_object_new (SL_TYPE_PREDICTOR, "model", path, NULL);
  set_choices (predictor, random);
  if (sl_predictor_load (predictor, &error)) {
    progress->loaded++;
    progress->ran += predict_twice (number, predictor, random);
  } else {
    check_text (number, "message", error->message, FALSE);
    progress->ran += run_bare (path, random);
  }
  g_rand_free (random);
}

static void
work (const GPtrArray *samples, const char *folder, guint job, gint64 from, Progress *progress)
{
  g_autofree char *path = g_strdup_printf ("%s/mutant-%u.model", folder, job);
  for (gint64 i = from; i < option_first + option_mutants; i += option_jobs) {
    struct rlimit cpu;
    struct rusage used;
    getrusage (RUSAGE_SELF, &used);
    getrlimit (RLIMIT_CPU, &cpu);
    cpu.rlim_cur = (rlim_t) (used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 + option_timeout);
    setrlimit (RLIMIT_CPU, &cpu);
    progress->started = g_get_monotonic_time ();
    progress->mutant = i;
    try_mutant (samples, i, path, progress);
    progress->done++;
  }
  _exit (0); /* no leak check of what the parent left in this copy */
}

static guint64
resident_bytes (pid_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/statm", (int) pid), *text = NULL;
  unsigned long total, resident;
  if (!g_file_get_contents (path, &text, NULL, NULL)
      || sscanf (text, "%lu %lu", &total, &resident) != 2)
    return 0;
  return (guint64) resident * (guint64) sysconf (_SC_PAGESIZE);
}

static void
report (const GPtrArray *samples, gint64 number, const char *what)
{
  gsize size;
  GRand *random;
  g_autofree guint8 *data = make_mutant (samples, number, &size, &random);
  g_rand_free (random);
  g_print ("FINDING: mutant %" G_GINT64_FORMAT " of seed %" G_GINT64_FORMAT " %s\n", number,
           option_seed, what);
  if (option_save == NULL)
    return;
  g_autofree char *path = g_strdup_printf (
    "%s/mutant-%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT ".model", option_save, option_seed, number);
  g_mkdir_with_parents (option_save, 0755);
  if (g_file_set_contents (path, (char *) data, (gssize) size, NULL))
    g_print ("  kept as %s\n", path);
}

static pid_t
start (const GPtrArray *samples, const char *folder, guint job, gint64 from, Progress *progress)
{
  fflush (stdout);
  progress->mutant = -1;
  const pid_t pid = fork ();
  if (pid == 0)
    work (samples, folder, job, from, progress);
  return pid;
}

/* look_after: TRUE while worker @job has work; a worker that died or grew has found something. */
static gboolean
look_after (const GPtrArray *samples, const char *folder, guint job, pid_t *pid, Progress *progress,
            guint *findings)
{
  int status;
  const gboolean grew = resident_bytes (*pid) > MAX_GROWTH;
  /* Far beyond the limit of processor time: it sleeps. */
  const gboolean sleeps =
    progress->mutant >= 0
    && g_get_monotonic_time () - progress->started > (gint64) option_timeout * 10 * G_USEC_PER_SEC;
  if (grew || sleeps)
    kill (*pid, SIGKILL);
  if (waitpid (*pid, &status, grew || sleeps ? 0 : WNOHANG) != *pid)
    return TRUE;
  if (WIFEXITED (status) && WEXITSTATUS (status) == 0)
    return FALSE;
  g_autofree char *what =
    grew || sleeps         ? g_strdup (grew ? "takes too much memory" : "hangs")
    : WIFSIGNALED (status) ? g_strdup_printf (
        WTERMSIG (status) == SIGXCPU ? "takes too long (signal %d)" : "ends in signal %d",
        WTERMSIG (status))
                           : g_strdup_printf ("ends with status %d", WEXITSTATUS (status));
  report (samples, progress->mutant, what);
  (*findings)++;
  *pid = start (samples, folder, job, progress->mutant + option_jobs, progress);
  return TRUE;
}

static guint
run_workers (const GPtrArray *samples, const char *folder, Progress *progress)
{
  const gint64 end = option_seconds > 0
                       ? g_get_monotonic_time () + (gint64) option_seconds * G_USEC_PER_SEC
                       : G_MAXINT64;
  pid_t pids[MAX_JOBS];
  guint findings = 0, busy = (guint) option_jobs;
  for (guint i = 0; i < (guint) option_jobs; i++)
    pids[i] = start (samples, folder, i, option_first + i, &progress[i]);
  while (busy > 0 && g_get_monotonic_time () < end) {
    busy = 0;
    for (guint i = 0; i < (guint) option_jobs; i++) {
      if (pids[i] > 0 && !look_after (samples, folder, i, &pids[i], &progress[i], &findings))
        pids[i] = 0;
      busy += pids[i] > 0;
    }
    g_usleep (20000);
  }
  for (guint i = 0; i < (guint) option_jobs; i++)
    if (pids[i] > 0) {
      kill (pids[i], SIGKILL);
      waitpid (pids[i], NULL, 0);
    }
  return findings;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GOptionContext) context =
    g_option_context_new ("FILE|FOLDER... - try mutants of real models");
  g_option_context_add_main_entries (context, options, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    g_printerr ("fuzz-models: %s\n", error->message);
    return 2;
  }
  option_jobs = CLAMP (option_jobs, 1, MAX_JOBS);
  g_autoptr (GPtrArray) samples = read_samples ();
  if (samples->len == 0) {
    g_printerr ("fuzz-models: no .tflite or .onnx file; name files or folders of them\n");
    return 2;
  }
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR | G_LOG_FLAG_RECURSION);
  g_autofree char *folder = g_dir_make_tmp ("fuzz-models-XXXXXX", &error);
  g_assert_no_error (error);
  Progress *progress = mmap (NULL, MAX_JOBS * sizeof *progress, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  g_assert_true (progress != MAP_FAILED);
  const guint findings = run_workers (samples, folder, progress);
  gint64 done = 0, loaded = 0, ran = 0;
  for (guint i = 0; i < (guint) option_jobs; i++) {
    g_autofree char *path = g_strdup_printf ("%s/mutant-%u.model", folder, i);
    g_unlink (path);
    done += progress[i].done, loaded += progress[i].loaded, ran += progress[i].ran;
  }
  g_rmdir (folder);
  g_print ("%u files, %" G_GINT64_FORMAT " mutants, %" G_GINT64_FORMAT " loaded, %" G_GINT64_FORMAT
           " ran, %u findings\n",
           samples->len, done, loaded, ran, findings);
  return findings > 0 ? 1 : 0;
}
