/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/tensor/stage_latency.h"

void
sl_stage_latency_start (SlStageLatency *latency, GstElement *element)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED =
    g_mutex_locker_new (GST_OBJECT_GET_LOCK (element));
  *latency = (SlStageLatency){ 0 };
}

void
sl_stage_latency_note_part (SlStageLatency *latency, gint64 elapsed_us)
{
  latency->parts_us += elapsed_us;
}

void
sl_stage_latency_note (SlStageLatency *latency, GstElement *element, gint64 elapsed_us)
{
  elapsed_us += latency->parts_us;
  latency->parts_us = 0;
  latency->mean_us =
    latency->mean_us == 0 ? elapsed_us : latency->mean_us + (elapsed_us - latency->mean_us) / 8;
  GstClockTime mean = (GstClockTime) MAX (latency->mean_us, 0) * GST_USECOND;
  GST_OBJECT_LOCK (element);
  GstClockTime change =
    mean > latency->announced ? mean - latency->announced : latency->announced - mean;
  gboolean announce = latency->live && change > latency->announced / 4 && change > 2 * GST_MSECOND;
  if (announce)
    latency->announced = mean;
  GST_OBJECT_UNLOCK (element);
  if (announce)
    gst_element_post_message (element, gst_message_new_latency (GST_OBJECT (element)));
}

void
sl_stage_latency_add (SlStageLatency *latency, GstElement *element, GstClockTime wait,
                      GstQuery *query)
{
  gboolean live;
  GstClockTime min, max;
  gst_query_parse_latency (query, &live, &min, &max);
  GST_OBJECT_LOCK (element);
  latency->live = live;
  GstClockTime own = live ? latency->announced + wait : 0;
  GST_OBJECT_UNLOCK (element);
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += own;
  gst_query_set_latency (query, live, min + own, max);
}
