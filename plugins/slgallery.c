/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slgallery: the same person on another camera, and later. It takes the embeddings that sltrack
 * appearance= has made, and says who each tracked object is, as a structure "identity" on its
 * region. The gallery is a file, which pipelines/gallery/ has. Pixels are read for pictures=true
 * alone, of objects that the model looked at.
 */
#include "plugins/elements.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/redact.h"
#include "pipelines/gallery/book.h"
#include "plugins/base/describe.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/base/settings.h"
#include "plugins/gallery/portrait.h"
#include "plugins/meta/prediction_signal.h"
#include "plugins/meta/predictions.h"
#include "plugins/meta/regions/keep.h"
#include "plugins/meta/regions/keypoints.h"
#include "plugins/meta/regions/look.h"
#include "plugins/meta/regions/object.h"
#include "plugins/video/frame.h"
#include "plugins/video/input.h"

GST_DEBUG_CATEGORY_STATIC (sl_gallery_element_debug);
#define GST_CAT_DEFAULT sl_gallery_element_debug

#define CAPS "video/x-raw(ANY)"
/* How often what was not written is told. */
#define TROUBLE_US (60 * G_USEC_PER_SEC)

typedef struct
{
  GstBaseTransform parent;
  char *location, *keep, *key_file, *camera, *paths; /* object lock */
  char *share, *ca_file;                             /* object lock */
  gint most, machine, picture_size;                  /* object lock */
  gboolean pictures;                                 /* object lock */
  gdouble threshold, margin;                         /* object lock */
  SlIdentityCamera *gallery;                         /* object lock (nullable) */
  /* The rest is the streaming thread's. */
  gint width, height;
  GstVideoInfo video;
  SlPortrait *portrait; /* (nullable): no pictures are taken */
  gboolean refused;     /* these frames, with a message */
  GArray *points;       /* of SlPoint, of the object in hand */
  SlReadSkeleton skeleton;
  guint length; /* of embeddings; 0 = nobody was asked */
  gint64 told;  /* when trouble was told */
  guint64 frame;
  SlPredictionReader reader;
  GstVideoRegionOfInterestMeta *regions[SL_IDENTITY_OBJECTS];
  GstBuffer *looks[SL_IDENTITY_OBJECTS]; /* (nullable): mapped by @maps */
  GstMapInfo maps[SL_IDENTITY_OBJECTS];
  SlIdentityObject objects[SL_IDENTITY_OBJECTS];
} SlGalleryElement;

/* Elements without a name are called by the type: slgallery0. */
typedef SlGalleryElement SlGallery;
typedef GstBaseTransformClass SlGalleryClass;

G_DEFINE_TYPE (SlGallery, sl_gallery_element, GST_TYPE_BASE_TRANSFORM)

static guint predictions_signal;

#define AT(member) G_STRUCT_OFFSET (SlGalleryElement, member)

static const SlProperty properties[] = {
  { "location", "Location",
    "File of the gallery, such as location=people.gallery; it is made where there is none. Cameras "
    "and programs may share one",
    SL_PROPERTY_STRING, AT (location), 0, 0, 0 },
  { "keep", "Keep",
    "Time after which anything in the gallery is erased, such as keep=7d or keep=12h; without it "
    "nothing is stored, and the element does not start",
    SL_PROPERTY_STRING, AT (keep), 0, 0, 0 },
  { "most", "Most people",
    "Most people in the gallery; more, and those seen least recently are erased", SL_PROPERTY_INT,
    AT (most), 1, SL_IDENTITY_MOST, SL_IDENTITY_USUAL_MOST },
  { "key-file", "Key file",
    "File with 64 hexadecimal digits, for its owner alone: embeddings are encrypted with this key; "
    "unset = they are not encrypted",
    SL_PROPERTY_STRING, AT (key_file), 0, 0, 0 },
  { "camera", "Camera", "Name of the camera in the gallery; unset = the name of the pipeline",
    SL_PROPERTY_STRING, AT (camera), 0, 0, 0 },
  { "paths", "Paths",
    "How people go from camera to camera, and how long that takes, such as "
    "paths=gate>hall:5-60s,hall>gate:5-60s: who could not be here yet is not recognised; unset = "
    "anybody can be anywhere",
    SL_PROPERTY_STRING, AT (paths), 0, 0, 0 },
  { "threshold", "Threshold",
    "Least cosine of two embeddings of one person, 0..1, until the gallery has learned one from "
    "tracks of the cameras",
    SL_PROPERTY_DOUBLE, AT (threshold), 0, 1, SL_IDENTITY_THRESHOLD },
  { "margin", "Margin",
    "By how much the cosine of the second person must be lower than that of the best one, 0..1",
    SL_PROPERTY_DOUBLE, AT (margin), 0, 1, SL_IDENTITY_MARGIN },
  { "pictures", "Pictures",
    "Keep one picture of each person, the best one: large, sharp, frontal and whole. It is "
    "encrypted and erased as embeddings are",
    SL_PROPERTY_BOOL, AT (pictures), 0, 0, FALSE },
  { "picture-size", "Picture size", "Longest side of a picture, in pixels", SL_PROPERTY_INT,
    AT (picture_size), SL_PORTRAIT_LEAST, SL_PORTRAIT_MOST, 256 },
  { "share", "Share",
    "MQTT broker and prefix of topics through which other machines have the gallery, too, such as "
    "share=mqtts://broker.lan/people; unset = only this machine has it",
    SL_PROPERTY_STRING, AT (share), 0, 0, 0 },
  { "machine", "Machine",
    "With share=: number of this machine, which no other machine there has; numbers of people "
    "begin with it",
    SL_PROPERTY_INT, AT (machine), 0, 999, 0 },
  { "ca-file", "CA file",
    "With share=mqtts://: file of certificates (PEM) that may sign the broker's; unset = the "
    "system's",
    SL_PROPERTY_STRING, AT (ca_file), 0, 0, 0 },
};

#define PROP_STATS (G_N_ELEMENTS (properties) + 1)

static GstStructure *
make_stats (SlGalleryElement *self)
{
  SlIdentityStats stats = { 0 };
  GST_OBJECT_LOCK (self);
  if (self->gallery != NULL)
    sl_identity_camera_stats (self->gallery, &stats);
  GST_OBJECT_UNLOCK (self);
  return gst_structure_new ("stats", "people", G_TYPE_UINT64, stats.people, "views", G_TYPE_UINT64,
                            stats.views, "written", G_TYPE_UINT64, stats.written, "lost",
                            G_TYPE_UINT64, stats.lost, "failed", G_TYPE_UINT64, stats.failed,
                            "sent", G_TYPE_UINT64, stats.sent, "received", G_TYPE_UINT64,
                            stats.received, "refused", G_TYPE_UINT64, stats.refused, NULL);
}

static void
sl_gallery_element_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  if (id == PROP_STATS) {
    g_value_take_boxed (value, make_stats ((SlGalleryElement *) object));
    return;
  }
  GST_OBJECT_LOCK (object);
  sl_property_get (object, &properties[id - 1], value);
  if (strcmp (spec->name, "share") == 0 && g_value_get_string (value) != NULL)
    g_value_take_string (value, sl_redact_uri (g_value_get_string (value), NULL));
  GST_OBJECT_UNLOCK (object);
}

/* (transfer full): the name of the outermost bin. */
static char *
find_name (GstElement *element)
{
  g_autoptr (GstObject) at = gst_object_ref (GST_OBJECT (element));
  for (GstObject *next; (next = gst_object_get_parent (at)) != NULL;) {
    gst_object_unref (at);
    at = next;
  }
  return gst_object_get_name (at);
}

/* What can be refused before there are frames; the broker's certificates are read when it is
 * connected to. */
static gboolean
read_settings (SlGalleryElement *self, SlIdentityRules *rules, GError **error)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  *rules = (SlIdentityRules){ 0, (guint) self->most, self->threshold, self->margin };
  if (self->location == NULL || *self->location == '\0')
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "location: missing; expected the file of the gallery, such as "
                    "location=people.gallery");
  if (self->keep == NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "keep: missing, and nothing is stored that no rule erases; expected a time "
                    "such as keep=7d");
  const SlIdentityUse use = { .camera = self->camera,
                              .paths = self->paths,
                              .share = self->share,
                              .machine = (guint) self->machine };
  return sl_identity_rules_keep (self->keep, &rules->keep, error)
         && sl_identity_use_check (&use, error);
}

static gboolean
check_settings (GstElement *element, GError **error)
{
  SlIdentityRules rules;
  return read_settings ((SlGalleryElement *) element, &rules, error);
}

static gboolean
open_gallery (SlGalleryElement *self, const char *hash, guint length, GError **error)
{
  SlIdentityRules rules;
  if (!read_settings (self, &rules, error))
    return FALSE;
  GST_OBJECT_LOCK (self);
  g_autofree char *path = g_strdup (self->location), *key_file = g_strdup (self->key_file),
                  *camera = g_strdup (self->camera), *paths = g_strdup (self->paths),
                  *share = g_strdup (self->share), *ca_file = g_strdup (self->ca_file);
  const guint machine = (guint) self->machine;
  GST_OBJECT_UNLOCK (self);
  g_autofree char *name = camera == NULL ? find_name (GST_ELEMENT (self)) : NULL;
  const SlIdentityUse use = { .path = path,
                              .key_file = key_file,
                              .camera = camera != NULL ? camera : name,
                              .model = hash,
                              .paths = paths,
                              .share = share,
                              .ca_file = ca_file,
                              .length = length,
                              .machine = machine,
                              .rules = rules };
  SlIdentityCamera *gallery = sl_identity_camera_new (&use, error);
  GST_OBJECT_LOCK (self);
  self->gallery = gallery;
  GST_OBJECT_UNLOCK (self);
  return gallery != NULL;
}

/* At the first frame: which model makes embeddings. */
static gboolean
ask (SlGalleryElement *self)
{
  g_autoptr (GError) error = NULL;
  guint length = 0;
  GstQuery *query = sl_looks_query ();
  const char *hash = gst_pad_peer_query (GST_BASE_TRANSFORM_SINK_PAD (self), query)
                       ? sl_looks_read (query, &length)
                       : NULL;
  if (hash == NULL)
    sl_fail (&error, SL_ERROR_ARGUMENT,
             "slgallery gets no embeddings; expected sltrack appearance=MODEL before it");
  else if (open_gallery (self, hash, length, &error))
    self->length = length;
  gst_query_unref (query);
  return error == NULL || sl_element_report_settings (GST_ELEMENT (self), error);
}

/* Objects with an id; returns how many there are. */
static guint
collect (SlGalleryElement *self, GstBuffer *buffer)
{
  gpointer state = NULL;
  guint n = 0;
  GstVideoRegionOfInterestMeta *region;
  while (n < SL_IDENTITY_OBJECTS && (region = sl_next_region (buffer, &state)) != NULL) {
    SlObjectView object;
    if (sl_region_is_label (region, self->width, self->height)
        || !sl_region_read_object (region, self->width, self->height, &object)
        || object.object_id < 1)
      continue;
    GstBuffer *look = sl_region_take_look (region, self->length);
    if (look != NULL && !gst_buffer_map (look, &self->maps[n], GST_MAP_READ))
      gst_clear_buffer (&look);
    self->regions[n] = region;
    self->looks[n] = look;
    self->objects[n] =
      (SlIdentityObject){ .track = object.object_id,
                          .look = look != NULL ? (gconstpointer) self->maps[n].data : NULL };
    n++;
  }
  return n;
}

static void
warn (SlGalleryElement *self)
{
  const gint64 now = g_get_monotonic_time ();
  if (self->told != 0 && now - self->told < TROUBLE_US)
    return;
  g_autofree char *trouble = sl_identity_camera_trouble (self->gallery);
  if (trouble == NULL)
    return;
  self->told = now;
  GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
                       ("%s; people are still recognised, and changes wait", trouble), (NULL));
}

/* The share of object @i that another one covers most. */
static gdouble
find_covered (SlGalleryElement *self, guint i, guint n)
{
  const GstVideoRegionOfInterestMeta *box = self->regions[i];
  gdouble covered = 0;
  for (guint k = 0; k < n; k++) {
    const GstVideoRegionOfInterestMeta *other = self->regions[k];
    const gdouble w = MIN ((gdouble) box->x + box->w, (gdouble) other->x + other->w)
                      - MAX (box->x, other->x),
                  h = MIN ((gdouble) box->y + box->h, (gdouble) other->y + other->h)
                      - MAX (box->y, other->y);
    if (k != i && w > 0 && h > 0)
      covered = MAX (covered, w * h / ((gdouble) box->w * box->h));
  }
  return covered;
}

static void
take_picture (SlGalleryElement *self, const SlImage *image, guint i, guint n, gint64 now)
{
  SlObjectView object;
  const gint64 person = self->objects[i].person;
  if (!sl_region_read_object (self->regions[i], self->width, self->height, &object))
    return;
  g_array_set_size (self->points, 0);
  const gboolean has_points =
    sl_region_read_points (self->regions[i], &object, self->points, &self->skeleton) > 0
    && self->skeleton.skeleton.n_points == self->points->len;
  const SlPortraitSubject subject = {
    &object, has_points ? (const SlPoint *) (gconstpointer) self->points->data : NULL,
    has_points ? &self->skeleton.skeleton : NULL, find_covered (self, i, n)
  };
  const gdouble score = sl_portrait_score (self->portrait, image, &subject);
  if (!sl_identity_camera_wants_picture (self->gallery, person, score, now))
    return;
  g_autoptr (GBytes) jpeg = sl_portrait_encode (self->portrait);
  if (jpeg != NULL)
    sl_identity_camera_keep_picture (self->gallery, person, score, now, jpeg);
}

/* Of those whom the model looked at, since it does so seldom. */
static gboolean
take_pictures (SlGalleryElement *self, GstBuffer *buffer, guint n, gint64 now)
{
  GError *error = NULL;
  GstVideoFrame frame;
  SlImage image;
  gboolean wanted = FALSE;
  for (guint i = 0; i < n && self->portrait != NULL; i++)
    wanted = wanted || (self->looks[i] != NULL && self->objects[i].person != 0);
  if (!wanted)
    return TRUE;
  if (!sl_video_input_map (&frame, &image, &self->video, buffer, &error)) {
    sl_element_refuse_frame (GST_ELEMENT (self), error);
    return FALSE;
  }
  for (guint i = 0; i < n; i++)
    if (self->looks[i] != NULL && self->objects[i].person != 0)
      take_picture (self, &image, i, n, now);
  gst_video_frame_unmap (&frame);
  return TRUE;
}

static gboolean
identify (SlGalleryElement *self, GstBuffer *buffer)
{
  const guint n = collect (self, buffer);
  const gint64 now = g_get_real_time ();
  sl_identity_camera_frame (self->gallery, self->objects, n, now);
  const gboolean good = take_pictures (self, buffer, n, now);
  for (guint i = 0; i < n; i++) {
    const SlIdentityObject *object = &self->objects[i];
    const SlObjectView view = { .identity = object->person,
                                .identity_confidence = object->confidence,
                                .identity_cameras = object->cameras,
                                .identity_name = object->name };
    if (object->person != 0)
      sl_region_set_identity (self->regions[i], &view);
    if (self->looks[i] != NULL)
      gst_buffer_unmap (self->looks[i], &self->maps[i]);
    gst_clear_buffer (&self->looks[i]);
  }
  if (n > 0)
    sl_buffer_keep_regions (buffer);
  return good;
}

static GstFlowReturn
sl_gallery_element_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  SlGalleryElement *self = (SlGalleryElement *) base;
  SlPredictionView prediction = { .width = self->width, .height = self->height };
  if (self->gallery == NULL && !ask (self))
    return GST_FLOW_ERROR;
  if (!identify (self, buffer))
    return GST_FLOW_ERROR;
  warn (self);
  sl_prediction_signal_emit_buffer (self, predictions_signal, &self->reader, buffer, &base->segment,
                                    self->frame++, &prediction);
  return GST_FLOW_OK;
}

/* A frame that no object is on need not be writable. */
static GstFlowReturn
sl_gallery_element_prepare_output_buffer (GstBaseTransform *base, GstBuffer *in, GstBuffer **out)
{
  if (gst_buffer_get_meta (in, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) != NULL)
    return GST_BASE_TRANSFORM_CLASS (sl_gallery_element_parent_class)
      ->prepare_output_buffer (base, in, out);
  *out = in;
  return GST_FLOW_OK;
}

/* Pictures are made of formats that can be read. */
static gboolean
open_portrait (SlGalleryElement *self, GstCaps *caps)
{
  SlImageInfo image;
  GError *error = NULL;
  GST_OBJECT_LOCK (self);
  const gboolean pictures = self->pictures;
  const guint side = (guint) self->picture_size;
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&self->portrait, sl_portrait_free);
  if (!pictures)
    return TRUE;
  if (sl_video_input_read (caps, "slgallery with pictures=true", SL_VIDEO_INPUT_FORMATS,
                           &self->video, &image, &error))
    self->portrait = sl_portrait_new (&image, side, &error);
  return self->portrait != NULL || sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
}

/* Upstream converts to these formats, if it can. */
static GstCaps *
sl_gallery_element_transform_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                                   GstCaps *filter)
{
  GstCaps *all = GST_BASE_TRANSFORM_CLASS (sl_gallery_element_parent_class)
                   ->transform_caps (base, direction, caps, filter);
  GST_OBJECT_LOCK (base);
  const gboolean pictures = ((const SlGalleryElement *) base)->pictures;
  GST_OBJECT_UNLOCK (base);
  return direction == GST_PAD_SRC && pictures
           ? sl_video_input_narrow (base, all, filter, SL_VIDEO_INPUT_FORMATS)
           : all;
}

static gboolean
sl_gallery_element_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  SlGalleryElement *self = (SlGalleryElement *) base;
  const GstStructure *structure = gst_caps_get_structure (in, 0);
  return gst_structure_get_int (structure, "width", &self->width)
         && gst_structure_get_int (structure, "height", &self->height) && open_portrait (self, in);
}

static gboolean
sl_gallery_element_start (GstBaseTransform *base)
{
  SlGalleryElement *self = (SlGalleryElement *) base;
  g_autoptr (GError) error = NULL;
  self->length = 0;
  self->told = 0;
  self->frame = 0;
  self->refused = FALSE;
  return check_settings (GST_ELEMENT (self), &error)
         || sl_element_report_settings (GST_ELEMENT (self), error);
}

static gboolean
sl_gallery_element_stop (GstBaseTransform *base)
{
  SlGalleryElement *self = (SlGalleryElement *) base;
  GST_OBJECT_LOCK (self);
  SlIdentityCamera *gallery = g_steal_pointer (&self->gallery);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&self->portrait, sl_portrait_free);
  g_autofree char *trouble = sl_identity_camera_free (gallery);
  if (trouble != NULL)
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("%s", trouble), (NULL));
  return TRUE;
}

static void
sl_gallery_element_finalize (GObject *object)
{
  SlGalleryElement *self = (SlGalleryElement *) object;
  sl_prediction_reader_clear (&self->reader);
  sl_portrait_free (self->portrait);
  g_array_unref (self->points);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_gallery_element_parent_class)->finalize (object);
}

static void
sl_gallery_element_class_init (SlGalleryClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_gallery_element_debug, "slgallery", 0, "people across cameras");
  object_class->finalize = sl_gallery_element_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  sl_element_class_set_check (element_class, check_settings);
  object_class->get_property = sl_gallery_element_get_property;
  g_object_class_install_property (
    object_class, PROP_STATS,
    sl_property_figures (
      "stats", "Statistics",
      "Of the gallery, as a structure: people, views (embeddings), written (changes), lost "
      "(changes for which the disk was too slow), failed (attempts to write); and messages to and "
      "from other machines: sent, received and refused (uint64)"));
  predictions_signal = sl_prediction_signal_add (object_class);
  sl_element_class_pads (element_class, CAPS, CAPS);
  sl_element_class_describe (
    element_class, "Sightline gallery", "Filter/Analyzer/Video",
    "Says who tracked objects are, on other cameras and later, by the embeddings of sltrack "
    "appearance=. People are kept in a file for as long as keep= allows.",
    "gst-launch-1.0 v4l2src ! slpredict model=ssd.tflite classes=person threshold=0.1 ! sltrack "
    "appearance=osnet.onnx ! slgallery location=people.gallery keep=7d camera=gate ! slpublish "
    "location=-",
    "gallery.md");
  klass->transform_ip = sl_gallery_element_transform_ip;
  klass->prepare_output_buffer = sl_gallery_element_prepare_output_buffer;
  klass->transform_caps = sl_gallery_element_transform_caps;
  klass->set_caps = sl_gallery_element_set_caps;
  klass->start = sl_gallery_element_start;
  klass->stop = sl_gallery_element_stop;
}

static void
sl_gallery_element_init (SlGalleryElement *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  sl_prediction_reader_init (&self->reader);
  self->points = g_array_new (FALSE, FALSE, sizeof (SlPoint));
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
