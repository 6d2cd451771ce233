/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline predict`: pictures, videos and URIs through a model. The model is loaded before the first source is
 * touched; a source that fails is reported and the rest goes on.
 */
#include <gst/gst.h>
#include <gst/video/video.h>
#include <math.h>

#include "core/error.h"
#include "plugins/elements.h"
#include "postprocess/result.h"
#include "tools/command.h"
#include "tools/draw.h"
#include "tools/frames.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/predictor.h"
#include "tools/progress.h"
#include "tools/report.h"

typedef struct
{
  SlModelOptions model;
  char *threshold_text, *top_text, *filter, *draw;
  double threshold; /* NAN = not given */
  guint top;        /* 0 = not given */
  gboolean json;
} Options;

static gboolean
is_moving (GstSample *frame)
{
  GstVideoInfo info;
  return gst_video_info_from_caps (&info, gst_sample_get_caps (frame)) && GST_VIDEO_INFO_FPS_N (&info) > 0;
}

/* What one run of the program works with. */
typedef struct
{
  SlFramePredictor *predictor;
  SlDrawer *drawer; /* (nullable) */
  SlReport report;
} Run;

/* Every frame of an open source; FALSE with @error set when it ends early for a reason other than Ctrl-C. */
static gboolean
predict_frames (Run *run, SlFrames *frames, const char *source, GError **error)
{
  GError *problem = NULL;
  SlProgress progress;
  GstSample *frame;
  SlPrediction prediction = { .source = source };
  sl_progress_start (&progress);
  while (problem == NULL && (frame = sl_frames_next (frames, &problem)) != NULL) {
    if (sl_frame_predictor_run (run->predictor, frame, &prediction, &problem)) {
      sl_progress_hide (&progress);
      sl_report_frame (&run->report, &prediction, is_moving (frame));
      if (run->drawer != NULL)
        sl_drawer_write (run->drawer, sl_frame_predictor_result (run->predictor), &problem);
      if (sl_progress_due (&progress))
        sl_progress_show (&progress, source, prediction.timestamp, sl_frames_duration (frames));
      prediction.frame++;
    }
    gst_sample_unref (frame);
  }
  sl_progress_hide (&progress);
  sl_report_end (&run->report, prediction.frame);
  if (problem == NULL)
    return TRUE;
  g_propagate_error (error, problem);
  return FALSE;
}

static gboolean
predict_source (Run *run, const char *source, GError **error)
{
  g_autoptr (GstCaps) caps = sl_frame_predictor_caps (run->predictor);
  g_autoptr (SlFrames) frames = sl_frames_open (source, caps, error);
  return frames != NULL && predict_frames (run, frames, source, error);
}

static int
predict (const Options *options, char **sources)
{
  const SlFramePredictorOptions how = { &options->model, options->threshold, options->top, options->filter };
  g_autoptr (GError) bad_model = NULL;
  int status = SL_EXIT_OK;
  gst_init (NULL, NULL);
  sl_elements_register_static ();
  sl_interrupt_catch ();
  g_autoptr (SlFramePredictor) predictor = sl_frame_predictor_new (&how, &bad_model);
  g_autoptr (SlDrawer) drawer = predictor != NULL && options->draw != NULL ? sl_drawer_new (options->draw, &bad_model) : NULL;
  Run run = { predictor, drawer, { .json = options->json } };
  if (bad_model != NULL) {
    sl_complain ("predict", "%s", bad_model->message);
    return SL_EXIT_FAILED;
  }
  for (guint i = 0; sources[i] != NULL && !sl_interrupted (); i++) {
    g_autoptr (GError) error = NULL;
    if (!predict_source (&run, sources[i], &error)) {
      sl_complain ("predict", "%s: %s", sources[i], error->message);
      status = SL_EXIT_FAILED;
    }
  }
  sl_report_clear (&run.report);
  return sl_interrupted () ? SL_EXIT_INTERRUPTED : status;
}

static int
check_and_predict (Options *options, char **sources)
{
  const char *filters[] = { "nearest", "bilinear", "area", "auto", NULL };
  g_autoptr (GError) bad_path = NULL;
  options->threshold = NAN;
  if (sources[0] == NULL)
    return sl_options_usage ("predict", "expected at least one SOURCE: a picture, a video or a URI");
  if (!sl_model_options_check ("predict", &options->model)
      || !sl_options_integer ("predict", "--top", options->top_text, 1, SL_MAX_RESULTS, &options->top)
      || !sl_options_choice ("predict", "--filter", &options->filter, filters)
      || !sl_options_fraction ("predict", "--threshold", options->threshold_text, &options->threshold))
    return SL_EXIT_USAGE;
  if (options->draw != NULL && !sl_drawer_check (options->draw, &bad_path)) {
    sl_complain ("predict", "%s", bad_path->message);
    return g_error_matches (bad_path, SL_ERROR, SL_ERROR_ARGUMENT) ? SL_EXIT_USAGE : SL_EXIT_FAILED;
  }
  return predict (options, sources);
}

static int
run_predict (int argc, char **argv)
{
  Options options = { 0 };
  g_auto (GStrv) rest = NULL;
  const GOptionEntry entries[] = {
    { "model", 'm', 0, G_OPTION_ARG_FILENAME, &options.model.model, "The model (default: the finder of codes that comes with Sightline)",
      "FILE" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print a JSON object a frame", NULL },
    { "threshold", 0, 0, G_OPTION_ARG_STRING, &options.threshold_text, "Lowest confidence shown, 0..1", "X" },
    { "top", 'k', 0, G_OPTION_ARG_STRING, &options.top_text,
      "Most results shown for a frame, 1..1000 (default: 100 boxes; 1 label, 5 with --threshold)", "K" },
    { "draw", 'd', 0, G_OPTION_ARG_FILENAME, &options.draw,
      "Write each frame with its results drawn on it as a PNG picture: FILE, then FILE with -2, -3, ... before its extension", "FILE" },
    { "filter", 0, 0, G_OPTION_ARG_STRING, &options.filter,
      "How pictures are resized: nearest, bilinear, area, or auto (default): area when reducing beyond 2", "FILTER" },
    { "threads", 't', 0, G_OPTION_ARG_STRING, &options.model.threads_text, "Threads to compute with, 1..64 or auto (default 1)", "N" },
    { NULL },
  };
  g_autofree GOptionEntry *more = sl_model_options_entries (&options.model);
  int status = sl_options_parse ("predict", "SOURCE...", "Says what a model sees in pictures, videos and URIs.", NULL, argc, argv, entries,
                                 more, &rest);
  if (status < 0)
    status = check_and_predict (&options, rest);
  sl_model_options_clear (&options.model);
  g_free (options.threshold_text);
  g_free (options.top_text);
  g_free (options.filter);
  g_free (options.draw);
  return status;
}

const SlCommand sl_command_predict = { "predict", "say what a model sees in pictures and videos", run_predict };
