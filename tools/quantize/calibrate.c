/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline calibrate`: a camera that is watched for minutes through models/quantize/quantize.h. A
 * frame comes once, so one pass has to do; what is learned of it are the values that the model
 * computes. Only frames that the two models are compared on are kept, as tensors in memory.
 */
#include "models/quantize/quantize.h"

#include <string.h>

#include "core/base/half.h"
#include "core/base/thread_count.h"
#include "core/base/fail.h"
#include "tools/command.h"
#include "tools/frames.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/predict/decoder_client.h"
#include "tools/quantize/making.h"
#include "tools/quantize/pictures.h"
#include "tools/quantize/pipeline.h"
#include "tools/quantize/report.h"

/* Frames that show a new scene: many frames of a scene that does not change count as one picture. A
 * scene is remembered as the mean brightness of each part of the picture: noise of a sensor
 * averages out there, and somebody who walks by does not. The picture itself cannot be made of it
 * again. */
#define GRID 16
#define DIFFERENT 10
#define MOST 4096

typedef struct
{
  guint8 parts[GRID * GRID];
} Scene;

typedef struct
{
  SlNormalizeSpec spec; /* how the tensors are made, of float32 */
  GArray *seen;         /* of Scene */
  guint next;           /* the one that is forgotten for the next, once there are MOST */
} Scenes;

static void
summarize (const SlNormalizeSpec *spec, const gfloat *tensor, Scene *scene)
{
  const guint width = (guint) spec->width, height = (guint) spec->height,
              channels = spec->colour == SL_COLOUR_GRAY ? 1 : 3;
  gdouble sums[GRID * GRID] = { 0 };
  guint counts[GRID * GRID] = { 0 };
  for (guint y = 0; y < height; y++) {
    for (guint x = 0; x < width; x++) {
      const guint part = y * GRID / height * GRID + x * GRID / width;
      for (guint c = 0; c < channels; c++) {
        const gsize at = spec->layout == SL_LAYOUT_NHWC ? ((gsize) y * width + x) * channels + c
                                                        : ((gsize) c * height + y) * width + x;
        sums[part] += ((gdouble) tensor[at] - spec->offset[c]) / spec->gain[c];
      }
      counts[part] += channels;
    }
  }
  for (guint i = 0; i < GRID * GRID; i++)
    scene->parts[i] = (guint8) CLAMP (sums[i] / MAX (counts[i], 1), 0, 255);
}

static gboolean
is_like (const Scene *a, const Scene *b)
{
  for (guint i = 0; i < GRID * GRID; i++)
    if (ABS ((gint) a->parts[i] - (gint) b->parts[i]) >= DIFFERENT)
      return FALSE;
  return TRUE;
}

/* Whether @tensor differs from each of the last 4,096 that did: in 16 times 16 parts of the
 * picture, one is lighter or darker by 10 of 255 or more. */
static gboolean
scenes_add (Scenes *scenes, const void *tensor)
{
  Scene scene;
  summarize (&scenes->spec, tensor, &scene);
  for (guint i = 0; i < scenes->seen->len; i++)
    if (is_like (&g_array_index (scenes->seen, Scene, i), &scene))
      return FALSE;
  if (scenes->seen->len < MOST)
    g_array_append_val (scenes->seen, scene);
  else
    g_array_index (scenes->seen, Scene, scenes->next++ % MOST) = scene;
  return TRUE;
}

/* Seconds that a source may be without progress before its first frame. */
#define TIMEOUT 10
/* One of so many frames is not learned from, and kept for the comparison. */
#define KEPT_BACK 5
/* Frames that have to be there, and those that may be kept, as many and as large together. */
#define LEAST 10
#define MAX_KEPT 100
#define MAX_BYTES ((gsize) 128 << 20)
/* A camera is asked for a frame when one is due, and not before; us. */
#define NAP 20000
/* How much a frame may come before it is due: time stamps are rounded; us. */
#define SLACK 1000
/* What the first frame may take beyond it, too; us. */
#define FIRST_FRAME (TIMEOUT * (gint64) G_USEC_PER_SEC)
/* What reading a file may take beyond the time that it shows; us. */
#define MAX_TIME (3600 * (gint64) G_USEC_PER_SEC)

typedef struct
{
  SlModelOptions model;
  SlMakingOptions making;
  SlRunOptions set;
  char *camera, *description, *output, *minutes_text, *rate_text;
  gboolean json, alike;
  gdouble minutes, rate;
} Options;

/** Where frames come from: @remote decodes in another process; the camera of a description, @own,
 * runs in this one, as in `sightline run`. One of both is NULL. */
typedef struct
{
  SlDecoderClient *remote;
  SlFrames *own;
  char *name;
  SlInputKind kind;
} Source;

typedef struct
{
  const Options *options;
  SlQuantizer *quantizer;
  SlPictures *pictures;
  Scenes scenes;
  GPtrArray *kept;          /* (element-type tensor of float16) */
  gfloat *restored;         /* one of them */
  gsize elements;           /* of a tensor */
  guint64 step, candidates; /* every how many of those to keep is kept, and how many there were */
  SlLearned learned;
  gboolean early; /* it was asked to end while it watched */
} Job;

/** When frames are due: by the clock those of a camera, by their time stamps those of a file, which
 * is read as fast as it can be, and by either those of a stream, whose stamps may stand still.
 * Times in us; @first is below 0 before the first frame. */
typedef struct
{
  SlInputKind kind;
  gint64 length, interval;
  gint64 opened, first, next;           /* by the clock */
  gint64 first_stamp, last, next_stamp; /* time stamps */
} Schedule;

/* (transfer full): half the bytes, and still finer steps than those of the picture that the tensor
 * is made of. */
static guint16 *
shorten (const Job *job, const gfloat *tensor)
{
  guint16 *halves = g_new (guint16, job->elements);
  for (gsize i = 0; i < job->elements; i++)
    halves[i] = sl_half_from_float (tensor[i]);
  return halves;
}

/* (transfer none): tensor @i of those that are kept, until the next call. */
static const gfloat *
restore (Job *job, guint i)
{
  const guint16 *halves = job->kept->pdata[i];
  for (gsize k = 0; k < job->elements; k++)
    job->restored[k] = sl_half_to_float (halves[k]);
  return job->restored;
}

static gboolean
learn (Job *job, const void *tensor, GError **error)
{
  job->learned.pictures++;
  return sl_quantizer_learn_once (job->quantizer, tensor, error);
}

/* Lets every other tensor go, which is learned from instead: how many there will be, nobody knows.
 */
static gboolean
thin_out (Job *job, GError **error)
{
  job->step *= 2;
  for (guint i = 1; i < job->kept->len; i++) {
    if (!learn (job, restore (job, i), error))
      return FALSE;
    g_ptr_array_remove_index (job->kept, i);
  }
  return TRUE;
}

static gboolean
keep (Job *job, const void *tensor, GError **error)
{
  const guint most = (guint) CLAMP (MAX_BYTES / (job->elements * sizeof (guint16)), 2, MAX_KEPT);
  if (job->candidates++ % job->step != 0)
    return learn (job, tensor, error);
  g_ptr_array_add (job->kept, shorten (job, tensor));
  return job->kept->len < most || thin_out (job, error);
}

/* A frame that is due. One that cannot become a tensor ends the watch, by *@reason. */
static gboolean
take (Job *job, GstSample *sample, GError **error, GError **reason)
{
  const void *tensor = sl_pictures_load_frame (job->pictures, sample, reason);
  if (tensor == NULL)
    return TRUE;
  job->learned.looked_at++;
  if (!job->options->alike && !scenes_add (&job->scenes, tensor)) {
    job->learned.alike++;
    return TRUE;
  }
  return (job->learned.looked_at - job->learned.alike) % KEPT_BACK == 0
           ? keep (job, tensor, error)
           : learn (job, tensor, error);
}

static void
tell_note (const char *name, const char *text)
{
  sl_complain ("calibrate", "%s: %s", name, text);
}

static void
source_clear (Source *source)
{
  if (source->remote != NULL)
    sl_decoder_client_close (source->remote);
  g_clear_pointer (&source->remote, sl_decoder_client_free);
  g_clear_pointer (&source->own, sl_frames_close);
  g_free (source->name);
}

/* (transfer full) (nullable): as sl_decoder_client_until(). */
static GstSample *
next_frame (Source *source, gint64 deadline, GError **error)
{
  GstSample *sample = NULL;
  SlFramesStatus status = SL_FRAMES_NOTHING;
  if (source->remote != NULL)
    return sl_decoder_client_until (source->remote, deadline, error);
  while (status == SL_FRAMES_NOTHING && !sl_interrupted () && g_get_monotonic_time () < deadline) {
    status = sl_frames_pull (source->own, NAP / 1000, &sample, error);
    g_autofree char *note = sl_frames_take_note (source->own, FALSE);
    if (note != NULL)
      tell_note (source->name, note);
  }
  return sample;
}

/* Whether a frame with the time stamp @at, below 0 for none, is to be looked at. */
static gboolean
is_due (Schedule *schedule, gint64 at)
{
  const gint64 now = g_get_monotonic_time ();
  if (schedule->first < 0) {
    schedule->first = schedule->next = now;
    schedule->first_stamp = schedule->next_stamp = at;
  }
  const gboolean by_clock = schedule->kind != SL_INPUT_FILE && now >= schedule->next;
  const gboolean by_stamp = schedule->kind != SL_INPUT_CAMERA && at >= 0
                            && (at + SLACK >= schedule->next_stamp || at < schedule->last);
  if (!by_clock && !by_stamp && (schedule->kind != SL_INPUT_FILE || at >= 0))
    return FALSE;
  schedule->last = at;
  schedule->next = MAX (schedule->next + schedule->interval, now);
  schedule->next_stamp = MAX (schedule->next_stamp + schedule->interval, at);
  return TRUE;
}

/* Where the watch ends by the clock, if the source does not end before. */
static gint64
end_of (const Schedule *schedule)
{
  if (schedule->kind == SL_INPUT_FILE)
    return schedule->opened + schedule->length + MAX_TIME;
  return schedule->first >= 0 ? schedule->first + schedule->length
                              : schedule->opened + schedule->length + FIRST_FRAME;
}

/* Until a camera's next frame is due, or the end: what comes meanwhile is not even copied. */
static void
wait_until_due (const Schedule *schedule)
{
  const gint64 until = MIN (schedule->next, end_of (schedule));
  while (schedule->kind == SL_INPUT_CAMERA && schedule->first >= 0 && !sl_interrupted ()
         && g_get_monotonic_time () < until)
    g_usleep (NAP);
}

static void
show (const Job *job, const SlProgress *progress, const Schedule *schedule, gint64 since)
{
  const guint64 at = (guint64) CLAMP (since, 0, schedule->length);
  sl_progress_show_share (progress, job->learned.pictures + job->kept->len,
                          sl_progress_share (at, (guint64) schedule->length));
}

/* Looks at frames of the open source until time is up, the source ends, or somebody wants it to. */
static gboolean
watch (Job *job, Source *source, Schedule *schedule, GError **error, GError **reason)
{
  SlProgress progress;
  gboolean good = TRUE;
  sl_progress_start (&progress, "watching", "frames", 0);
  while (good && *reason == NULL) {
    wait_until_due (schedule);
    GstSample *sample = next_frame (source, end_of (schedule), reason);
    const GstClockTime stamp =
      sample != NULL ? GST_BUFFER_PTS (gst_sample_get_buffer (sample)) : GST_CLOCK_TIME_NONE;
    const gint64 at = GST_CLOCK_TIME_IS_VALID (stamp) ? (gint64) GST_TIME_AS_USECONDS (stamp) : -1;
    const gboolean due = sample != NULL && is_due (schedule, at);
    const gint64 since = schedule->kind == SL_INPUT_FILE
                           ? at - schedule->first_stamp
                           : g_get_monotonic_time () - schedule->first;
    if (sample == NULL || since >= schedule->length) {
      g_clear_pointer (&sample, gst_sample_unref);
      break;
    }
    if (due)
      good = take (job, sample, error, reason);
    gst_sample_unref (sample);
    show (job, &progress, schedule, since);
  }
  sl_progress_hide ();
  return good;
}

/* Whether what was learned will do, after the source went on for as long as it did; @reason:
 * (nullable): why it ended. */
static gboolean
check_enough (Job *job, const char *name, const GError *reason, GError **error)
{
  const guint n = job->learned.pictures + job->kept->len;
  if (n >= LEAST) {
    if (reason != NULL)
      sl_complain ("calibrate", "%s: %s; going on with the %u frames before", name, reason->message,
                   n);
    return TRUE;
  }
  if (reason != NULL)
    sl_fail (error, SL_ERROR_OPEN, "%s: %s", name, reason->message);
  else if (job->learned.looked_at == 0 && !sl_interrupted ())
    sl_fail (error, SL_ERROR_OPEN,
             "%s: no frame came within %.0f s; check that it is switched on, and sends", name,
             60 * job->options->minutes + TIMEOUT);
  else if (!sl_interrupted ())
    sl_fail (
      error, SL_ERROR_OPEN,
      "%s: %u of the %" G_GUINT64_FORMAT
      " frames looked at are different; expected at least %d: state more --minutes or a higher "
      "--rate, have something move before the camera, or take alike frames with --alike",
      name, n, job->learned.looked_at, LEAST);
  return FALSE;
}

static gboolean
open_remote (Source *source, SlSpawner *spawner, const SlInput *input, GError **error)
{
  source->name = g_strdup (input->name);
  source->kind = input->kind;
  source->remote = sl_decoder_client_new (spawner, TIMEOUT, "", tell_note);
  if (sl_decoder_client_open (source->remote, input, error))
    return TRUE;
  return sl_fail_prefix (error, "%s: ", input->name);
}

static gboolean
open_own (Source *source, GstElement *camera, GError **error)
{
  g_object_get (camera, "uri", &source->name, NULL);
  if (source->name == NULL)
    source->name = gst_object_get_name (GST_OBJECT (camera));
  source->kind = g_str_has_prefix (source->name, "file:") ? SL_INPUT_FILE : SL_INPUT_CAMERA;
  source->own = sl_frames_open_camera (camera, source->name, error);
  return source->own != NULL;
}

static gboolean
learn_from (Job *job, Source *source, GError **error)
{
  const Options *options = job->options;
  g_autoptr (GError) reason = NULL;
  Schedule schedule = { .kind = source->kind,
                        .length = (gint64) (60 * options->minutes * G_USEC_PER_SEC),
                        .interval = (gint64) (G_USEC_PER_SEC / options->rate),
                        .opened = g_get_monotonic_time (),
                        .first = -1,
                        .last = -1 };
  const gboolean good = watch (job, source, &schedule, error, &reason);
  job->early = sl_interrupted ();
  if (!good || !check_enough (job, source->name, reason, error))
    return FALSE;
  if (job->early)
    sl_complain ("calibrate",
                 "ends early: makes the file of %u frames; Ctrl-C once more ends without it",
                 job->learned.pictures + job->kept->len);
  return TRUE;
}

static gboolean
compare_all (gpointer data, GError **error)
{
  Job *job = data;
  SlProgress progress;
  gboolean good = TRUE;
  sl_progress_start (&progress, "comparing", "frames", job->kept->len);
  for (guint i = 0; i < job->kept->len && good; i++) {
    sl_progress_show (&progress, i);
    good = (job->early || !sl_interrupted ())
           && sl_quantizer_compare (job->quantizer, restore (job, i), error);
  }
  sl_progress_hide ();
  return good;
}

static gboolean
finish (Job *job, GError **error)
{
  const Options *options = job->options;
  SlQuantizeReport report;
  g_autoptr (GBytes) file =
    sl_making_file (job->quantizer, &options->making, compare_all, job, &report, error);
  if (file == NULL)
    return FALSE;
  if (options->json)
    sl_quantize_print_json (&report, &job->learned, options->output, options->making.how.threads);
  else
    sl_quantize_print (&report, &job->learned, options->output, options->making.how.threads);
  return sl_making_check_agreement (&options->making, &report, options->output, error)
         && sl_options_write (options->output, file, error);
}

/* Frames come from @input or, where that is not NULL, from @camera. @said: what the description
 * says of how the model sees them */
static gboolean
calibrate (Job *job, SlSpawner *spawner, const SlInput *input, GstElement *camera,
           const SlNormalizeSpec *said, GError **error)
{
  const Options *options = job->options;
  SlModelLoadOptions how = sl_model_options_load (&options->model, FALSE);
  how.keep_activations = TRUE;
  SlNormalizeSpec spec = *said;
  Source source = { NULL };
  g_autoptr (SlModel) model =
    sl_model_load_with (options->model.settings.model, &options->model.settings, &how, error);
  job->quantizer = model != NULL ? sl_quantizer_new (model, &options->making.how, error) : NULL;
  if (job->quantizer == NULL)
    return FALSE;
  sl_quantizer_spec (job->quantizer, &spec);
  spec.pad_value = said->pad_value >= 0 ? said->pad_value : spec.pad_value;
  job->elements = sl_quantizer_tensor_bytes (job->quantizer) / sizeof (gfloat);
  job->restored = g_new (gfloat, job->elements);
  job->pictures = sl_pictures_new ("calibrate", spawner, &spec, job->elements * sizeof (gfloat));
  job->scenes = (Scenes){ spec, g_array_new (FALSE, FALSE, sizeof (Scene)), 0 };
  job->kept = g_ptr_array_new_with_free_func (g_free);
  const gboolean learned = (camera != NULL ? open_own (&source, camera, error)
                                           : open_remote (&source, spawner, input, error))
                           && learn_from (job, &source, error);
  source_clear (&source);
  return learned && finish (job, error);
}

/* Nothing that is read is written over; the model and its labels may be the description's. */
static gboolean
check_model (Options *options)
{
  return sl_options_apart ("calibrate", "--output", options->output, "MODEL",
                           options->model.settings.model)
         && sl_options_apart ("calibrate", "--output", options->output, "--labels",
                              options->model.settings.labels)
         && sl_model_options_check ("calibrate", &options->model);
}

/* The exit status. @camera: (out) (nullable): that of the description, unless --camera states one.
 */
static int
read_description (Options *options, GstElement **camera, SlNormalizeSpec *said)
{
  g_autoptr (GError) error = NULL;
  if (options->description != NULL) {
    sl_run_register_elements ();
    if (!sl_pipeline_watch (options->description, &options->set,
                            options->camera == NULL ? camera : NULL, &options->model, said, &error))
      return sl_complain ("calibrate", "%s", error->message);
  }
  if (!check_model (options))
    return SL_EXIT_USAGE;
  options->making.how.threads = sl_threads_resolve (options->model.threads);
  return SL_EXIT_OK;
}

static int
run (Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) camera = NULL;
  SlNormalizeSpec said = { .filter = SL_FILTER_AUTO, .pad_value = -1 };
  sl_interrupt_catch (0);
  g_autoptr (SlSpawner) spawner = sl_spawner_new (&error);
  if (spawner == NULL)
    return sl_complain ("calibrate", "%s", error->message);
  const int status = read_description (options, &camera, &said);
  if (status != SL_EXIT_OK)
    return status;
  char *arguments[] = { camera == NULL ? options->camera : NULL, NULL };
  g_autoptr (GPtrArray) inputs = sl_inputs_new (arguments, FALSE);
  if (sl_inputs_find_file (inputs, options->output) != NULL)
    return sl_options_usage (
      "calibrate",
      "--output and --camera are one file, which would be lost; expected another name for "
      "--output");
  Job job = { .options = options, .step = 1 };
  const gboolean good =
    calibrate (&job, spawner, camera == NULL ? inputs->pdata[0] : NULL, camera, &said, &error);
  const gboolean stopped = sl_interrupted () && !good && error == NULL;
  g_clear_pointer (&job.quantizer, sl_quantizer_free);
  g_clear_pointer (&job.pictures, sl_pictures_free);
  g_clear_pointer (&job.scenes.seen, g_array_unref);
  g_clear_pointer (&job.kept, g_ptr_array_unref);
  g_clear_pointer (&job.restored, g_free);
  if (error != NULL)
    sl_complain ("calibrate", "%s", error->message);
  return good ? SL_EXIT_OK : stopped ? SL_EXIT_INTERRUPTED : SL_EXIT_FAILED;
}

static gboolean
check (Options *options)
{
  options->minutes = 10;
  options->rate = 1;
  if (!sl_options_tflite ("calibrate", options->output)
      || !sl_run_options_check ("calibrate", &options->set)
      || !sl_making_options_check ("calibrate", &options->making)
      || !sl_options_number ("calibrate", "--minutes", options->minutes_text, 0.01, 10080,
                             &options->minutes)
      || !sl_options_number ("calibrate", "--rate", options->rate_text, 0.001, 60, &options->rate))
    return FALSE;
  if (options->camera == NULL || !g_file_test (options->camera, G_FILE_TEST_IS_DIR))
    return TRUE;
  sl_options_usage (
    "calibrate",
    "--camera: '%s' is a folder; expected a camera, a URI or a video (sightline quantize takes "
    "folders)",
    options->camera);
  return FALSE;
}

static int
run_calibrate (int argc, char **argv)
{
  Options options = { 0 };
  g_auto (GStrv) rest = NULL;
  g_autofree GOptionEntry *more =
    sl_model_options_entries (&options.model, SL_SETTINGS_CONTRACT | SL_SETTINGS_LIMITS);
  const GOptionEntry entries[] = {
    { "camera", 'c', 0, G_OPTION_ARG_FILENAME, &options.camera,
      "The camera, as for predict, or a video of it", "SOURCE" },
    SL_RUN_OPTION_SET (options.set),
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "The file to write", "FILE" },
    { "minutes", 'm', 0, G_OPTION_ARG_STRING, &options.minutes_text,
      "How long to watch, 0.01..10080 (default 10)", "N" },
    { "rate", 0, 0, G_OPTION_ARG_STRING, &options.rate_text,
      "Most frames a second, 0.001..60 (default 1)", "N" },
    { "alike", 0, 0, G_OPTION_ARG_NONE, &options.alike,
      "Also use frames that look like earlier ones", NULL },
    SL_MAKING_ENTRIES (&options.making),
    { "threads", 't', 0, G_OPTION_ARG_STRING, &options.model.settings.threads,
      "Threads to compute with, 1..64 or auto (0 = auto; default 1)", "N" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL },
    { NULL },
  };
  int status = sl_options_parse (
    "calibrate", "[MODEL] [FILE.pipeline]",
    "Quantises a float model to 8 bits with frames of a camera.",
    "A pipeline description states the camera and the model, unless they are given.\n"
    "The first Ctrl-C ends the watch, and the file is made of the frames so far, if they are "
    "enough; a second one ends without a file.",
    argc, argv, entries, more, &rest);
  if (status < 0) {
    status = SL_EXIT_USAGE;
    const guint n = g_strv_length (rest);
    const gboolean described = n > 0 && sl_pipeline_is_description (rest[n - 1]);
    options.description = described ? g_strdup (rest[n - 1]) : NULL;
    options.model.settings.model = n > (described ? 1 : 0) ? g_strdup (rest[0]) : NULL;
    if (n == 0 || n > (described ? 2 : 1))
      sl_options_usage (
        "calibrate",
        "expected one MODEL, one FILE.pipeline, or both in this order, got %u arguments", n);
    else if (options.output == NULL || (options.camera == NULL && !described))
      sl_options_usage ("calibrate", "%s is required",
                        options.output == NULL ? "--output FILE"
                                               : "--camera SOURCE, or a FILE.pipeline,");
    else if (options.set.set != NULL && !described)
      sl_options_usage ("calibrate",
                        "--set: there is no FILE.pipeline whose parameters it could be for");
    else if (check (&options))
      status = run (&options);
  }
  sl_options_clear (entries);
  sl_model_options_clear (&options.model);
  sl_run_options_clear (&options.set);
  g_free (options.description);
  return status;
}

const SlCommand sl_command_calibrate = { "calibrate",
                                         "quantise a float model to 8 bits, with a camera",
                                         run_calibrate };
