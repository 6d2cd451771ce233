/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/tensor/turn.h"

#include <gst/base/gstbasetransform.h>
#include <string.h>

#include "plugins/base/properties.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/meta/motion_meta.h"
#include "plugins/meta/seen_event.h"

#define LEAKY_DOWNSTREAM 2

static void
set_occupied (SlInferTurn *turn, const char *zone, gboolean occupied)
{
  gpointer name = (gpointer) g_intern_string (zone);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&turn->lock);
  if (occupied)
    g_hash_table_add (turn->occupied, name);
  else
    g_hash_table_remove (turn->occupied, name);
}

/* Models further upstream may need the same zone. */
static GstPadProbeReturn
take_event (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  SlInferTurn *turn = data;
  const char *zone;
  gboolean seen;
  if (sl_zone_receive (info->data, &zone, &seen))
    set_occupied (turn, zone, seen);
  if (!sl_seen_receive (info->data, &seen))
    return GST_PAD_PROBE_OK;
  g_atomic_int_set (&turn->seen, seen);
  return GST_PAD_PROBE_DROP;
}

/* @turn is the element's, whose pad @source is, and lives as long. */
void
sl_infer_turn_init (SlInferTurn *turn, GstPad *source)
{
  turn->stream = sl_budget_stream_new ();
  turn->occupied = g_hash_table_new (NULL, NULL);
  g_mutex_init (&turn->lock);
  gst_pad_add_probe (source, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, take_event, turn, NULL);
}

void
sl_infer_turn_clear (SlInferTurn *turn)
{
  g_clear_pointer (&turn->stream, sl_budget_stream_free);
  g_clear_pointer (&turn->occupied, g_hash_table_unref);
  g_mutex_clear (&turn->lock);
}

void
sl_infer_turn_set (SlInferTurn *turn, gdouble rate, guint priority, guint threads,
                   SlBatchStream *batch)
{
  sl_budget_stream_leave (turn->stream, FALSE, FALSE);
  sl_budget_stream_set (turn->stream, rate, priority, threads, batch);
  turn->batch = batch != NULL;
}

void
sl_infer_turn_set_need (SlInferTurn *turn, const char *need)
{
  const char *zone;
  sl_need_parse (need, &turn->need, &zone);
  turn->zone = g_intern_string (zone);
}

/* Whether a frame waits in a queue directly upstream. @replaces: frames there replace each other.
 */
static gboolean
has_next (GstPad *sink, gboolean *replaces)
{
  g_autoptr (GstPad) peer = gst_pad_get_peer (sink);
  g_autoptr (GstElement) queue = peer != NULL ? gst_pad_get_parent_element (peer) : NULL;
  guint level = 0;
  gint leaky = 0;
  if (queue != NULL && strcmp (G_OBJECT_TYPE_NAME (queue), "GstQueue") == 0)
    g_object_get (queue, "current-level-buffers", &level, "leaky", &leaky, NULL);
  *replaces = leaky == LEAKY_DOWNSTREAM;
  return level > 0;
}

/* How many frames came since the last one, as far as slpredict numbers them. */
static guint
count_frames (SlInferTurn *turn, const SlFrameMeta *meta)
{
  const guint64 serial = meta != NULL ? meta->serial : 0, before = turn->serial;
  turn->serial = serial;
  return before > 0 && serial > before ? (guint) MIN (serial - before, G_MAXUINT / 2) : 1;
}

static gboolean
shows_motion (const SlFrameMeta *meta)
{
  const SlMotionMeta *motion =
    meta != NULL && meta->frame != NULL ? sl_buffer_get_motion (meta->frame) : NULL;
  return motion != NULL && motion->n > 0;
}

static gboolean
is_occupied (SlInferTurn *turn)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&turn->lock);
  return g_hash_table_contains (turn->occupied, turn->zone);
}

static gboolean
has_need (SlInferTurn *turn, const SlFrameMeta *meta)
{
  const gboolean seen = g_atomic_int_get (&turn->seen);
  switch (turn->need) {
    case SL_NEED_MOTION:
      return shows_motion (meta);
    case SL_NEED_OBJECTS:
      return seen;
    case SL_NEED_ZONE:
      return is_occupied (turn);
    case SL_NEED_ANY:
      break;
  }
  return seen || shows_motion (meta);
}

/* Parts of a frame belong together, and where frames have no tensor in between, the newer one may
 * be one of those. */
static gboolean
gives_way (const SlInferTurn *turn, GstPad *sink, const SlFrameMeta *meta)
{
  gboolean replaces;
  return !turn->gaps && (meta == NULL || meta->content == SL_FRAME_WHOLE)
         && has_next (sink, &replaces) && replaces;
}

GstFlowReturn
sl_infer_turn_take (SlInferTurn *turn, GstPad *sink, GstBuffer *in)
{
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (in);
  if (turn->parts)
    return GST_FLOW_OK;
  if (!sl_budget_stream_enter (turn->stream, count_frames (turn, meta), has_need (turn, meta)))
    return GST_FLOW_FLUSHING;
  const gboolean gives = sl_budget_stream_has_turn (turn->stream) && gives_way (turn, sink, meta);
  turn->gaps = FALSE;
  if (gives)
    sl_budget_stream_skip (turn->stream);
  return gives ? GST_BASE_TRANSFORM_FLOW_DROPPED : GST_FLOW_OK;
}

void
sl_infer_turn_done (SlInferTurn *turn, GstPad *sink, GstBuffer *out, gboolean ran)
{
  gboolean replaces;
  SlFrameMeta *meta = sl_buffer_get_frame_meta (out);
  if (meta != NULL)
    meta->budgeted = sl_budget_stream_has_turn (turn->stream);
  turn->parts = ran && sl_buffer_is_part (out);
  if (!turn->parts && sl_budget_stream_has_turn (turn->stream))
    sl_budget_stream_leave (turn->stream, ran, has_next (sink, &replaces) || turn->batch);
}

void
sl_infer_turn_end (SlInferTurn *turn, gboolean gap)
{
  turn->parts = FALSE;
  turn->gaps = gap;
  if (!gap) {
    g_atomic_int_set (&turn->seen, FALSE);
    g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&turn->lock);
    g_hash_table_remove_all (turn->occupied);
  }
  turn->serial = gap && turn->serial > 0 ? turn->serial + 1 : 0;
  sl_budget_stream_leave (turn->stream, FALSE, FALSE);
}

GstStructure *
sl_infer_turn_figures (const SlInferTurn *turn)
{
  SlTurnFigures figures;
  if (!sl_budget_stream_figures (turn->stream, &figures))
    return NULL;
  return gst_structure_new (
    "budget", "promised", G_TYPE_DOUBLE, figures.promised, "offered", G_TYPE_DOUBLE,
    figures.offered, "delivered", G_TYPE_DOUBLE, figures.delivered, "frames", G_TYPE_UINT64,
    figures.frames, "skipped", G_TYPE_UINT64, figures.skipped, "need", G_TYPE_BOOLEAN, figures.need,
    "cost", G_TYPE_INT64, figures.cost, "waited-p50", G_TYPE_INT64, figures.waited_p50,
    "waited-p99", G_TYPE_INT64, figures.waited_p99, NULL);
}

void
sl_infer_turn_install (GObjectClass *klass, guint id)
{
  g_object_class_install_property (
    klass, id,
    sl_property_figures (
      "budget", "Budget",
      "The element's part in the budget, NULL without promised-rate: promised, offered and "
      "delivered frames a second (the latter two over the last 10 seconds); frames; skipped "
      "frames; whether the stream has a need at its newest frame (need); microseconds of a run "
      "(cost), and those that "
      "frames waited for their turn (waited-p50, waited-p99)"));
}
