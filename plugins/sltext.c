/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sltext: one text for each object, of all that models read on it. A recogniser upstream, such as
 * an slpredict with object-class= and decoder=text, reads an object on many frames. Readings of an
 * object with an id are votes, character by character; an object without an id has the reading of
 * its frame. A file of formats corrects the result. Pixels are neither read nor copied.
 *
 * A frame's work is limited: MOST_TEXTS objects of it get a text. As many objects are remembered,
 * in memory that is taken at the start.
 */
#include "plugins/elements.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "plugins/base/describe.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/base/settings.h"
#include "plugins/meta/class_names.h"
#include "plugins/meta/map/relations.h"
#include "plugins/meta/prediction_signal.h"
#include "plugins/meta/predictions.h"
#include "plugins/meta/regions/choose.h"
#include "plugins/meta/regions/keep.h"
#include "plugins/meta/regions/object.h"
#include "plugins/meta/regions/text.h"
#include "postprocess/predictions/text_format.h"
#include "postprocess/predictions/text_vote.h"

GST_DEBUG_CATEGORY_STATIC (sl_text_debug);
#define GST_CAT_DEFAULT sl_text_debug

/* Objects of a frame that get a text. */
#define MOST_TEXTS 256
/* Frames without an object after which its votes are forgotten. */
#define FORGET 300

typedef struct
{
  gint32 id;
  guint64 seen; /* number of the last frame with it */
  SlTextVotes votes;
} Track;

typedef struct
{
  GstBaseTransform parent;
  gint memory, min_votes, corrections; /* object lock */
  gdouble threshold;                   /* object lock */
  char *classes, *formats_path;        /* object lock */
  /* The rest is the streaming thread's. */
  gint width, height;
  SlClassChoice choice;
  SlTextFormats *formats; /* (nullable) */
  SlTextVoter *voter;
  Track *tracks; /* MOST_TEXTS, of which @n_tracks are used */
  guint n_tracks;
  SlPredictionReader reader;
  guint64 frame;
  SlReading reading; /* of the object in hand */
  SlTextView text;
} SlText;

typedef GstBaseTransformClass SlTextClass;

G_DEFINE_TYPE (SlText, sl_text, GST_TYPE_BASE_TRANSFORM)

static guint predictions_signal;

#define CAPS "video/x-raw(ANY)"

#define AT(member) G_STRUCT_OFFSET (SlText, member)

static const SlProperty properties[] = {
  { "classes", "Classes",
    "Objects that get a text, such as plate, or with ! excluded classes; unset = all that a model "
    "read a text on",
    SL_PROPERTY_STRING, AT (classes), 0, 0, 0, NULL, TRUE },
  { "memory", "Memory",
    "Readings of a tracked object that count, the newest ones; 1 = the last one alone, without "
    "votes",
    SL_PROPERTY_INT, AT (memory), 1, 1000, 30, NULL, TRUE },
  { "min-votes", "Least votes",
    "Readings of a tracked object before it gets a text. Objects without an id have one reading",
    SL_PROPERTY_INT, AT (min_votes), 1, 1000, 1, NULL, TRUE },
  { "threshold", "Threshold", "Least mean confidence of a reading that counts, 0..1",
    SL_PROPERTY_DOUBLE, AT (threshold), 0, 1, 0, NULL, TRUE },
  { "formats", "Formats",
    "Path of a file of formats, such as plates.formats with number plates of countries: a text "
    "that has a format gets its name and spelling; unset = texts as they were read",
    SL_PROPERTY_STRING, AT (formats_path), 0, 0, 0 },
  { "corrections", "Corrections",
    "Most characters that a format corrects, such as O to 0 where it has a digit; 0 = none",
    SL_PROPERTY_INT, AT (corrections), 0, SL_MAX_FORMAT_LENGTH, 2, NULL, TRUE },
};

/* What the properties said when the frame came. */
typedef struct
{
  guint memory, min_votes, corrections;
  gdouble threshold;
} Settings;

static Settings
take_settings (SlText *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return (Settings){ (guint) self->memory, (guint) self->min_votes, (guint) self->corrections,
                     self->threshold };
}

/* (nullable): the track of @id; of an unknown one with @add. A new one takes the memory of one that
 * is gone, or else of the one that was not seen for the longest time. */
static Track *
find_track (SlText *self, gint32 id, gboolean add)
{
  Track *oldest = NULL;
  for (guint i = 0; i < self->n_tracks; i++) {
    Track *track = &self->tracks[i];
    if (track->id == id)
      return track;
    if (oldest == NULL || track->seen < oldest->seen)
      oldest = track;
  }
  if (!add)
    return NULL;
  const gboolean free_one = oldest != NULL && self->frame - oldest->seen > FORGET;
  if (!free_one && self->n_tracks < MOST_TEXTS)
    oldest = &self->tracks[self->n_tracks++];
  *oldest = (Track){ .id = id };
  return oldest;
}

static gboolean
counts (const SlReading *reading, gdouble threshold)
{
  double sum = 0;
  for (guint i = 0; i < reading->n; i++)
    sum += (double) reading->shares[i];
  return reading->n > 0 && sum / reading->n >= threshold;
}

static void
vote (SlText *self, SlTextVotes *votes, guint memory)
{
  sl_text_voter_add (self->voter, votes, self->reading.characters, self->reading.shares,
                     self->reading.n, memory);
}

/* Whether the object with @id has a text by now; it is self->text then. @reads: this frame has a
 * reading of it that counts. */
static gboolean
find_text (SlText *self, gint32 id, gboolean reads, const Settings *settings)
{
  SlTextVotes single = { 0 };
  Track *track = id > 0 ? find_track (self, id, reads) : NULL;
  SlTextVotes *votes = track != NULL ? &track->votes : &single;
  if (!reads && track == NULL)
    return FALSE;
  if (track != NULL)
    track->seen = self->frame;
  if (reads)
    vote (self, votes, settings->memory);
  return votes->readings >= (track != NULL ? settings->min_votes : 1)
         && sl_text_votes_result (votes, &self->text);
}

/* TRUE when @region, an object, got a text. */
static gboolean
read_region (SlText *self, GstVideoRegionOfInterestMeta *region, const Settings *settings)
{
  SlObjectView object;
  if (!sl_class_filter_passes (self->choice.filter, sl_region_type_name (region))
      || !sl_region_read_object (region, self->width, self->height, &object))
    return FALSE;
  const gboolean reads =
    sl_region_get_reading (region, &self->reading) && counts (&self->reading, settings->threshold);
  if (!find_text (self, object.object_id, reads, settings))
    return FALSE;
  if (self->formats != NULL)
    sl_text_formats_apply (self->formats, settings->corrections, &self->text);
  sl_region_set_text (region, &self->text);
  return TRUE;
}

static void
read_regions (SlText *self, GstBuffer *buffer)
{
  const Settings settings = take_settings (self);
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  for (guint n = 0; n < MOST_TEXTS && (region = sl_next_region (buffer, &state)) != NULL;)
    if (!sl_region_is_label (region, self->width, self->height))
      n += read_region (self, region, &settings);
}

static void
tell (SlText *self, GstBuffer *buffer)
{
  SlPredictionView prediction = { .width = self->width, .height = self->height };
  sl_prediction_signal_emit_buffer (self, predictions_signal, &self->reader, buffer,
                                    &GST_BASE_TRANSFORM (self)->segment, self->frame - 1,
                                    &prediction);
}

static GstFlowReturn
sl_text_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  SlText *self = (SlText *) base;
  if (!sl_class_choice_follow (&self->choice, GST_ELEMENT (self), &self->classes,
                               GST_BASE_TRANSFORM_SINK_PAD (self)))
    return GST_FLOW_ERROR;
  self->frame++;
  if (sl_buffer_has_objects (buffer, self->width, self->height)
      && gst_buffer_is_writable (buffer)) {
    sl_prediction_reader_adopt (&self->reader, &buffer, self->width, self->height);
    read_regions (self, buffer);
    sl_buffer_keep_regions (buffer);
  }
  if (sl_buffer_has_predictions (buffer) || sl_buffer_was_looked_at (buffer))
    tell (self, buffer);
  return GST_FLOW_OK;
}

/* A frame that gets nothing need not be writable. */
static GstFlowReturn
sl_text_prepare_output_buffer (GstBaseTransform *base, GstBuffer *in, GstBuffer **out)
{
  if (gst_buffer_get_meta (in, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) != NULL
      || sl_buffer_has_related (in, TRUE))
    return GST_BASE_TRANSFORM_CLASS (sl_text_parent_class)->prepare_output_buffer (base, in, out);
  *out = in;
  return GST_FLOW_OK;
}

static gboolean
sl_text_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  SlText *self = (SlText *) base;
  const GstStructure *structure = gst_caps_get_structure (in, 0);
  return gst_structure_get_int (structure, "width", &self->width)
         && gst_structure_get_int (structure, "height", &self->height);
}

/* Ids are of other objects from now on. */
static void
forget (SlText *self)
{
  self->n_tracks = 0;
}

static gboolean
sl_text_sink_event (GstBaseTransform *base, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    forget ((SlText *) base);
  return GST_BASE_TRANSFORM_CLASS (sl_text_parent_class)->sink_event (base, event);
}

/* @formats: (out) (transfer full) (nullable): NULL where the property is not set */
static gboolean
load_formats (SlText *self, SlTextFormats **formats, GError **error)
{
  GST_OBJECT_LOCK (self);
  g_autofree char *path = g_strdup (self->formats_path);
  GST_OBJECT_UNLOCK (self);
  *formats = NULL;
  if (path == NULL || *path == '\0')
    return TRUE;
  *formats = sl_text_formats_load (path, error);
  if (*formats == NULL)
    g_prefix_error (error, "formats: ");
  return *formats != NULL;
}

static gboolean
check_settings (GstElement *element, GError **error)
{
  SlTextFormats *formats;
  const gboolean good = load_formats ((SlText *) element, &formats, error);
  sl_text_formats_free (formats);
  return good;
}

static gboolean
sl_text_start (GstBaseTransform *base)
{
  SlText *self = (SlText *) base;
  g_autoptr (GError) error = NULL;
  self->frame = 0;
  forget (self);
  sl_class_choice_clear (&self->choice);
  return load_formats (self, &self->formats, &error)
         || sl_element_report_settings (GST_ELEMENT (self), error);
}

static gboolean
sl_text_stop (GstBaseTransform *base)
{
  g_clear_pointer (&((SlText *) base)->formats, sl_text_formats_free);
  return TRUE;
}

static void
sl_text_finalize (GObject *object)
{
  SlText *self = (SlText *) object;
  g_free (self->tracks);
  sl_text_voter_free (self->voter);
  sl_text_formats_free (self->formats);
  sl_prediction_reader_clear (&self->reader);
  sl_class_choice_clear (&self->choice);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_text_parent_class)->finalize (object);
}

static void
sl_text_class_init (SlTextClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_text_debug, "sltext", 0, "what objects say");
  object_class->finalize = sl_text_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  predictions_signal = sl_prediction_signal_add (object_class);
  sl_element_class_set_check (element_class, check_settings);
  sl_element_class_pads (element_class, CAPS, CAPS);
  sl_element_class_describe (
    element_class, "Sightline text voter", "Filter/Analyzer/Video",
    "Makes one text of all that a model reads on a tracked object, such as a number plate: "
    "readings of different lengths are aligned, and each character is voted on by its confidence. "
    "A file of formats corrects characters that look alike. Text, confidences and format are added "
    "to the object.",
    "gst-launch-1.0 v4l2src ! slpredict model=plates.tflite ! sltrack ! slpredict "
    "model=reader.onnx object-class=plate object-alignment=corners ! sltext ! sloverlay ! "
    "videoconvert ! autovideosink",
    "text.md");
  klass->transform_ip = sl_text_transform_ip;
  klass->prepare_output_buffer = sl_text_prepare_output_buffer;
  klass->set_caps = sl_text_set_caps;
  klass->sink_event = sl_text_sink_event;
  klass->start = sl_text_start;
  klass->stop = sl_text_stop;
}

static void
sl_text_init (SlText *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  sl_prediction_reader_init (&self->reader);
  self->voter = sl_text_voter_new ();
  self->tracks = g_new0 (Track, MOST_TEXTS);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
