/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slredact: hides objects and zones of video frames, in place and in the frame's own format. It
 * fails closed: a frame without a result of a model of its own or recent enough is hidden whole, or
 * dropped. No property shows it.
 *
 * Invariant: a frame leaves this element only behind hide_frame() or hide_whole(), or unmapped
 * where a model has looked at it and nothing is to be hidden.
 */
#include "plugins/elements.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "core/base/fail.h"
#include "plugins/base/describe.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/base/settings.h"
#include "plugins/meta/class_names.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/meta/predictions.h"
#include "plugins/overlay/canvas.h"
#include "plugins/redact/areas.h"
#include "plugins/redact/held.h"
#include "plugins/redact/hide.h"
#include "plugins/video/caps.h"
#include "plugins/video/frame.h"

GST_DEBUG_CATEGORY_STATIC (sl_redact_debug);
#define GST_CAT_DEFAULT sl_redact_debug

#define CAPS \
  "video/x-raw, format=(string)" SL_HIDE_FORMATS ", width=(int)[1,max], height=(int)[1,max]"
/* Between two frames without times and without a rate. */
#define USUAL_INTERVAL (40 * GST_MSECOND)
/* Least time between two messages about failing closed. */
#define TELL_INTERVAL G_USEC_PER_SEC

typedef enum
{
  MISSING_REDACT,
  MISSING_DROP
} Missing;

typedef enum
{
  SHAPE_BOX,
  SHAPE_MASK
} Shape;

/* How a frame leaves. */
typedef enum
{
  FATE_UNCHANGED,
  FATE_REDACTED,
  FATE_WHOLE,
  FATE_DROPPED,
  N_FATES
} Fate;

typedef struct
{
  gint mode, shape, on_missing, hold, max_age, colour;
  gboolean objects, invert, switchable, active;
  gdouble margin, growth, min_confidence;
} Settings;

typedef struct
{
  GstBaseTransform parent;
  Settings settings;      /* object lock */
  char *classes, *zones;  /* object lock */
  guint64 fates[N_FATES]; /* object lock */
  /* The rest is the streaming thread's. */
  GstVideoInfo info;
  SlClassChoice choice;
  SlRegions *regions; /* (nullable): of zones */
  guint offers;       /* sl_class_names_offers() when the classes were checked */
  char *unfit;        /* (nullable): why the model before cannot find them */
  SlPredictionReader reader;
  SlSeen seen[SL_HELD_MOST];
  SlHeld held;
  SlAreas zone_blocks, blocks;
  gint zones_inverted; /* -1 = the blocks of zones are not those of this frame's size */
  SlHideScratch scratch;
  GstClockTime time, looked; /* of this frame, and of the last with a result */
  gboolean has_mask;         /* that result had a mask of the whole frame */
  gboolean told_closed;
  gint64 told;
  gboolean refused;
} SlRedact;

typedef GstBaseTransformClass SlRedactClass;

G_DEFINE_TYPE (SlRedact, sl_redact, GST_TYPE_BASE_TRANSFORM)

static GType mode_get_type (void);
G_DEFINE_ENUM_TYPE (SlRedactMode, mode,
                    { SL_HIDE_PIXELATE, "At most 8x8 squares a region", "pixelate" },
                    { SL_HIDE_BLUR, "The same values, interpolated", "blur" },
                    { SL_HIDE_FILL, "One colour", "fill" })
static GType shape_get_type (void);
G_DEFINE_ENUM_TYPE (SlRedactShape, shape, { SHAPE_BOX, "Boxes of objects", "box" },
                    { SHAPE_MASK, "Masks of objects, boxes where there is no mask", "mask" })
static GType missing_get_type (void);
G_DEFINE_ENUM_TYPE (SlRedactMissing, missing,
                    { MISSING_REDACT, "The whole frame is hidden", "redact" },
                    { MISSING_DROP, "The frame is dropped", "drop" })

#define AT(member) G_STRUCT_OFFSET (SlRedact, member)
#define PROP_STATS (G_N_ELEMENTS (properties) + 1)

static const SlProperty properties[] = {
  { "mode", "Mode", "How regions are hidden", SL_PROPERTY_CHOICE, AT (settings.mode), 0, 0,
    SL_HIDE_PIXELATE, mode_get_type, TRUE },
  { "colour", "Colour", "Colour of mode=fill as a number 0xRRGGBB; 0 = black", SL_PROPERTY_INT,
    AT (settings.colour), 0, 0xffffff, 0, NULL, TRUE },
  { "objects", "Objects", "Hide objects; false = only zones, and frames need no result of a model",
    SL_PROPERTY_BOOL, AT (settings.objects), 0, 0, TRUE, NULL, TRUE },
  { "classes", "Classes",
    "Hidden classes, such as face,person, or with ! excluded classes, such as !dog; unset = all",
    SL_PROPERTY_STRING, AT (classes), 0, 0, 0, NULL, TRUE },
  { "min-confidence", "Least confidence",
    "Least confidence of a hidden object, 0..1; the detector's own threshold applies before",
    SL_PROPERTY_DOUBLE, AT (settings.min_confidence), 0, 1, 0, NULL, TRUE },
  { "margin", "Margin", "How much of its size is hidden around an object on each side",
    SL_PROPERTY_DOUBLE, AT (settings.margin), 0, 4, 0.1, NULL, TRUE },
  { "shape", "Shape", "What of an object is hidden", SL_PROPERTY_CHOICE, AT (settings.shape), 0, 0,
    SHAPE_BOX, shape_get_type, TRUE },
  { "zones", "Zones",
    "Hidden zones, points in 0..1 of the frame: \"[zone street] points=0,0 1,0 1,0.3 0,0.3\"; one "
    "after the other",
    SL_PROPERTY_STRING, AT (zones) },
  { "invert", "Invert",
    "Hide everything but zones and the boxes of objects, which have no margin and are not held",
    SL_PROPERTY_BOOL, AT (settings.invert), 0, 0, FALSE, NULL, TRUE },
  { "hold", "Hold", "Milliseconds that a region stays hidden after the detector lost its object",
    SL_PROPERTY_INT, AT (settings.hold), 0, 60000, 500, NULL, TRUE },
  { "growth", "Growth",
    "How much of its size a region grows on each side in a second while its object is lost, beside "
    "its last velocity",
    SL_PROPERTY_DOUBLE, AT (settings.growth), 0, 100, 1, NULL, TRUE },
  { "max-age", "Longest age",
    "Milliseconds for which a result serves later frames without one, such as those that slpredict "
    "inference-interval skips; 0 = every frame needs its own. An object that appears in between is "
    "not hidden",
    SL_PROPERTY_INT, AT (settings.max_age), 0, 60000, 0, NULL, TRUE },
  { "on-missing", "On missing results",
    "What happens to a frame without a result of a model, or whose result is too old",
    SL_PROPERTY_CHOICE, AT (settings.on_missing), 0, 0, MISSING_REDACT, missing_get_type, TRUE },
  { "switch", "Switch", "Allow active=false", SL_PROPERTY_BOOL, AT (settings.switchable), 0, 0,
    FALSE },
  { "active", "Active", "Hide; false = show frames open, if switch=true allows it",
    SL_PROPERTY_BOOL, AT (settings.active), 0, 0, TRUE, NULL, TRUE },
};

static void
sl_redact_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  SlRedact *self = (SlRedact *) object;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (object));
  if (id != PROP_STATS) {
    sl_property_get (object, &properties[id - 1], value);
    return;
  }
  const guint64 *fates = self->fates;
  g_value_take_boxed (
    value, gst_structure_new (
             "stats", "frames", G_TYPE_UINT64,
             fates[FATE_UNCHANGED] + fates[FATE_REDACTED] + fates[FATE_WHOLE] + fates[FATE_DROPPED],
             "unchanged", G_TYPE_UINT64, fates[FATE_UNCHANGED], "redacted", G_TYPE_UINT64,
             fates[FATE_REDACTED], "whole", G_TYPE_UINT64, fates[FATE_WHOLE], "dropped",
             G_TYPE_UINT64, fates[FATE_DROPPED], NULL));
}

/* Says that frames are hidden whole (@reason) or are not any more (NULL), when that is news. */
static void
tell (SlRedact *self, const char *reason, const char *detail)
{
  const gint64 now = g_get_monotonic_time ();
  if (self->told_closed == (reason != NULL) || (self->told > 0 && now - self->told < TELL_INTERVAL))
    return;
  self->told_closed = reason != NULL;
  self->told = now;
  if (reason != NULL)
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("no frame is shown open: %s%s", reason, detail),
                         (NULL));
  else
    GST_ELEMENT_INFO (self, STREAM, FAILED,
                      ("frames have results of a model again: only regions are hidden"), (NULL));
  sl_element_post (GST_ELEMENT (self),
                   gst_structure_new ("slredact", "closed", G_TYPE_BOOLEAN, reason != NULL,
                                      "reason", G_TYPE_STRING, reason != NULL ? reason : "", NULL));
}

static GstFlowReturn
leave (SlRedact *self, Fate fate)
{
  GST_OBJECT_LOCK (self);
  self->fates[fate]++;
  GST_OBJECT_UNLOCK (self);
  return fate == FATE_DROPPED ? GST_BASE_TRANSFORM_FLOW_DROPPED : GST_FLOW_OK;
}

/* Only our own mark counts: regions may come from anything, such as an encoder's settings. */
static gboolean
has_result (GstBuffer *buffer)
{
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  return meta != NULL && meta->decoded > 0 && meta->content != SL_FRAME_SKIPPED;
}

/* Whether the model before has the classes; after a model was replaced it is asked again. */
static gboolean
is_fit (SlRedact *self)
{
  const guint offers = sl_class_names_offers ();
  if (offers == self->offers)
    return self->unfit == NULL;
  g_autoptr (GError) error = NULL;
  self->offers = offers;
  g_clear_pointer (&self->unfit, g_free);
  if (!sl_class_names_check (GST_BASE_TRANSFORM_SINK_PAD (self), self->choice.filter, &error))
    self->unfit = g_strdup (error->message);
  return self->unfit == NULL;
}

/* (nullable): why the frame must not be shown. */
static const char *
find_reason (SlRedact *self, const Settings *settings, GstBuffer *buffer)
{
  const guint64 most = (guint64) settings->max_age * GST_MSECOND;
  if (!settings->objects)
    return NULL;
  if (!is_fit (self))
    return "the classes are not those of the model: ";
  if (has_result (buffer))
    return NULL;
  if (self->looked == GST_CLOCK_TIME_NONE || settings->max_age == 0 || self->has_mask)
    return "no model has looked at a frame; expected slpredict upstream, with a result on each "
           "frame";
  if (self->time < self->looked || self->time - self->looked > most)
    return "the last result of a model is older than max-age";
  return NULL;
}

static void
find_time (SlRedact *self, GstBuffer *buffer)
{
  const GstVideoInfo *info = &self->info;
  GstClockTime interval = USUAL_INTERVAL;
  if (GST_VIDEO_INFO_FPS_N (info) > 0 && GST_VIDEO_INFO_FPS_D (info) > 0)
    interval = gst_util_uint64_scale_int (GST_SECOND, GST_VIDEO_INFO_FPS_D (info),
                                          GST_VIDEO_INFO_FPS_N (info));
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    self->time = GST_BUFFER_PTS (buffer);
  else
    self->time = self->time == GST_CLOCK_TIME_NONE ? 0 : self->time + interval;
}

/* A box in pixels of the frame. */
static void
to_pixels (const SlRedact *self, const gdouble box[4], gdouble margin, gdouble pixels[4])
{
  const gint size[2] = { GST_VIDEO_INFO_WIDTH (&self->info), GST_VIDEO_INFO_HEIGHT (&self->info) };
  for (guint i = 0; i < 2; i++) {
    const gdouble more = margin * (box[i + 2] - box[i]);
    pixels[i] = CLAMP ((box[i] - more) * size[i], 0, size[i]);
    pixels[i + 2] = CLAMP ((box[i + 2] + more) * size[i], 0, size[i]);
  }
}

static SlRect
to_rect (const gdouble pixels[4])
{
  const gint left = (gint) pixels[0], top = (gint) pixels[1];
  return (SlRect){ left, top, (gint) pixels[2] - left + (pixels[2] > (gint) pixels[2]),
                   (gint) pixels[3] - top + (pixels[3] > (gint) pixels[3]) };
}

static gboolean
is_chosen (const SlRedact *self, const Settings *settings, const SlObjectView *object)
{
  return !(object->confidence < settings->min_confidence)
         && sl_class_filter_passes (self->choice.filter, object->label);
}

/* Remembers what is on the frame. FALSE when it is more than can be held. */
static gboolean
see (SlRedact *self, const Settings *settings, const SlPredictionView *prediction)
{
  guint n = 0;
  for (guint i = 0; i < prediction->n_objects; i++) {
    const SlObjectView *object = &prediction->objects[i];
    if (!is_chosen (self, settings, object))
      continue;
    if (n == SL_HELD_MOST)
      return FALSE;
    self->seen[n++] =
      (SlSeen){ object->object_id, { object->x_min, object->y_min, object->x_max, object->y_max } };
  }
  return sl_held_see (&self->held, self->seen, n, self->time);
}

typedef struct
{
  SlRedact *self;
  const Settings *settings;
  GstVideoFrame *frame;
  SlHideStyle style;
} Work;

static void
hide_rect (const Work *work, SlRect area, const guint8 *blocks)
{
  sl_hide (work->frame, &work->style, area, blocks, &work->self->scratch);
}

static void
hide_whole (const Work *work)
{
  hide_rect (work,
             (SlRect){ 0, 0, GST_VIDEO_INFO_WIDTH (&work->self->info),
                       GST_VIDEO_INFO_HEIGHT (&work->self->info) },
             NULL);
}

static void
hide_zones (const Work *work)
{
  SlRedact *self = work->self;
  for (guint i = 0; self->regions != NULL && i < self->regions->list->len; i++) {
    const SlRegion *region = &g_array_index (self->regions->list, SlRegion, i);
    hide_rect (work,
               sl_areas_bounds (region->points, region->n_points,
                                GST_VIDEO_INFO_WIDTH (&self->info),
                                GST_VIDEO_INFO_HEIGHT (&self->info)),
               self->zone_blocks.blocks);
  }
}

static void
hide_mask (const Work *work, const SlObjectView *object)
{
  SlRedact *self = work->self;
  const gdouble more = work->settings->margin * MIN (object->w, object->h),
                box[4] = { object->x, object->y, object->x + object->w, object->y + object->h };
  const gint edge = (gint) more + 2 * SL_HIDE_BLOCK;
  sl_areas_begin (&self->blocks, GST_VIDEO_INFO_WIDTH (&self->info),
                  GST_VIDEO_INFO_HEIGHT (&self->info), FALSE);
  sl_areas_add_mask (&self->blocks, object, more);
  const SlRect rect = to_rect (box);
  hide_rect (work,
             (SlRect){ (rect.x - edge) / SL_HIDE_BLOCK * SL_HIDE_BLOCK,
                       (rect.y - edge) / SL_HIDE_BLOCK * SL_HIDE_BLOCK, rect.width + 2 * edge,
                       rect.height + 2 * edge },
             self->blocks.blocks);
}

/* Objects that this result found, by their masks; their boxes are left to the rest. */
static void
hide_masks (const Work *work, const SlPredictionView *prediction)
{
  for (guint i = 0; i < prediction->n_objects; i++)
    if (is_chosen (work->self, work->settings, &prediction->objects[i])
        && prediction->objects[i].mask.width > 0)
      hide_mask (work, &prediction->objects[i]);
}

/* Cells of a class that is hidden, and those outside the model's input. */
static void
hide_classes (const Work *work, const SlPredictionView *prediction)
{
  SlRedact *self = work->self;
  const SlClassMask *mask = &prediction->mask;
  const gint width = prediction->width, height = prediction->height;
  gboolean hidden[256] = { [SL_MASK_VOID] = TRUE };
  for (guint i = 0; i < prediction->n_mask_classes; i++) {
    const SlMaskClass *found = &prediction->mask_classes[i];
    hidden[found->label_id & 0xff] = found->label_id != mask->background
                                     && sl_class_filter_passes (self->choice.filter, found->label);
  }
  sl_areas_begin (&self->blocks, width, height, FALSE);
  for (guint y = 0; y < mask->height; y++)
    for (guint x = 0; x < mask->width; x++) {
      const gdouble box[4] = { (gdouble) x * width / mask->width,
                               (gdouble) y * height / mask->height,
                               (gdouble) (x + 1) * width / mask->width,
                               (gdouble) (y + 1) * height / mask->height };
      if (hidden[mask->classes[(gsize) y * mask->width + x]])
        sl_areas_set_rect (&self->blocks, box, FALSE, TRUE);
    }
  hide_rect (work, (SlRect){ 0, 0, width, height }, self->blocks.blocks);
}

/* Whether an object of this result has a mask that hides it. */
static gboolean
is_masked (const Work *work, const SlHeldObject *object, const SlPredictionView *prediction)
{
  if (work->settings->shape != SHAPE_MASK || !object->fresh || object->time != work->self->time)
    return FALSE;
  for (guint i = 0; i < prediction->n_objects; i++)
    if (prediction->objects[i].mask.width > 0 && prediction->objects[i].x_min == object->seen.box[0]
        && prediction->objects[i].y_min == object->seen.box[1]
        && prediction->objects[i].x_max == object->seen.box[2]
        && prediction->objects[i].y_max == object->seen.box[3])
      return TRUE;
  return FALSE;
}

static void
hide_objects (const Work *work, const SlPredictionView *prediction)
{
  SlRedact *self = work->self;
  for (guint i = 0; i < self->held.n; i++) {
    gdouble box[4], pixels[4];
    if (is_masked (work, &self->held.objects[i], prediction))
      continue;
    sl_held_box (&self->held.objects[i], self->time, work->settings->growth, box);
    to_pixels (self, box, work->settings->margin, pixels);
    hide_rect (work, to_rect (pixels), NULL);
  }
  if (work->settings->shape == SHAPE_MASK)
    hide_masks (work, prediction);
  if (prediction->mask.width > 0)
    hide_classes (work, prediction);
}

/* Everything but zones and the objects of this result. */
static void
hide_others (const Work *work, const SlPredictionView *prediction)
{
  SlRedact *self = work->self;
  const gint width = GST_VIDEO_INFO_WIDTH (&self->info),
             height = GST_VIDEO_INFO_HEIGHT (&self->info);
  sl_areas_begin (&self->blocks, width, height, TRUE);
  for (gsize i = 0;
       self->regions != NULL && i < (gsize) self->blocks.columns * (gsize) self->blocks.rows; i++)
    self->blocks.blocks[i] = self->zone_blocks.blocks[i];
  for (guint i = 0; i < prediction->n_objects; i++) {
    const SlObjectView *object = &prediction->objects[i];
    const gdouble box[4] = { object->x_min, object->y_min, object->x_max, object->y_max };
    gdouble pixels[4];
    to_pixels (self, box, 0, pixels);
    if (is_chosen (self, work->settings, object))
      sl_areas_set_rect (&self->blocks, pixels, TRUE, FALSE);
  }
  hide_rect (work, (SlRect){ 0, 0, width, height }, self->blocks.blocks);
}

/* Zones as blocks: hidden ones, or with invert all but them. */
static void
draw_zones (SlRedact *self, gboolean invert)
{
  const gint width = GST_VIDEO_INFO_WIDTH (&self->info),
             height = GST_VIDEO_INFO_HEIGHT (&self->info);
  if (self->regions == NULL || self->zones_inverted == invert)
    return;
  self->zones_inverted = invert;
  sl_areas_begin (&self->zone_blocks, width, height, (guint8) invert);
  for (guint i = 0; i < self->regions->list->len; i++) {
    const SlRegion *region = &g_array_index (self->regions->list, SlRegion, i);
    sl_areas_set_polygon (&self->zone_blocks, region->points, region->n_points, width, height,
                          invert, (guint8) !invert);
  }
}

/* The colour as the frame's components have it. */
static SlHideStyle
find_style (const Settings *settings, GstVideoFrame *frame)
{
  SlHideStyle style = { settings->mode, { 0, 0, 0, 0xff } };
  SlCanvas canvas;
  if (settings->mode != SL_HIDE_FILL)
    return style;
  sl_canvas_init (&canvas, frame);
  const SlInk ink = sl_canvas_ink (&canvas, (guint32) settings->colour);
  for (guint i = 0; i < G_N_ELEMENTS (ink.value); i++)
    style.value[i] = ink.value[i];
  return style;
}

/* Whether anything of a frame with a result, or that needs none, is hidden. */
static gboolean
hides_some (const SlRedact *self, const Settings *settings, const SlPredictionView *prediction)
{
  return settings->invert || self->regions != NULL
         || (settings->objects && (self->held.n > 0 || prediction->mask.width > 0));
}

/* Reads the objects of the frame; returns why it must not be shown (nullable). */
static const char *
read_frame (SlRedact *self, const Settings *settings, GstBuffer *buffer,
            SlPredictionView *prediction)
{
  const char *reason = find_reason (self, settings, buffer);
  if (!settings->objects || reason != NULL)
    return reason;
  if (has_result (buffer)) {
    sl_prediction_reader_read (&self->reader, buffer, prediction);
    self->looked = self->time;
    self->has_mask = prediction->mask.width > 0;
    sl_held_forget (&self->held, self->time, (guint64) settings->hold * GST_MSECOND);
    if (!see (self, settings, prediction))
      return "there are more objects than can be hidden one by one";
  } else if (settings->invert) {
    return "no model has looked at a frame; expected a result on each frame with invert=true";
  } else {
    sl_held_forget (&self->held, self->time,
                    (guint64) MAX (settings->hold, settings->max_age) * GST_MSECOND);
  }
  return NULL;
}

static GstFlowReturn
drop (SlRedact *self, const char *reason, const char *detail)
{
  tell (self, reason, detail);
  return leave (self, FATE_DROPPED);
}

/* Maps the frame and hides what @reason (nullable: the whole frame) and @prediction say. */
static GstFlowReturn
hide_frame (SlRedact *self, const Settings *settings, GstBuffer *buffer, const char *reason,
            const SlPredictionView *prediction)
{
  GstVideoFrame frame;
  g_autoptr (GError) error = NULL;
  if (!sl_video_frame_map (&frame, &self->info, buffer,
                           GST_MAP_READWRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF, &error))
    return drop (self, "a frame cannot be written to and is dropped: ", error->message);
  const Work work = { self, settings, &frame, find_style (settings, &frame) };
  draw_zones (self, settings->invert);
  if (reason != NULL) {
    hide_whole (&work);
  } else if (settings->invert) {
    hide_others (&work, prediction);
  } else {
    hide_zones (&work);
    if (settings->objects)
      hide_objects (&work, prediction);
  }
  gst_video_frame_unmap (&frame);
  return leave (self, reason != NULL ? FATE_WHOLE : FATE_REDACTED);
}

static GstFlowReturn
sl_redact_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  SlRedact *self = (SlRedact *) base;
  SlPredictionView prediction = { .width = GST_VIDEO_INFO_WIDTH (&self->info),
                                  .height = GST_VIDEO_INFO_HEIGHT (&self->info) };
  SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  GST_OBJECT_LOCK (self);
  const Settings settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  if (!sl_class_choice_follow (&self->choice, GST_ELEMENT (self), &self->classes,
                               GST_BASE_TRANSFORM_SINK_PAD (self)))
    return GST_FLOW_ERROR;
  if (meta != NULL)
    gst_clear_buffer (&meta->frame); /* an open picture must not travel with a hidden one */
  if (gst_buffer_get_video_crop_meta (buffer) != NULL)
    return drop (self, "a frame has a GstVideoCropMeta, which moves the picture, and is dropped",
                 "");
  find_time (self, buffer);
  const char *reason = read_frame (self, &settings, buffer, &prediction);
  if (settings.switchable
      && !settings.active) /* objects were seen, so that hiding goes on at once */
    return leave (self, FATE_UNCHANGED);
  const char *detail = self->unfit != NULL && reason != NULL ? self->unfit : "";
  if (reason != NULL && settings.on_missing == MISSING_DROP)
    return drop (self, reason, detail);
  tell (self, reason, detail);
  if (reason == NULL && !hides_some (self, &settings, &prediction))
    return leave (self, FATE_UNCHANGED);
  return hide_frame (self, &settings, buffer, reason, &prediction);
}

static void
forget (SlRedact *self)
{
  self->held.n = 0;
  self->time = self->looked = GST_CLOCK_TIME_NONE;
  self->has_mask = FALSE;
}

static gboolean
sl_redact_sink_event (GstBaseTransform *base, GstEvent *event)
{
  SlRedact *self = (SlRedact *) base;
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS
      && !sl_video_caps_check (base, event, SL_HIDE_FORMATS, "slredact", &self->refused)) {
    gst_event_unref (event);
    return FALSE;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    forget (self);
  return GST_BASE_TRANSFORM_CLASS (sl_redact_parent_class)->sink_event (base, event);
}

/* The first frame of another size needs a result of its own. */
static gboolean
sl_redact_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  SlRedact *self = (SlRedact *) base;
  if (!gst_video_info_from_caps (&self->info, in))
    return FALSE;
  self->looked = GST_CLOCK_TIME_NONE;
  self->zones_inverted = -1;
  return TRUE;
}

static gboolean
check_settings (GstElement *element, GError **error)
{
  SlRedact *self = (SlRedact *) element;
  GST_OBJECT_LOCK (self);
  g_autofree char *text = g_strdup (self->zones);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&self->regions, sl_regions_free); /* of a start that failed */
  return sl_regions_parse_zones (text, "zones", &self->regions, error);
}

static gboolean
sl_redact_start (GstBaseTransform *base)
{
  SlRedact *self = (SlRedact *) base;
  g_autoptr (GError) error = NULL;
  if (!check_settings (GST_ELEMENT (self), &error))
    return sl_element_report_settings (GST_ELEMENT (self), error);
  sl_prediction_reader_init (&self->reader);
  forget (self);
  self->offers = 0;
  self->told = 0;
  self->told_closed = self->refused = FALSE;
  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < N_FATES; i++)
    self->fates[i] = 0;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
sl_redact_stop (GstBaseTransform *base)
{
  SlRedact *self = (SlRedact *) base;
  sl_prediction_reader_clear (&self->reader);
  sl_class_choice_clear (&self->choice);
  g_clear_pointer (&self->regions, sl_regions_free);
  g_clear_pointer (&self->unfit, g_free);
  return TRUE;
}

static void
sl_redact_finalize (GObject *object)
{
  SlRedact *self = (SlRedact *) object;
  g_clear_pointer (&self->regions, sl_regions_free);
  sl_areas_clear (&self->zone_blocks);
  sl_areas_clear (&self->blocks);
  sl_hide_scratch_clear (&self->scratch);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_redact_parent_class)->finalize (object);
}

static void
sl_redact_class_init (SlRedactClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_redact_debug, "slredact", 0, "objects and zones hidden on frames");
  object_class->finalize = sl_redact_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  object_class->get_property = sl_redact_get_property;
  g_object_class_install_property (
    object_class, PROP_STATS,
    sl_property_figures ("stats", "Statistics",
                         "Frames since the start, as a structure: frames, and of them unchanged, "
                         "redacted (regions hidden), whole (hidden whole) and dropped (uint64)"));
  sl_element_class_set_check (element_class, check_settings);
  sl_element_class_pads (element_class, CAPS, CAPS);
  sl_element_class_describe (
    element_class, "Sightline redactor", "Filter/Effect/Video",
    "Hides objects and zones on YUV, RGB and gray frames, in place: at most 8x8 values of a region "
    "are left. A frame without a result of a model is hidden whole or dropped.",
    "gst-launch-1.0 v4l2src ! slpredict model=face.tflite ! slredact ! videoconvert ! "
    "autovideosink",
    "privacy.md");
  klass->transform_ip = sl_redact_transform_ip;
  klass->set_caps = sl_redact_set_caps;
  sl_video_caps_let_through (klass);
  klass->sink_event = sl_redact_sink_event;
  klass->start = sl_redact_start;
  klass->stop = sl_redact_stop;
}

static void
sl_redact_init (SlRedact *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
