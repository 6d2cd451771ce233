/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts dropped frames. A leaky queue does not report them: they are the frames that came, minus
 * those that left, minus those inside. The three counts are read while frames flow, so a frame in
 * between may seem dropped; a drop counts only after two readings have it. An appsrc reports each
 * time that it is full.
 */
#include "tools/run/drops.h"

#include <stdatomic.h>
#include <string.h>

#include "plugins/base/report.h"

/* Under the lock of the drops, but for what is atomic. */
typedef struct
{
  SlDrops *drops;
  GWeakRef element;
  atomic_uint_least64_t in, out;
  guint64 flushed; /* neither dropped nor out */
  guint64 seen;    /* by the last reading */
  guint64 told;
} Queue;

struct _SlDrops
{
  GMutex lock;
  GPtrArray *queues; /* of Queue */
  GHashTable *late;  /* what an element said last: its path to guint64 */
  guint64 n_late;
  atomic_uint_least64_t full[SL_N_DROPS]; /* of appsrc */
};

static const char *const names[SL_N_DROPS] = { "late", "queue", "camera" };

const char *
sl_drop_name (SlDrop drop)
{
  return names[drop];
}

static void
queue_free (gpointer data)
{
  Queue *queue = data;
  g_weak_ref_clear (&queue->element);
  g_free (queue);
}

SlDrops *
sl_drops_new (void)
{
  SlDrops *drops = g_new0 (SlDrops, 1);
  g_mutex_init (&drops->lock);
  drops->queues = g_ptr_array_new_with_free_func (queue_free);
  drops->late = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return drops;
}

void
sl_drops_free (SlDrops *drops)
{
  if (drops == NULL)
    return;
  g_ptr_array_unref (drops->queues);
  g_hash_table_unref (drops->late);
  g_mutex_clear (&drops->lock);
  g_free (drops);
}

/* Under the lock. One that does not leak drops nothing: what it lacks is on its way. */
static void
read_queue (Queue *queue)
{
  g_autoptr (GstElement) element = g_weak_ref_get (&queue->element);
  guint level = 0;
  gint leaky = 0;
  if (element == NULL)
    return;
  const guint64 in = atomic_load (&queue->in);
  g_object_get (element, "leaky", &leaky, "current-level-buffers", &level, NULL);
  const guint64 rest = atomic_load (&queue->out) + level + queue->flushed,
                seen = leaky != 0 && in > rest ? in - rest : 0;
  queue->told = MAX (queue->told, MIN (queue->seen, seen));
  queue->seen = seen;
}

static void
count_data (atomic_uint_least64_t *counter, GstPadProbeInfo *info)
{
  const gboolean is_list = (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER_LIST) != 0;
  atomic_fetch_add (counter,
                    is_list ? gst_buffer_list_length (GST_PAD_PROBE_INFO_BUFFER_LIST (info)) : 1);
}

static GstPadProbeReturn
data_in (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  count_data (&((Queue *) data)->in, info);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
data_out (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  count_data (&((Queue *) data)->out, info);
  return GST_PAD_PROBE_OK;
}

/* What is in a queue that is flushed goes, and is no loss. Nothing flows meanwhile. */
static GstPadProbeReturn
flush (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Queue *queue = data;
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) != GST_EVENT_FLUSH_STOP)
    return GST_PAD_PROBE_OK;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&queue->drops->lock);
  read_queue (queue);
  queue->flushed = atomic_load (&queue->in) - atomic_load (&queue->out) - queue->told;
  queue->seen = queue->told;
  return GST_PAD_PROBE_OK;
}

static void
probe (GstElement *element, const char *pad_name, GstPadProbeType type,
       GstPadProbeCallback callback, Queue *queue)
{
  GstPad *pad = gst_element_get_static_pad (element, pad_name);
  gst_pad_add_probe (pad, type, callback, queue, NULL);
  gst_object_unref (pad);
}

static void
watch_queue (SlDrops *drops, GstElement *element)
{
  Queue *queue = g_new0 (Queue, 1);
  queue->drops = drops;
  g_weak_ref_init (&queue->element, element);
  g_mutex_lock (&drops->lock);
  g_ptr_array_add (drops->queues, queue);
  g_mutex_unlock (&drops->lock);
  probe (element, "sink", GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, data_in,
         queue);
  probe (element, "src", GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, data_out,
         queue);
  probe (element, "src", GST_PAD_PROBE_TYPE_EVENT_FLUSH, flush, queue);
}

/* Told once for each frame that finds it full; where it is leaky, a frame then gives way. */
static void
on_full (GstElement *source, gpointer counter)
{
  gint leaky = 0;
  g_object_get (source, "leaky-type", &leaky, NULL);
  if (leaky != 0)
    atomic_fetch_add ((atomic_uint_least64_t *) counter, 1);
}

void
sl_drops_watch (SlDrops *drops, GstElement *element)
{
  const char *type = G_OBJECT_TYPE_NAME (element);
  if (strcmp (type, "GstQueue") == 0 && !sl_element_is_inside (element, "SlPredict"))
    watch_queue (drops, element);
  else if (strcmp (type, "GstAppSrc") == 0)
    g_signal_connect (
      element, "enough-data", G_CALLBACK (on_full),
      &drops->full[sl_element_is_inside (element, "SlCamera") ? SL_DROP_CAMERA : SL_DROP_QUEUE]);
}

void
sl_drops_take_message (SlDrops *drops, GstMessage *message)
{
  GstFormat format;
  guint64 dropped = 0;
  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_QOS || GST_MESSAGE_SRC (message) == NULL
      || strcmp (G_OBJECT_TYPE_NAME (GST_MESSAGE_SRC (message)), "SlPredict") == 0)
    return;
  gst_message_parse_qos_stats (message, &format, NULL, &dropped);
  if (dropped == G_MAXUINT64 || (format != GST_FORMAT_BUFFERS && format != GST_FORMAT_DEFAULT))
    return;
  char *path = gst_object_get_path_string (GST_MESSAGE_SRC (message));
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&drops->lock);
  const guint64 *before = g_hash_table_lookup (drops->late, path);
  drops->n_late += before != NULL && *before <= dropped ? dropped - *before : dropped;
  g_hash_table_replace (drops->late, path, g_memdup2 (&dropped, sizeof dropped));
}

void
sl_drops_read (SlDrops *drops, guint64 counts[SL_N_DROPS])
{
  for (guint i = 0; i < SL_N_DROPS; i++)
    counts[i] = atomic_load (&drops->full[i]);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&drops->lock);
  counts[SL_DROP_LATE] += drops->n_late;
  for (guint i = 0; i < drops->queues->len; i++) {
    Queue *queue = drops->queues->pdata[i];
    read_queue (queue);
    counts[SL_DROP_QUEUE] += queue->told;
  }
}
