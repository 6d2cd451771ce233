/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pipelines/supervise/interrupt.h"

static void
interrupt (const GValue *item, gpointer data)
{
  GSignalQuery query = { .signal_id = 0 };
  GObject *element = g_value_get_object (item);
  const guint id = g_signal_lookup ("interrupt", G_OBJECT_TYPE (element));
  if (id != 0)
    g_signal_query (id, &query);
  if (id != 0 && (query.signal_flags & G_SIGNAL_ACTION) != 0 && query.n_params == 0)
    g_signal_emit (element, id, 0);
}

void
sl_pipeline_interrupt (GstBin *pipeline)
{
  GstIterator *elements = gst_bin_iterate_recurse (pipeline);
  while (gst_iterator_foreach (elements, interrupt, NULL) == GST_ITERATOR_RESYNC)
    gst_iterator_resync (elements);
  gst_iterator_free (elements);
}
