/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline predict`: pictures, videos, cameras and URIs through a model, from the command line or
 * a list. The model is loaded before the first source is touched; a source that fails is reported
 * and the rest goes on. Sources are decoded in another process (decoder_client.h), which is forked
 * before anything else is done.
 */
#include <gst/gst.h>
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "plugins/elements.h"
#include "plugins/video/tiles.h"
#include "postprocess/predictions/class_filter.h"
#include "postprocess/result.h"
#include "tools/command.h"
#include "tools/predict/drawing.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/predict/inputs.h"
#include "tools/predict/listing.h"
#include "tools/predict/output.h"
#include "tools/predict/decoder_client.h"
#include "tools/predict/spawner.h"
#include "tools/predict/model_pipeline.h"
#include "tools/predict/printing.h"
#include "tools/predict/rows.h"

/* After the first signal; a video that is being drawn is finished in it. */
#define PATIENCE_MS 1700
#define DEFAULT_TIMEOUT 10
#define MAX_TIMEOUT 86400

typedef struct
{
  SlModelOptions model;
  char *threshold_text, *top_text, *filter, *classes, *draw, *redact, *timeout_text, *frames_text,
    *gallery, *tiles, *style, *style_model, *text, *text_formats, *format_text, *output, *list,
    *shard_text;
  double threshold; /* NAN = not given */
  guint top;        /* 0 = not given */
  guint timeout;    /* seconds, 0 = for ever */
  guint frames;     /* 0 = all */
  SlReportFormat format;
  SlShard shard;
  gboolean json, read, no_read, resume, recursive;
} Options;

#define SOURCES                                                                           \
  "SOURCE is a picture, a video, a folder (its pictures; --recursive: also those of its " \
  "sub-folders), a camera (/dev/video0,\n"                                                \
  "rtsp://HOST/PATH, test://, http:// with MJPEG) or another URI."

static gboolean
is_moving (GstSample *frame)
{
  GstVideoInfo info;
  return gst_video_info_from_caps (&info, gst_sample_get_caps (frame))
         && GST_VIDEO_INFO_FPS_N (&info) > 0;
}

/* What one run of the program works with. */
typedef struct
{
  SlFramePredictor *predictor;
  SlDecoderClient *frames;
  const SlShard *shard;
  gboolean recursive;
  GPtrArray *inputs; /* (element-type SlInput): of the command line, or of a line of the list */
  SlListing *list;   /* (nullable): in place of the command line's */
  SlOutput *output;  /* (nullable): in place of standard output */
  SlDrawer *drawer;  /* (nullable) */
  SlReport report;
  gboolean headed; /* the heading of CSV is printed */
  guint left;      /* frames until the end, 0 = no end */
  SlProgress progress;
  guint64 sources; /* that are done */
  gboolean done;
} Run;

/* The next picture must not take the place of a source. */
static gboolean
check_place (Run *run, GError **error)
{
  g_autofree char *path = sl_drawer_next_path (run->drawer);
  const SlInput *input = sl_inputs_find_file (run->inputs, path);
  if (input == NULL)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "--draw %s: the source %s would be lost; draw to another name", path,
                  input->name);
}

static void
print_heading (Run *run)
{
  if (run->output == NULL && !run->headed && run->report.format == SL_REPORT_CSV)
    fputs (SL_ROWS_HEADING, stdout);
  run->headed = TRUE;
}

static gboolean
predict_frame (Run *run, GstSample *frame, const SlInput *input, SlPredictionView *prediction,
               GError **error)
{
  const gboolean moving = input->kind == SL_INPUT_CAMERA || is_moving (frame);
  if (run->output != NULL && (moving || prediction->frame > 0))
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "--output is for pictures, and this is a video or a camera: predict it to standard output, "
      "without --output");
  if (!sl_frame_predictor_run (run->predictor, frame, prediction, error))
    return FALSE;
  sl_progress_hide ();
  print_heading (run);
  if (!sl_report_frame (&run->report, prediction, moving, error))
    return FALSE;
  prediction->frame++;
  run->done = run->left > 0 && --run->left == 0;
  if (run->drawer == NULL)
    return TRUE;
  return check_place (run, error)
         && sl_drawer_write (run->drawer, sl_frame_predictor_result (run->predictor), moving,
                             error);
}

/* The name that is written to a file. Two inputs must not share a name there, so a name that is not
 * a line of text is written as its URI. */
static const char *
written_name (const Run *run, const SlInput *input)
{
  gboolean plain = g_utf8_validate (input->name, -1, NULL);
  for (const char *c = input->name; plain && *c != '\0'; c++)
    plain = (guchar) *c >= ' ';
  return run->output == NULL || plain || input->uri == NULL ? input->name : input->uri;
}

/* Every frame of an open source; FALSE with @error set when it ends early for a reason other than
 * Ctrl-C. Of one for a file, whether it has a second frame is looked at whatever --frames says:
 * only a picture is written. */
static gboolean
predict_frames (Run *run, const SlInput *input, GError **error)
{
  GError *problem = NULL;
  SlProgress progress;
  GstSample *frame;
  SlPredictionView prediction = { .source = written_name (run, input) };
  sl_progress_start (&progress, input->name, "frames", 0);
  while (problem == NULL && (!run->done || run->output != NULL)
         && (frame = sl_decoder_client_next (run->frames, &problem)) != NULL) {
    if (predict_frame (run, frame, input, &prediction, &problem))
      sl_progress_show_share (
        &progress, prediction.frame,
        sl_progress_share (prediction.timestamp, sl_decoder_client_duration (run->frames)));
    gst_sample_unref (frame);
  }
  sl_progress_hide ();
  sl_report_end (&run->report, prediction.frame);
  if (problem == NULL)
    return TRUE;
  g_propagate_error (error, problem);
  return FALSE;
}

static gboolean
predict_input (Run *run, const SlInput *input, GError **error)
{
  if (!sl_decoder_client_open (run->frames, input, error))
    return error == NULL || *error == NULL;
  sl_frame_predictor_begin (run->predictor);
  if (run->drawer != NULL)
    sl_drawer_next_source (run->drawer);
  const gboolean good = predict_frames (run, input, error);
  sl_decoder_client_close (run->frames);
  return good;
}

/* The first frame of --style is what the style model looks at. */
static gboolean
take_style (Run *run, const char *path, GError **error)
{
  const char *arguments[] = { path, NULL };
  g_autoptr (GPtrArray) styles = sl_inputs_new ((char **) arguments, FALSE);
  g_autoptr (GError) problem = NULL;
  g_autoptr (GstSample) picture = NULL;
  if (sl_decoder_client_open (run->frames, styles->pdata[0], &problem)) {
    picture = sl_decoder_client_next (run->frames, &problem);
    sl_decoder_client_close (run->frames);
  }
  if (picture != NULL) {
    sl_frame_predictor_set_style (run->predictor, picture);
    return TRUE;
  }
  if (!sl_interrupted ())
    sl_fail (error, SL_ERROR_OPEN, "--style %s: %s", path,
             problem != NULL ? problem->message : "expected a picture, got nothing");
  return FALSE;
}

/* The frames of a source for a file are held back until it ended: then it is a picture, and all of
 * it is there. */
static gboolean
write_input (Run *run, const SlInput *input, GError **error)
{
  char *text = NULL;
  size_t bytes = 0;
  run->report.out = open_memstream (&text, &bytes);
  g_assert (run->report.out != NULL); /* memory */
  gboolean good = predict_input (run, input, error);
  fclose (run->report.out);
  if (good && !sl_interrupted () && bytes > 0) {
    good = sl_output_write (run->output, written_name (run, input), input->uri, text, bytes, error);
    run->done |= !good;
  }
  free (text);
  return good;
}

/* Whether @input is to be predicted: not one that is another's share, or is in the output already.
 */
static gboolean
is_due (Run *run, const SlInput *input, GError **error)
{
  if (!sl_shard_has (run->shard, written_name (run, input)))
    return FALSE;
  const SlOutputState state = run->output != NULL
                                ? sl_output_look_up (run->output, written_name (run, input),
                                                     input->uri != NULL ? input->uri : input->name)
                                : SL_OUTPUT_DUE;
  if (state == SL_OUTPUT_TAKEN)
    sl_fail (
      error, SL_ERROR_ARGUMENT,
      "--output has another source under this name, which differs in what is not shown: give each "
      "an --output of its own");
  return state == SL_OUTPUT_DUE;
}

static int
predict_if_due (Run *run, const SlInput *input)
{
  g_autoptr (GError) error = NULL;
  if (is_due (run, input, &error))
    (run->output != NULL ? write_input : predict_input) (run, input, &error);
  if (error == NULL)
    return SL_EXIT_OK;
  return sl_complain ("predict", "%s: %s", input->name, error->message);
}

static int
predict_inputs (Run *run)
{
  int status = SL_EXIT_OK;
  for (guint i = 0; i < run->inputs->len && !run->done && !sl_interrupted (); i++) {
    if (predict_if_due (run, run->inputs->pdata[i]) != SL_EXIT_OK)
      status = SL_EXIT_FAILED;
    sl_progress_show (&run->progress, ++run->sources);
  }
  return status;
}

static int
predict_list (Run *run)
{
  int status = SL_EXIT_OK;
  g_autoptr (GError) error = NULL;
  const char *line;
  while (!run->done && !sl_interrupted () && (line = sl_listing_next (run->list, &error)) != NULL) {
    char *arguments[] = { (char *) line, NULL };
    run->inputs = sl_inputs_new (arguments, run->recursive);
    if (predict_inputs (run) != SL_EXIT_OK)
      status = SL_EXIT_FAILED;
    g_clear_pointer (&run->inputs, g_ptr_array_unref);
  }
  if (error == NULL)
    return status;
  return sl_complain ("predict", "%s", error->message);
}

static int
finish_drawing (SlDrawer *drawer, int status)
{
  g_autoptr (GError) error = NULL;
  if (drawer == NULL || sl_drawer_finish (drawer, &error))
    return status;
  return sl_complain ("predict", "%s", error->message);
}

/* Without a picture, as in a share that has none, CSV is its heading. */
static int
finish_table (Run *run, int status)
{
  g_autoptr (GError) error = NULL;
  if (status != SL_EXIT_OK || sl_interrupted ())
    return status;
  print_heading (run);
  if (run->output == NULL || sl_output_begin (run->output, &error))
    return SL_EXIT_OK;
  return sl_complain ("predict", "%s", error->message);
}

static void
tell_note (const char *name, const char *text)
{
  sl_complain ("predict", "%s: %s", name, text);
}

/* The finder of codes that comes with Sightline has them read where that is possible. */
static SlReading
choose_reading (const Options *options)
{
  if (options->redact != NULL) /* codes that cannot be read would stay visible */
    return SL_READING_NO;
  if (options->read)
    return SL_READING_YES;
  return options->model.settings.model == NULL && !options->no_read ? SL_READING_IF_FOUND
                                                                    : SL_READING_NO;
}

/* Before the model, which takes longer. */
static gboolean
open_files (const Options *options, Run *run, GError **error)
{
  if (options->list != NULL && (run->list = sl_listing_open (options->list, error)) == NULL)
    return FALSE;
  if (options->output == NULL)
    return TRUE;
  run->output = sl_output_open (options->output, options->format, options->resume, error);
  if (run->output == NULL)
    return FALSE;
  if (options->resume)
    sl_complain ("predict", "%s: %" G_GUINT64_FORMAT " pictures are done", options->output,
                 sl_output_resumed (run->output));
  return TRUE;
}

static int
close_files (Run *run, int status)
{
  g_autoptr (GError) error = NULL;
  sl_listing_free (run->list);
  if (sl_output_close (run->output, &error))
    return status;
  return sl_complain ("predict", "%s", error->message);
}

static int
load_and_predict (const Options *options, SlSpawner *spawner, Run *run)
{
  const SlFramePredictorOptions how = { &options->model,
                                        options->threshold,
                                        options->top,
                                        options->filter,
                                        options->classes,
                                        options->redact,
                                        choose_reading (options),
                                        options->tiles,
                                        options->style_model,
                                        options->text,
                                        options->text_formats };
  g_autoptr (GError) bad_model = NULL;
  g_autoptr (SlDecoderClient) frames =
    sl_decoder_client_new (spawner, options->timeout, " (--timeout)", tell_note);
  sl_decoder_client_prepare (frames);
  g_autoptr (SlFramePredictor) predictor = sl_frame_predictor_new (&how, &bad_model);
  g_autoptr (SlDrawer) drawer = predictor != NULL && options->draw != NULL
                                  ? sl_drawer_new (options->draw, options->redact, &bad_model)
                                  : NULL;
  if (bad_model != NULL)
    return sl_complain ("predict", "%s", bad_model->message);
  if (options->model.settings.model == NULL)
    sl_complain (
      "predict",
      "no --model is given: looking for codes (QR, bar codes) with the model that comes with "
      "Sightline");
  if (sl_frame_predictor_note (predictor) != NULL)
    tell_note (options->model.settings.model, sl_frame_predictor_note (predictor));
  run->predictor = predictor;
  run->frames = frames;
  run->drawer = drawer;
  sl_progress_start (&run->progress, "predict", "sources",
                     run->list != NULL ? 0 : run->inputs->len);
  g_autoptr (GError) bad_style = NULL;
  int status = SL_EXIT_FAILED;
  if (options->style == NULL || take_style (run, options->style, &bad_style))
    status = run->list != NULL ? predict_list (run) : predict_inputs (run);
  sl_progress_hide ();
  if (bad_style != NULL)
    sl_complain ("predict", "%s", bad_style->message);
  status = finish_table (run, status);
  status = finish_drawing (drawer, status);
  sl_report_clear (&run->report);
  return status;
}

static int
predict (const Options *options, SlSpawner *spawner, char **arguments)
{
  g_autoptr (GPtrArray) inputs = sl_inputs_new (arguments, options->recursive);
  const SlInput *lost = options->draw != NULL ? sl_inputs_find_file (inputs, options->draw) : NULL;
  if (lost != NULL)
    return sl_options_usage ("predict",
                             "--draw %s: the source %s would be lost; draw to another name",
                             options->draw, lost->name);
  g_autoptr (GError) error = NULL;
  Run run = { .shard = &options->shard,
              .recursive = options->recursive,
              .inputs = inputs,
              .report = { .format = options->format, .out = stdout },
              .left = options->frames };
  int status = SL_EXIT_FAILED;
  if (open_files (options, &run, &error))
    status = load_and_predict (options, spawner, &run);
  else
    sl_complain ("predict", "%s", error->message);
  status = close_files (&run, status);
  return sl_interrupted () ? SL_EXIT_INTERRUPTED : status;
}

static int
start_and_predict (const Options *options, char **arguments)
{
  g_autoptr (GError) error = NULL;
  sl_interrupt_catch (PATIENCE_MS);
  g_autoptr (SlSpawner) spawner = sl_spawner_new (&error);
  if (spawner == NULL)
    return sl_complain ("predict", "%s", error->message);
  sl_elements_register_static ();
  return predict (options, spawner, arguments);
}

static int
refuse_model (const Options *options, const char *path)
{
  if (options->model.settings.model == NULL)
    return sl_options_usage ("predict", "%s is a model: did you mean --model %s?", path, path);
  return sl_options_usage ("predict",
                           "%s is a model, beside --model %s; expected a picture, a video or a URI",
                           path, options->model.settings.model);
}

/* --json is --format=json. */
static int
choose_format (Options *options)
{
  const char *formats[] = { "table", "json", "csv", NULL };
  if (!sl_options_choice ("predict", "--format", &options->format_text, formats))
    return SL_EXIT_USAGE;
  const char *format = options->format_text != NULL ? options->format_text
                       : options->json              ? "json"
                                                    : "table";
  if (options->json && strcmp (format, "json") != 0)
    return sl_options_usage ("predict", "--json and --format=%s: expected one of them", format);
  options->format = strcmp (format, "json") == 0  ? SL_REPORT_JSON
                    : strcmp (format, "csv") == 0 ? SL_REPORT_CSV
                                                  : SL_REPORT_TABLE;
  if (options->resume && options->output == NULL)
    return sl_options_usage ("predict",
                             "--resume needs --output FILE, whose lines say what is done");
  if (options->output != NULL && options->format == SL_REPORT_TABLE)
    return sl_options_usage ("predict", "--output needs --format=json or --format=csv");
  return SL_EXIT_OK;
}

static int
check_sources (Options *options, char **arguments)
{
  g_autoptr (GError) bad_shard = NULL;
  if (!sl_shard_parse (&options->shard, options->shard_text, &bad_shard))
    return sl_options_usage ("predict", "%s", bad_shard->message);
  if (options->list == NULL && arguments[0] == NULL)
    return sl_options_usage ("predict",
                             "expected at least one SOURCE: a picture, a video or a URI");
  if (options->list != NULL && arguments[0] != NULL)
    return sl_options_usage ("predict", "--list %s and the source %s: expected one of them",
                             options->list, arguments[0]);
  if (options->list != NULL && options->draw != NULL)
    return sl_options_usage ("predict", "--list and --draw: expected one of them");
  return SL_EXIT_OK;
}

/* A gallery is a parameter of decoder "vector". */
static void
choose_gallery (Options *options)
{
  if (options->gallery == NULL)
    return;
  const char *decoder = options->model.settings.decoder;
  g_autofree char *text =
    g_strdup_printf ("%s,gallery=%s", decoder != NULL ? decoder : "vector", options->gallery);
  sl_setting_set (sl_setting_find ("decoder"), &options->model.settings, text);
}

static int
check_and_predict (Options *options, char **arguments)
{
  const char *filters[] = { "nearest", "bilinear", "area", "auto", NULL };
  g_autoptr (GError) bad_path = NULL, malformed = NULL;
  g_autoptr (SlClassFilter) classes = NULL, hidden = NULL;
  guint columns, rows;
  options->threshold = NAN;
  options->timeout = DEFAULT_TIMEOUT;
  choose_gallery (options);
  if (options->read && options->no_read)
    return sl_options_usage ("predict", "--read and --no-read: expected one of them");
  if ((options->style == NULL) != (options->style_model == NULL))
    return sl_options_usage (
      "predict",
      "--style PICTURE and --style-model FILE: expected both, the picture and the model that makes "
      "its style a tensor");
  if (options->text_formats != NULL && options->text == NULL)
    return sl_options_usage ("predict",
                             "--text-formats %s: expected --text MODEL, too, which reads the texts",
                             options->text_formats);
  if (options->text != NULL && options->model.settings.model == NULL)
    return sl_options_usage (
      "predict", "--text %s: expected --model FILE, too, which finds what is read, such as plates",
      options->text);
  if (options->redact != NULL && options->draw == NULL)
    return sl_options_usage (
      "predict", "--redact '%s': expected --draw FILE, too, for hidden pictures", options->redact);
  if (options->redact != NULL && (options->classes != NULL || options->top_text != NULL))
    return sl_options_usage (
      "predict", "--redact and --%s: expected one of them: objects that are left out stay visible",
      options->classes != NULL ? "classes" : "top");
  int status = check_sources (options, arguments);
  if (status == SL_EXIT_OK)
    status = choose_format (options);
  if (status != SL_EXIT_OK)
    return status;
  if (!sl_model_options_check ("predict", &options->model)
      || !sl_options_integer ("predict", "--top", options->top_text, 1, SL_MAX_RESULTS,
                              &options->top)
      || !sl_options_integer ("predict", "--timeout", options->timeout_text, 0, MAX_TIMEOUT,
                              &options->timeout)
      || !sl_options_integer ("predict", "--frames", options->frames_text, 1, G_MAXINT,
                              &options->frames)
      || !sl_options_choice ("predict", "--filter", &options->filter, filters)
      || !sl_options_fraction ("predict", "--threshold", options->threshold_text,
                               &options->threshold))
    return SL_EXIT_USAGE;
  if (!sl_class_filter_parse (options->redact, &hidden, &malformed))
    return sl_options_usage ("predict", "--redact: %s", malformed->message);
  if (!sl_class_filter_parse (options->classes, &classes, &malformed)
      || !sl_tiles_parse (options->tiles, &columns, &rows, &malformed))
    return sl_options_usage ("predict", "--%s", malformed->message);
  if (options->draw != NULL && !sl_drawer_check (options->draw, &bad_path)) {
    sl_complain ("predict", "%s", bad_path->message);
    return g_error_matches (bad_path, SL_ERROR, SL_ERROR_ARGUMENT) ? SL_EXIT_USAGE : SL_EXIT_FAILED;
  }
  const char *model = sl_inputs_find_model (arguments);
  return model != NULL ? refuse_model (options, model) : start_and_predict (options, arguments);
}

static int
run_predict (int argc, char **argv)
{
  Options options = { 0 };
  g_auto (GStrv) rest = NULL;
  const GOptionEntry entries[] = {
    { "model", 'm', 0, G_OPTION_ARG_FILENAME, &options.model.settings.model,
      "The model (default: the finder of codes that comes with Sightline)", "FILE" },
    { "json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "Print a JSON object for each frame",
      NULL },
    { "format", 0, 0, G_OPTION_ARG_STRING, &options.format_text,
      "Output format: table (default); json, an object for each frame; csv, a row for each object",
      "FORMAT" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output,
      "Write JSON or CSV of pictures, each once, to this file", "FILE" },
    { "resume", 0, 0, G_OPTION_ARG_NONE, &options.resume,
      "Continue the file of --output: pictures that it has are skipped", NULL },
    { "recursive", 0, 0, G_OPTION_ARG_NONE, &options.recursive,
      "Take the pictures of sub-folders too", NULL },
    { "list", 0, 0, G_OPTION_ARG_FILENAME, &options.list,
      "Take sources from this file, one a line; - is standard input", "FILE" },
    { "shard", 0, 0, G_OPTION_ARG_STRING, &options.shard_text,
      "Do the I-th of N shares of the sources, 1/N to N/N, chosen by a hash of their names",
      "I/N" },
    { "threshold", 0, 0, G_OPTION_ARG_STRING, &options.threshold_text,
      "Least confidence shown, 0..1", "X" },
    { "top", 'k', 0, G_OPTION_ARG_STRING, &options.top_text,
      "Most results shown for a frame, 1..1000 (default: 100 boxes; 1 label, 5 with --threshold)",
      "K" },
    { "classes", 0, 0, G_OPTION_ARG_STRING, &options.classes,
      "Show these classes alone: person,car; or all but some: !dog", "NAMES" },
    { "gallery", 0, 0, G_OPTION_ARG_FILENAME, &options.gallery,
      "Name each embedding by the most similar entry of this file", "FILE" },
    { "draw", 'd', 0, G_OPTION_ARG_FILENAME, &options.draw,
      "Write each frame with its results drawn on it: FILE.png or FILE.jpg, then FILE-2.png, ...; "
      "all frames as one video: FILE.mp4",
      "FILE" },
    { "redact", 0, 0, G_OPTION_ARG_STRING, &options.redact,
      "With --draw: hide objects of these classes, and draw nothing: face,person; or all but some: "
      "!dog; all objects: ''",
      "NAMES" },
    { "tiles", 0, 0, G_OPTION_ARG_STRING, &options.tiles,
      "Run the model on overlapping tiles, too, to find small objects: 2x2, ..., 8x8 (2x2: five "
      "times the model's time)",
      "CxR" },
    { "read", 0, 0, G_OPTION_ARG_NONE, &options.read,
      "Read the text of codes that the model finds (default without --model)", NULL },
    { "no-read", 0, 0, G_OPTION_ARG_NONE, &options.no_read, "Do not read codes", NULL },
    { "text", 0, 0, G_OPTION_ARG_FILENAME, &options.text,
      "Read a text on each object that --model finds, with this model, such as zoo:ppocr_read",
      "MODEL" },
    { "text-formats", 0, 0, G_OPTION_ARG_FILENAME, &options.text_formats,
      "Correct texts of --text by the formats of this file, such as plates.formats", "FILE" },
    { "style", 0, 0, G_OPTION_ARG_FILENAME, &options.style,
      "Picture whose style the model applies to others, with --style-model", "PICTURE" },
    { "style-model", 0, 0, G_OPTION_ARG_FILENAME, &options.style_model,
      "Model that makes input 1 of --model from --style", "FILE" },
    { "filter", 0, 0, G_OPTION_ARG_STRING, &options.filter,
      "How pictures are resized: nearest, bilinear, area, or auto (default): area when reducing "
      "beyond 2",
      "FILTER" },
    { "frames", 'n', 0, G_OPTION_ARG_STRING, &options.frames_text, "Stop after N frames", "N" },
    { "timeout", 0, 0, G_OPTION_ARG_STRING, &options.timeout_text,
      "Give up a source after so long without progress of its decoder, 0..86400 (default 10; 0: "
      "never)",
      "SECONDS" },
    { "threads", 't', 0, G_OPTION_ARG_STRING, &options.model.settings.threads,
      "Threads to compute with, 1..64 or auto (0 = auto; default 1)", "N" },
    { NULL },
  };
  g_autofree GOptionEntry *more =
    sl_model_options_entries (&options.model, SL_SETTINGS_CONTRACT | SL_SETTINGS_LIMITS
                                                | SL_SETTINGS_BACKEND | SL_SETTINGS_WORDS);
  int status =
    sl_options_parse ("predict", "SOURCE...", "Runs a model on pictures, videos and cameras.",
                      SOURCES, argc, argv, entries, more, &rest);
  if (status < 0)
    status = check_and_predict (&options, rest);
  sl_options_clear (entries);
  sl_model_options_clear (&options.model);
  return status;
}

const SlCommand sl_command_predict = { "predict", "run a model on pictures, videos and cameras",
                                       run_predict };
