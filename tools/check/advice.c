/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Advice from what a pipeline is made of, before anything is opened. A rule is a function of one
 * element; the table says of which.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/runtime/session.h"
#include "models/backend.h"
#include "models/model.h"
#include "models/replay/recorder.h"
#include "pipelines/description/element_names.h"
#include "plugins/camera/unused.h"
#include "plugins/camera/uri.h"
#include "plugins/tensor/embedder.h"
#include "plugins/tensor/setting_properties.h"
#include "predict/opendecoding.h"
#include "tools/check/findings.h"
#include "tools/contract_preview.h"

static gboolean
is_converter (GstElement *element)
{
  return sl_check_is (element, "videoconvert") || sl_check_is (element, "videoscale")
         || sl_check_is (element, "videoconvertscale");
}

/* What stands between the source and slnormalize that slnormalize does itself. */
static void
advise_converter (GstElement *element, GArray *findings)
{
  GstElement *source = sl_check_upstream (element, TRUE);
  while (source != NULL && is_converter (source)) {
    sl_findings_add (
      findings, SL_FINDING_ADVICE, GST_OBJECT_NAME (source),
      "unnecessary before %s, which reads YUV, RGB and gray of any size in one pass; without it a "
      "copy of each frame is saved",
      GST_OBJECT_NAME (element));
    sl_check_go_up (&source, TRUE);
  }
  GstElement *camera = source != NULL ? sl_check_upstream (source, TRUE) : NULL;
  if (camera != NULL && sl_check_is (source, "jpegdec") && sl_check_is (camera, "v4l2src"))
    sl_findings_add (
      findings, SL_FINDING_ADVICE, GST_OBJECT_NAME (source),
      "decoding JPEG often costs more than the model; where %s gives YUV (video/x-raw in place of "
      "image/jpeg) take that",
      GST_OBJECT_NAME (camera));
  gst_clear_object (&camera);
  gst_clear_object (&source);
}

/* (transfer full): the inputs that come from other branches of the pipeline, as slinfer states
 * them. */
static char *
handed_inputs (GstElement *infer)
{
  guint64 number;
  GString *text = g_string_new (NULL);
  for (GList *pad = infer->sinkpads; pad != NULL; pad = pad->next)
    if (g_str_has_prefix (GST_PAD_NAME (pad->data), "input_")
        && g_ascii_string_to_unsigned (GST_PAD_NAME (pad->data) + strlen ("input_"), 10, 0,
                                       SL_MAX_IO - 1, &number, NULL))
      g_string_append_printf (text, "%s#%" G_GUINT64_FORMAT, text->len > 0 ? "," : "", number);
  return g_string_free (text, FALSE);
}

SlModel *
sl_check_load (GstElement *infer, const char *backend, GError **error)
{
  g_auto (SlModelSettings) settings = { 0 };
  sl_setting_properties_read (G_OBJECT (infer), &settings);
  SlModelLoadOptions how = sl_model_load_options (&settings);
  g_autofree char *handed = handed_inputs (infer);
  how.handed_inputs = handed;
  how.any_backend = backend == NULL;
  if (backend != NULL) {
    const gboolean ours = strcmp (backend, SL_BACKEND_OURS) == 0;
    how.threads = 1;
    how.backend = ours ? (SlBackendSettings){ .precision = settings.precision }
                       : (SlBackendSettings){ .backend = backend,
                                              .provider = settings.provider,
                                              .options = settings.provider_options,
                                              .delegate = settings.delegate,
                                              .provider_library = settings.provider_library,
                                              .device = settings.device };
  }
  return sl_model_load_with (settings.model, &settings, &how, error);
}

/* slnormalize in front of slinfer, slpostprocess behind it. */
/* Names of @decoding's classes, for lists of classes elsewhere in the pipeline. */
static void
keep_classes (GstElement *element, const SlContract *contract, const SlDecoding *decoding)
{
  g_autoptr (GPtrArray) names = sl_decoding_class_names (decoding, contract->labels);
  GPtrArray *copy = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < names->len; i++)
    g_ptr_array_add (copy, g_strdup (names->pdata[i]));
  g_object_set_data_full (G_OBJECT (element), SL_CHECK_CLASSES, copy,
                          (GDestroyNotify) g_ptr_array_unref);
}

/* Whether black boxes can be written, of which a start says that they cannot in a warning. */
static void
check_black_box (GstElement *element, const char *name, SlModel *model, GArray *findings)
{
  g_autofree char *folder = NULL, *shape = NULL, *notice = NULL;
  g_autoptr (GError) error = NULL;
  gint limit;
  g_object_get (element, "black-box", &folder, "black-box-limit", &limit, "input-shape", &shape,
                NULL);
  if (folder == NULL || *folder == '\0')
    return;
  const SlRecorderSettings how = { .folder = folder, .limit = (guint64) limit << 20 };
  g_autoptr (SlSession) session = sl_model_session_new (model, 1, &notice, &error);
  if (session == NULL || !sl_recorder_check (model, session, shape, &how, &error))
    sl_findings_add (findings, SL_FINDING_PROBLEM, name, "%s", error->message);
}

static void
check_model (GstElement *element, GArray *findings)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *threads_text = NULL;
  guint threads = 1;
  g_object_get (element, "threads", &threads_text, NULL);
  g_autofree char *name = sl_model_element_name (element);
  g_autoptr (SlModel) model = sl_check_load (element, NULL, &error);
  if (model == NULL) {
    sl_findings_add (findings, SL_FINDING_PROBLEM, name, "%s", error->message);
    return;
  }
  g_autofree char *summary = sl_contract_summary (sl_model_contract (model));
  sl_findings_add (findings, SL_FINDING_FACT, name, "%s: %s", sl_model_path (model), summary);
  g_autoptr (SlDecoding) decoding = sl_contract_open_decoding (sl_model_contract (model), &error);
  if (decoding == NULL)
    sl_findings_add (findings, SL_FINDING_ADVICE, name, "%s", error->message);
  else
    keep_classes (element, sl_model_contract (model), decoding);
  check_black_box (element, name, model, findings);
  if (threads_text != NULL && !sl_threads_parse (threads_text, &threads))
    sl_findings_add (findings, SL_FINDING_PROBLEM, name,
                     "threads=%s: expected " SL_THREADS_EXPECTED, threads_text);
  if (threads > g_get_num_processors ())
    sl_findings_add (
      findings, SL_FINDING_ADVICE, name,
      "threads=%u on %u processors: more threads than processors make each frame slower", threads,
      g_get_num_processors ());
}

/* The model that a tracker tells objects apart by. */
static void
check_appearance (GstElement *element, GArray *findings)
{
  g_autofree char *model = NULL, *settings = NULL;
  g_autoptr (GError) error = NULL;
  g_object_get (element, "appearance", &model, "appearance-settings", &settings, NULL);
  if (model == NULL || *model == '\0')
    return;
  g_autoptr (SlEmbedder) embedder = sl_embedder_new (model, settings, 1, &error);
  char *hash = embedder != NULL ? sl_embedder_hash (embedder, &error) : NULL;
  g_object_set_data_full (G_OBJECT (element), SL_CHECK_LOOKS, hash, g_free);
  if (hash == NULL)
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element), "appearance: %s",
                     error->message);
  else
    sl_findings_add (findings, SL_FINDING_FACT, GST_OBJECT_NAME (element),
                     "%s: an embedding of %u numbers for each object in doubt",
                     sl_embedder_model (embedder), sl_embedder_length (embedder));
}

static gboolean
leads_to_model (GstElement *queue, GPtrArray *elements)
{
  for (guint i = 0; i < elements->len; i++) {
    GstElement *normalize = elements->pdata[i];
    if (!sl_check_is (normalize, "slnormalize"))
      continue;
    GstElement *at = sl_check_upstream (normalize, FALSE);
    while (at != NULL && at != queue)
      sl_check_go_up (&at, FALSE);
    if (at == queue) {
      gst_object_unref (at);
      return TRUE;
    }
  }
  return FALSE;
}

static gboolean
has_live_source (GPtrArray *elements)
{
  static const char *const cameras[] = { "v4l2src", "rtspsrc",  "libcamerasrc",
                                         "udpsrc",  "slcamera", "nvarguscamerasrc" };
  for (guint i = 0; i < elements->len; i++)
    for (guint c = 0; c < G_N_ELEMENTS (cameras); c++)
      if (sl_check_is (elements->pdata[i], cameras[c]))
        return TRUE;
  return FALSE;
}

static void
check_queue (GstElement *element, GPtrArray *elements, GArray *findings)
{
  guint buffers = 0, bytes = 0;
  guint64 time = 0;
  gint leaky = 0;
  g_object_get (element, "max-size-buffers", &buffers, "max-size-bytes", &bytes, "max-size-time",
                &time, "leaky", &leaky, NULL);
  if (buffers == 0 && bytes == 0 && time == 0)
    sl_findings_add (
      findings, SL_FINDING_ADVICE, GST_OBJECT_NAME (element),
      "unbounded: it grows until memory ends when what follows is too slow; set max-size-buffers");
  else if (leaky == 0 && sl_check_predict (element) == NULL /* which looks after its queue itself */
           && has_live_source (elements) && leads_to_model (element, elements))
    sl_findings_add (
      findings, SL_FINDING_ADVICE, GST_OBJECT_NAME (element),
      "before a model, behind a camera: when the model is too slow its frames grow old; for the "
      "newest frame always set max-size-buffers=1 max-size-bytes=0 max-size-time=0 "
      "leaky=downstream");
}

static void
check_device_file (GstElement *element, const char *device, GArray *findings)
{
  struct stat info;
  if (stat (device, &info) != 0)
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "%s: no such device; is the camera plugged in?", device);
  else if (!S_ISCHR (info.st_mode))
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "%s: expected a camera's device, got another kind of file", device);
  else if (access (device, R_OK | W_OK) != 0)
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "%s: no permission; is the user in the group video?", device);
}

static void
check_device (GstElement *element, GArray *findings)
{
  g_autofree char *device = NULL;
  g_object_get (element, "device", &device, NULL);
  if (device != NULL)
    check_device_file (element, device, findings);
}

/* An address that slcamera does not understand is refused in READY. */
static void
check_camera (GstElement *element, GArray *findings)
{
  g_autofree char *text = NULL;
  g_object_get (element, "uri", &text, NULL);
  g_autoptr (SlCameraUri) uri = text != NULL ? sl_camera_uri_parse (text, NULL) : NULL;
  g_autofree char *unused = uri != NULL ? sl_camera_unused (G_OBJECT (element), uri) : NULL;
  if (unused != NULL)
    sl_findings_add (findings, SL_FINDING_ADVICE, GST_OBJECT_NAME (element), "%s", unused);
  if (text == NULL)
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "no camera: set uri=v4l2:///dev/video0 or another address");
  else if (uri != NULL && uri->kind == SL_CAMERA_V4L2)
    check_device_file (element, uri->location, findings);
  else if (uri != NULL && uri->kind == SL_CAMERA_FILE && access (uri->location, R_OK) != 0)
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "%s: cannot be read; no such file, or no permission", uri->location);
}

static void
check_read (GstElement *element, GArray *findings)
{
  g_autofree char *location = NULL;
  g_object_get (element, "location", &location, NULL);
  if (location == NULL)
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "no file: set location=FILE");
  else if (access (location, R_OK) != 0)
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "%s: cannot be read; no such file, or no permission", location);
  else if (g_file_test (location, G_FILE_TEST_IS_DIR))
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "%s: is a directory; expected a file", location);
}

static void
check_written (GstElement *element, GArray *findings)
{
  g_autofree char *location = NULL;
  g_object_get (element, "location", &location, NULL);
  g_autofree char *folder = location != NULL ? g_path_get_dirname (location) : NULL;
  if (location == NULL)
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "no file: set location=FILE");
  else if (g_file_test (location, G_FILE_TEST_IS_DIR))
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "%s: is a directory; expected a file", location);
  else if (access (location, F_OK) == 0 ? access (location, W_OK) != 0
                                        : access (folder, W_OK | X_OK) != 0)
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "%s: cannot be written; no such folder, or no permission", location);
}

/* The folder of clips. */
static void
check_recorded (GstElement *element, GArray *findings)
{
  g_autofree char *location = NULL;
  g_object_get (element, "location", &location, NULL);
  if (location == NULL || *location == '\0')
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "no folder for clips: set location=FOLDER");
  else if (!g_file_test (location, G_FILE_TEST_IS_DIR) || access (location, W_OK | X_OK) != 0)
    sl_findings_add (
      findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
      "location=%s: expected a folder that this process may write into: make it, or change its "
      "owner",
      location);
}

/* Whether none of @pads is linked, though one of them is always there. */
static gboolean
are_loose (GList *pads)
{
  gboolean loose = FALSE;
  for (; pads != NULL; pads = pads->next) {
    GstPadTemplate *template = GST_PAD_PAD_TEMPLATE (pads->data);
    if (gst_pad_is_linked (pads->data))
      return FALSE;
    loose = loose || (template != NULL && GST_PAD_TEMPLATE_PRESENCE (template) == GST_PAD_ALWAYS);
  }
  return loose;
}

/* Whether pads of some element come only while it plays, so that what they will be linked to cannot
 * be seen yet. */
static gboolean
links_later (GstElement *pipeline)
{
  for (GList *link = GST_BIN_CHILDREN (pipeline); link != NULL; link = link->next)
    for (GList *pads = gst_element_get_pad_template_list (link->data); pads != NULL;
         pads = pads->next)
      if (GST_PAD_TEMPLATE_DIRECTION (pads->data) == GST_PAD_SRC
          && GST_PAD_TEMPLATE_PRESENCE (pads->data) == GST_PAD_SOMETIMES)
        return TRUE;
  return FALSE;
}

/* Elements of the launch line itself; those inside bins are their bin's concern. */
static void
check_links (GstElement *pipeline, GArray *findings)
{
  const gboolean later = links_later (pipeline);
  for (GList *link = GST_BIN_CHILDREN (pipeline); link != NULL; link = link->next) {
    GstElement *element = link->data;
    if (are_loose (element->srcpads))
      sl_findings_add (
        findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
        "nothing is behind it, so its first frame ends the pipeline with an error; expected '! "
        "ELEMENT' and at last a sink, such as fakesink");
    if (!later && are_loose (element->sinkpads))
      sl_findings_add (
        findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
        "nothing is before it, so no frame ever comes; expected a source and '!' before it, such "
        "as videotestsrc");
  }
}

static void
check_decoded (GstElement *element, GPtrArray *elements, GArray *findings)
{
  for (guint i = 0; i < elements->len; i++)
    if (sl_check_is (elements->pdata[i], "slpostprocess"))
      return;
  sl_findings_add (
    findings, SL_FINDING_ADVICE, GST_OBJECT_NAME (element),
    "no slpostprocess in the pipeline: its tensors stay tensors; put slpostprocess behind it for "
    "labels and boxes");
}

/* Rules by factory. */
static const struct
{
  const char *factory;
  void (*check) (GstElement *, GArray *);
} rules[] = {
  { "slnormalize", advise_converter }, { "slinfer", check_model },
  { "v4l2src", check_device },         { "slcamera", check_camera },
  { "filesrc", check_read },           { "filesink", check_written },
  { "slrecord", check_recorded },      { "sltrack", check_appearance },
};

void
sl_check_advise (GstElement *pipeline, GArray *findings)
{
  g_autoptr (GPtrArray) elements = sl_check_elements (pipeline);
  check_links (pipeline, findings);
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = elements->pdata[i];
    for (guint r = 0; r < G_N_ELEMENTS (rules); r++)
      if (sl_check_is (element, rules[r].factory))
        rules[r].check (element, findings);
    if (sl_check_settings (element, findings) && sl_check_is (element, "slgallery"))
      sl_check_gallery (element, findings);
    if (sl_check_is (element, "queue"))
      check_queue (element, elements, findings);
    if (sl_check_is (element, "slinfer"))
      check_decoded (element, elements, findings);
  }
  sl_check_order (elements, findings);
}
