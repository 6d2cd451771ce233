/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slread: reads the codes (bar codes, QR codes) that a model found on a frame. Objects are regions
 * of interest. Objects that other elements wrote only as relations get a region first. Pixels are
 * read and not changed. The result is a structure on the object's region (meta/regions/code.h).
 *
 * An object with an id is read once, and its result is kept with the id. A frame waits for its
 * codes at most time-limit. The remaining objects are tried on the next frame, which continues
 * after the last tried object. So a slow object does not use the time of the others.
 */
#include "plugins/elements.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
#include <string.h>

#include "models/default.h"
#include "plugins/base/describe.h"
#include "plugins/meta/class_names.h"
#include "plugins/meta/map/relations.h"
#include "plugins/meta/regions/code.h"
#include "plugins/meta/regions/choose.h"
#include "plugins/meta/prediction_signal.h"
#include "plugins/meta/regions/keep.h"
#include "plugins/meta/predictions.h"
#include "plugins/meta/regions/object.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/base/settings.h"
#include "core/base/fail.h"
#include "plugins/tensor/stage_latency.h"
#include "plugins/video/frame.h"
#include "plugins/video/input.h"
#include "postprocess/read/luma.h"
#include "postprocess/read/memory.h"
#include "postprocess/read/regions.h"

GST_DEBUG_CATEGORY_STATIC (sl_read_debug);
#define GST_CAT_DEFAULT sl_read_debug

/* Objects of a frame that are tried. */
#define MAX_TRIES 256

typedef struct
{
  GstBaseTransform parent;
  gint time_limit, max_tries, retry_interval, reread_interval; /* object lock */
  gdouble unread_weight, unread_threshold;                     /* object lock */
  gboolean checked_only;                                       /* object lock */
  char *classes, *reader_name;                                 /* object lock */
  /* The rest is the streaming thread's. */
  gboolean refused, told_missing;
  GstVideoInfo video;
  SlImageInfo image;
  SlClassChoice choice; /* of classes that are read */
  SlRegionReader *regions;
  SlReadMemory *memory;
  GPtrArray *objects;  /* regions of the frame in hand */
  GPtrArray *left_out; /* regions of the frame in hand that do not count */
  guint first, next;   /* of them, by place: with which this frame and the next one begin */
  guint tried;         /* of the frame in hand */
  gboolean repeats;    /* what was tried last is a pattern that repeats itself, and not read */
  SlStageLatency latency;
  SlPredictionReader reader; /* for the signal, and objects without a region */
  guint64 frame;
  SlReadCode code; /* of the object in hand */
} SlRead;

typedef GstBaseTransformClass SlReadClass;

G_DEFINE_TYPE (SlRead, sl_read, GST_TYPE_BASE_TRANSFORM)

static guint predictions_signal;

#define CAPS "video/x-raw, format = " SL_VIDEO_INPUT_FORMATS

#define AT(member) G_STRUCT_OFFSET (SlRead, member)

static const SlProperty properties[] = {
  { "classes", "Classes",
    "Classes that are read, such as qr,linear, or with ! excluded classes; unset = all: objects of "
    "the code finder by their label, others as codes of any kind",
    SL_PROPERTY_STRING, AT (classes), 0, 0, 0, NULL, TRUE },
  { "reader", "Reader",
    "Library that reads: zbar, or zxing, which runs in a separate process; unset = both if "
    "available, each first for the codes that it reads better. Takes effect when the element "
    "starts",
    SL_PROPERTY_STRING, AT (reader_name), 0, 0, 0, NULL, FALSE },
  { "checked-only", "Only checked texts",
    "Leave out texts that neither check digits nor error correction confirm: code-39, itf, "
    "codabar, and EAN and UPC codes whose readings disagree. Such an object counts as not read, "
    "and a tracked one is tried again",
    SL_PROPERTY_BOOL, AT (checked_only), 0, 0, FALSE, NULL, TRUE },
  { "time-limit", "Time limit",
    "Most milliseconds that a frame waits for its codes; objects that were not tried by then come "
    "first in the next frame",
    SL_PROPERTY_INT, AT (time_limit), 1, 600000, 100, NULL, TRUE },
  { "max-tries", "Tries before patience",
    "After so many frames, a tracked object that was not read is tried only every retry-interval",
    SL_PROPERTY_INT, AT (max_tries), 1, 100000, 10, NULL, TRUE },
  { "retry-interval", "Interval of further tries",
    "Frames between tries after max-tries, and after a try that used most of time-limit without a "
    "result; 0 = no more tries",
    SL_PROPERTY_INT, AT (retry_interval), 0, 1000000, 30, NULL, TRUE },
  { "reread-interval", "Interval of readings",
    "Frames after which a tracked object is read again, for screens whose code changes; 0 = never",
    SL_PROPERTY_INT, AT (reread_interval), 0, 1000000, 0, NULL, TRUE },
  { "unread-weight", "Weight of what does not read",
    "Factor for the confidence of a tracked object that is large enough to read and was not read "
    "in max-tries frames, 0..1; 1 = unchanged",
    SL_PROPERTY_DOUBLE, AT (unread_weight), 0, 1, 0.8, NULL, TRUE },
  { "unread-threshold", "Threshold of what does not read",
    "Least confidence of a large qr or matrix object (64 pixels or more on its shorter side) that "
    "was not read; for stacked 0.15 less, for linear objects (128 pixels on the longer side) 0.2 "
    "less. Objects that were read always pass. Objects that are smaller, were not tried, or are of "
    "a kind that no reader here supports pass from 0.6 on. Repeating patterns that were not read, "
    "such as calibration boards, are never qr or matrix. Others are left out. 0 = all pass; "
    "slpredict sets it to 0.9 if it reads codes and neither model nor threshold is set and "
    "post-messages is off",
    SL_PROPERTY_DOUBLE, AT (unread_threshold), 0, 1, 0, NULL, TRUE },
};

/* What the properties said when the frame came. */
typedef struct
{
  SlReadPatience patience;
  gint64 limit, deadline; /* us */
  gdouble unread_weight, unread_threshold;
  gboolean checked_only;
} Settings;

static Settings
take_settings (SlRead *self)
{
  GST_OBJECT_LOCK (self);
  const gint64 limit = (gint64) self->time_limit * 1000;
  const Settings settings = { { (guint) self->max_tries, (guint) self->retry_interval,
                                (guint) self->reread_interval },
                              limit,
                              g_get_monotonic_time () + limit,
                              self->unread_weight,
                              self->unread_threshold,
                              self->checked_only };
  GST_OBJECT_UNLOCK (self);
  return settings;
}

/* (nullable): what @bytes are as a text. */
static const char *
as_text (const SlReadCode *code)
{
  const gboolean text = memchr (code->bytes, '\0', code->n_bytes) == NULL
                        && g_utf8_validate ((const char *) code->bytes, code->n_bytes, NULL);
  return text ? (const char *) code->bytes : NULL;
}

static void
attach (GstVideoRegionOfInterestMeta *region, const SlReadCode *code)
{
  SlCodeView view = { code->symbology,  as_text (code),
                      code->bytes,      code->n_bytes,
                      code->is_checked, code->quality,
                      { { 0 } },        code->add_on[0] != '\0' ? code->add_on : NULL };
  memcpy (view.corners, code->corners, sizeof view.corners);
  sl_region_set_code (region, &view);
}

/* Corners of @code from pixels of the frame to 0..1 of the box of @object. */
static void
place_in_box (SlReadCode *code, const SlObjectView *object, const SlLuma *luma)
{
  for (guint i = 0; i < 4; i++) {
    code->corners[i][0] = (code->corners[i][0] / luma->width - object->x_min)
                          / MAX (object->x_max - object->x_min, 1e-9);
    code->corners[i][1] = (code->corners[i][1] / luma->height - object->y_min)
                          / MAX (object->y_max - object->y_min, 1e-9);
  }
}

/* In pixels of the frame. */
static void
find_box (const SlObjectView *object, const SlLuma *luma, double box[4])
{
  box[0] = object->x_min * luma->width;
  box[1] = object->y_min * luma->height;
  box[2] = object->x_max * luma->width;
  box[3] = object->y_max * luma->height;
}

/* Found is with self->code filled. */
static SlScanResult
read_object (SlRead *self, const SlLuma *luma, const SlObjectView *object, guint kinds,
             const Settings *settings)
{
  double box[4];
  find_box (object, luma, box);
  SlScanResult result =
    sl_region_reader_read (self->regions, luma, box, kinds, settings->deadline, &self->code);
  if (result == SL_SCAN_FOUND && settings->checked_only && !self->code.is_checked)
    result = SL_SCAN_NOTHING;
  self->repeats = settings->unread_threshold > 0 && result == SL_SCAN_NOTHING
                  && (kinds & (SL_READ_QR | SL_READ_MATRIX)) != 0
                  && sl_region_reader_repeats (self->regions, object->confidence);
  if (result == SL_SCAN_FOUND)
    place_in_box (&self->code, object, luma);
  return result;
}

/* What can be read and never was is less likely a code; but not while a reader of its kinds does
 * not answer. */
static void
doubt (GstVideoRegionOfInterestMeta *region, const SlObjectView *object, gdouble weight)
{
  GstStructure *detection = gst_video_region_of_interest_meta_get_param (region, "detection");
  if (detection != NULL)
    gst_structure_set (detection, "confidence", G_TYPE_DOUBLE, object->confidence * weight, NULL);
}

/* From which confidence on an object counts. What reads does; what should and did not has to be
 * surer than what could not be tried. What does not read and @repeats itself never does. */
static gdouble
least_confidence (const SlObjectView *object, const SlLuma *luma, const char *label,
                  SlReadProof proof, SlScanResult result, gboolean repeats, gdouble unread)
{
  const gdouble width = (object->x_max - object->x_min) * luma->width,
                height = (object->y_max - object->y_min) * luma->height;
  if (proof != SL_READ_PROOF_READS)
    return SL_FINDER_THRESHOLD;
  if (result == SL_SCAN_FOUND)
    return 0;
  if (result != SL_SCAN_NOTHING || !sl_region_should_read (label, width, height))
    return SL_FINDER_THRESHOLD;
  if (repeats)
    return G_MAXDOUBLE;
  return MAX (unread - sl_region_unread_slack (label), MIN (unread, SL_FINDER_THRESHOLD));
}

/* @result: of reading @region, in this frame or, where it is @track's (nullable), in one before. A
 * track that counts does so for good. */
static void
judge (SlRead *self, const SlLuma *luma, GstVideoRegionOfInterestMeta *region,
       const SlObjectView *object, SlReadTrack *track, SlScanResult result,
       const Settings *settings)
{
  const char *label = sl_region_type_name (region);
  const SlReadProof proof = sl_region_reader_proof (self->regions, label);
  if (settings->unread_threshold <= 0 || proof == SL_READ_PROOF_FOREIGN
      || (track != NULL && track->counts))
    return;
  const gboolean repeats = track != NULL ? track->repeats : self->repeats;
  if (object->confidence
      < least_confidence (object, luma, label, proof, result, repeats, settings->unread_threshold))
    g_ptr_array_add (self->left_out, region);
  else if (track != NULL)
    track->counts =
      proof != SL_READ_PROOF_READS || result == SL_SCAN_FOUND || result == SL_SCAN_NOTHING;
}

/* An object that had most of a frame's time and was not done is one that takes long. Of one that
 * had only what others left nothing is known: the next frame begins with it, but not two in turn.
 */
static void
try_track (SlRead *self, const SlLuma *luma, const SlObjectView *object, guint kinds, guint place,
           SlReadTrack *track, const Settings *settings)
{
  if (!sl_region_reader_wait (self->regions, settings->deadline))
    return;
  const gint64 left = settings->deadline - g_get_monotonic_time ();
  const SlScanResult result = read_object (self, luma, object, kinds, settings);
  if (result == SL_SCAN_UNTRIED)
    return;
  self->tried++;
  self->next = place + 1;
  track->repeats = self->repeats;
  if (result != SL_SCAN_LATE)
    sl_read_memory_note (self->memory, track, result == SL_SCAN_FOUND ? &self->code : NULL,
                         &settings->patience);
  else if (left > settings->limit / 2)
    sl_read_memory_note_late (self->memory, track, &settings->patience);
  else if (place != self->first)
    self->next = place;
}

static SlScanResult
try_once (SlRead *self, const SlLuma *luma, GstVideoRegionOfInterestMeta *region,
          const SlObjectView *object, guint kinds, guint place, const Settings *settings)
{
  const SlScanResult result = read_object (self, luma, object, kinds, settings);
  if (result == SL_SCAN_UNTRIED)
    return result;
  self->tried++;
  self->next = place + 1;
  if (result == SL_SCAN_FOUND)
    attach (region, &self->code);
  return result;
}

/* @track: (nullable). What is known of the object then, by this frame or one before. */
static SlScanResult
try_region (SlRead *self, const SlLuma *luma, GstVideoRegionOfInterestMeta *region,
            const SlObjectView *object, guint kinds, guint place, SlReadTrack *track,
            const Settings *settings)
{
  const gboolean may_try = self->tried < MAX_TRIES;
  if (track == NULL)
    return may_try ? try_once (self, luma, region, object, kinds, place, settings)
                   : SL_SCAN_UNTRIED;
  if (may_try && sl_read_memory_is_due (self->memory, track))
    try_track (self, luma, object, kinds, place, track, settings);
  if (track->code != NULL)
    attach (region, track->code);
  else if (track->tries >= settings->patience.tries
           && (kinds & ~sl_region_reader_ready (self->regions)) == 0)
    doubt (region, object, settings->unread_weight);
  return track->code != NULL ? SL_SCAN_FOUND : track->tries > 0 ? SL_SCAN_NOTHING : SL_SCAN_UNTRIED;
}

static void
read_region (SlRead *self, const SlLuma *luma, guint place, const Settings *settings)
{
  GstVideoRegionOfInterestMeta *region = g_ptr_array_index (self->objects, place);
  const char *label = sl_region_type_name (region);
  SlObjectView object;
  const guint kinds = sl_class_filter_passes (self->choice.filter, label)
                        ? sl_region_reader_kinds (self->regions, label)
                        : 0;
  if ((kinds == 0 && settings->unread_threshold <= 0)
      || !sl_region_read_object (region, luma->width, luma->height, &object))
    return;
  SlReadTrack *track =
    object.object_id > 0 ? sl_read_memory_track (self->memory, object.object_id) : NULL;
  const SlScanResult result =
    kinds != 0 ? try_region (self, luma, region, &object, kinds, place, track, settings)
               : SL_SCAN_UNTRIED;
  judge (self, luma, region, &object, track, result, settings);
}

static void
choose_objects (SlRead *self, const SlLuma *luma, GstBuffer *buffer)
{
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  g_ptr_array_set_size (self->objects, 0);
  while ((region = sl_next_region (buffer, &state)) != NULL)
    if (!sl_region_is_label (region, luma->width, luma->height))
      g_ptr_array_add (self->objects, region);
}

/* Objects that may be linear codes, for codes that reach into the box of one beside them. */
static void
tell_boxes (SlRead *self, const SlLuma *luma)
{
  double boxes[MAX_TRIES][4];
  guint n = 0;
  SlObjectView object;
  for (guint i = 0; i < MIN (self->objects->len, MAX_TRIES); i++) {
    const GstVideoRegionOfInterestMeta *region = g_ptr_array_index (self->objects, i);
    if ((sl_region_reader_kinds (self->regions, sl_region_type_name (region)) & SL_READ_LINEAR) == 0
        || !sl_region_read_object (region, luma->width, luma->height, &object))
      continue;
    find_box (&object, luma, boxes[n++]);
  }
  sl_region_reader_set_objects (self->regions, (const double (*)[4]) boxes, n);
}

static void
read_regions (SlRead *self, const SlLuma *luma, GstBuffer *buffer, const Settings *settings)
{
  choose_objects (self, luma, buffer);
  const guint n = self->objects->len;
  self->first = n > 0 ? self->next % n : 0;
  self->tried = 0;
  g_ptr_array_set_size (self->left_out, 0);
  tell_boxes (self, luma);
  for (guint i = 0; i < n; i++)
    read_region (self, luma, (self->first + i) % n, settings);
  sl_buffer_remove_related (buffer, luma->width, luma->height,
                            (GstVideoRegionOfInterestMeta *const *) self->left_out->pdata,
                            self->left_out->len);
  for (guint i = 0; i < self->left_out->len; i++)
    gst_buffer_remove_meta (buffer, g_ptr_array_index (self->left_out, i));
  const gint64 now = g_get_monotonic_time ();
  if (self->tried > 0 || now >= settings->deadline)
    sl_stage_latency_note (&self->latency, GST_ELEMENT (self),
                           now - (settings->deadline - settings->limit));
}

/* To who listens: the frame with its codes. */
static void
tell (SlRead *self, GstBuffer *buffer)
{
  SlPredictionView prediction = { .width = self->image.width, .height = self->image.height };
  sl_prediction_signal_emit_buffer (self, predictions_signal, &self->reader, buffer,
                                    &GST_BASE_TRANSFORM (self)->segment, self->frame - 1,
                                    &prediction);
}

static GstFlowReturn
sl_read_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  SlRead *self = (SlRead *) base;
  GError *error = NULL;
  GstVideoFrame frame;
  SlImage image;
  if (!sl_class_choice_follow (&self->choice, GST_ELEMENT (self), &self->classes,
                               GST_BASE_TRANSFORM_SINK_PAD (self)))
    return GST_FLOW_ERROR;
  self->frame++;
  sl_read_memory_next (self->memory);
  if (!sl_buffer_has_objects (buffer, self->image.width, self->image.height)
      || !gst_buffer_is_writable (buffer)) {
    if (sl_buffer_has_predictions (buffer) || sl_buffer_was_looked_at (buffer))
      tell (self, buffer);
    return GST_FLOW_OK;
  }
  const Settings settings = take_settings (self);
  sl_prediction_reader_adopt (&self->reader, &buffer, self->image.width, self->image.height);
  if (!sl_video_input_map (&frame, &image, &self->video, buffer, &error))
    return sl_element_refuse_frame (GST_ELEMENT (self), error);
  const SlLuma luma = sl_luma_of (&self->image, &image);
  read_regions (self, &luma, buffer, &settings);
  gst_video_frame_unmap (&frame);
  sl_buffer_keep_regions (buffer);
  tell (self, buffer);
  return GST_FLOW_OK;
}

/* A frame that gets nothing need not be writable. */
static GstFlowReturn
sl_read_prepare_output_buffer (GstBaseTransform *base, GstBuffer *in, GstBuffer **out)
{
  if (gst_buffer_get_meta (in, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) != NULL
      || sl_buffer_has_related (in, TRUE))
    return GST_BASE_TRANSFORM_CLASS (sl_read_parent_class)->prepare_output_buffer (base, in, out);
  *out = in;
  return GST_FLOW_OK;
}

static gboolean
sl_read_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  SlRead *self = (SlRead *) base;
  GError *error = NULL;
  if (sl_video_input_read (in, "slread", SL_VIDEO_INPUT_FORMATS, &self->video, &self->image,
                           &error))
    return TRUE;
  return sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
}

static gboolean
sl_read_sink_event (GstBaseTransform *base, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    sl_read_memory_reset (((SlRead *) base)->memory);
  return GST_BASE_TRANSFORM_CLASS (sl_read_parent_class)->sink_event (base, event);
}

static gboolean
sl_read_query (GstBaseTransform *base, GstPadDirection direction, GstQuery *query)
{
  const gboolean answered =
    GST_BASE_TRANSFORM_CLASS (sl_read_parent_class)->query (base, direction, query);
  if (answered && direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    sl_stage_latency_add (&((SlRead *) base)->latency, GST_ELEMENT (base), 0, query);
  return answered;
}

/* (transfer full) (nullable): the reader that was asked for */
static char *
dup_reader_name (SlRead *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->reader_name != NULL && *self->reader_name != '\0' ? g_strdup (self->reader_name)
                                                                 : NULL;
}

/* Whether one of the readers that are asked for is there. */
static gboolean
check_settings (GstElement *element, GError **error)
{
  g_autofree char *name = dup_reader_name ((SlRead *) element);
  g_autoptr (GString) names = g_string_new (NULL);
  const char *missing = NULL;
  guint n_wanted = 0, n_missing = 0;
  for (guint i = 0; sl_readers[i] != NULL; i++) {
    const gboolean wanted = name == NULL || strcmp (name, sl_readers[i]->name) == 0;
    const char *file = wanted && sl_readers[i]->missing != NULL ? sl_readers[i]->missing () : NULL;
    g_string_append_printf (names, "%s%s", i > 0 ? " or " : "", sl_readers[i]->name);
    n_wanted += wanted ? 1 : 0;
    n_missing += file != NULL ? 1 : 0;
    missing = file != NULL ? file : missing;
  }
  if (n_missing > 0 && n_missing == n_wanted)
    return sl_fail (
      error, SL_ERROR_OPEN,
      "reader=zxing: its program %s is not there or cannot be run; expected sightline-zxing, "
      "which is installed with Sightline, or another one that the environment variable "
      "SIGHTLINE_ZXING names",
      missing);
  return n_wanted > 0
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "reader=%s: there is no such reader of codes here; expected %s, or nothing "
                     "for all that are there",
                     name, names->str);
}

/* A reader that is not there is said once, and what it alone reads. @name: (nullable): that was
 * asked for */
static void
tell_missing (SlRead *self, const char *name)
{
  for (guint i = 0; sl_readers[i] != NULL && name == NULL; i++) {
    const char *file = sl_readers[i]->missing != NULL ? sl_readers[i]->missing () : NULL;
    if (file != NULL && !self->told_missing)
      GST_ELEMENT_WARNING (
        self, RESOURCE, NOT_FOUND,
        ("codes are read without %s, whose program %s is not there: Data Matrix, Aztec and PDF417 "
         "are not read, and EAN and UPC are less often checked; expected sightline-zxing, which is "
         "installed with Sightline, or another one that the environment variable SIGHTLINE_ZXING "
         "names",
         sl_readers[i]->name, file),
        (NULL));
    self->told_missing |= file != NULL;
  }
}

static gboolean
sl_read_start (GstBaseTransform *base)
{
  SlRead *self = (SlRead *) base;
  self->refused = FALSE;
  self->frame = 0;
  self->next = 0;
  sl_stage_latency_start (&self->latency, GST_ELEMENT (self));
  sl_class_choice_clear (&self->choice);
  sl_read_memory_reset (self->memory);
  g_autofree char *name = dup_reader_name (self);
  g_autoptr (GError) error = NULL;
  if (!check_settings (GST_ELEMENT (self), &error))
    return sl_element_report_settings (GST_ELEMENT (self), error);
  self->regions = sl_region_reader_new (name);
  if (self->regions == NULL)
    GST_ELEMENT_ERROR (
      self, RESOURCE, FAILED,
      ("no thread or memory for a code reader: raise the limit of threads or of memory"), (NULL));
  else
    tell_missing (self, name);
  return self->regions != NULL;
}

static gboolean
sl_read_stop (GstBaseTransform *base)
{
  g_clear_pointer (&((SlRead *) base)->regions, sl_region_reader_free);
  return TRUE;
}

static void
sl_read_finalize (GObject *object)
{
  SlRead *self = (SlRead *) object;
  sl_read_memory_free (self->memory);
  g_ptr_array_unref (self->objects);
  g_ptr_array_unref (self->left_out);
  sl_prediction_reader_clear (&self->reader);
  sl_class_choice_clear (&self->choice);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_read_parent_class)->finalize (object);
}

static void
sl_read_class_init (SlReadClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_read_debug, "slread", 0, "what codes say");
  object_class->finalize = sl_read_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  predictions_signal = sl_prediction_signal_add (object_class);
  sl_element_class_set_check (element_class, check_settings);
  sl_element_class_pads (element_class, CAPS, CAPS);
  sl_element_class_describe (
    element_class, "Sightline code reader", "Filter/Analyzer/Video",
    "Reads the codes that a model found; each is cut from the frame, turned upright and enlarged. "
    "ZBar or zxing-cpp reads QR and linear codes, zxing-cpp also Data Matrix, Aztec and PDF417. "
    "Text, bytes, symbology and corners are added to the object. A tracked object is read once.",
    "gst-launch-1.0 v4l2src ! slpredict track=true ! slread ! sloverlay ! videoconvert ! "
    "autovideosink",
    "codes.md");
  klass->transform_ip = sl_read_transform_ip;
  klass->prepare_output_buffer = sl_read_prepare_output_buffer;
  klass->set_caps = sl_read_set_caps;
  klass->sink_event = sl_read_sink_event;
  klass->query = sl_read_query;
  klass->start = sl_read_start;
  klass->stop = sl_read_stop;
}

static void
sl_read_init (SlRead *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  sl_prediction_reader_init (&self->reader);
  self->memory = sl_read_memory_new ();
  self->objects = g_ptr_array_new ();
  self->left_out = g_ptr_array_new ();
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
