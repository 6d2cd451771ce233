/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk downstream, in and out of bins. It looks at links that exist; elements that add pads
 * while playing (demuxers, decoders) stand in front of models, not behind.
 */
#include "pipelines/supervise/emitters.h"

#include "sightline/predictions.h"

static gboolean
emits (GstElement *element)
{
  GSignalQuery query;
  const guint id = g_signal_lookup ("predictions", G_OBJECT_TYPE (element));
  if (id == 0)
    return FALSE;
  g_signal_query (id, &query);
  return query.n_params == 1 && query.param_types[0] == SL_TYPE_PREDICTIONS;
}

/* (transfer full) (nullable): the element whose sink pad the data of source pad @pad comes to, bins
 * seen through. */
static GstElement *
next_element (GstPad *pad)
{
  GstPad *peer = gst_pad_get_peer (pad);
  while (peer != NULL) {
    GstPad *next = NULL;
    if (GST_IS_GHOST_PAD (peer)) {
      next = gst_ghost_pad_get_target (GST_GHOST_PAD (peer)); /* into a bin */
    } else if (GST_IS_PROXY_PAD (peer)) {
      GstProxyPad *outside = gst_proxy_pad_get_internal (GST_PROXY_PAD (peer)); /* out of one */
      next = outside != NULL ? gst_pad_get_peer (GST_PAD (outside)) : NULL;
      g_clear_object (&outside);
    } else {
      GstElement *element = gst_pad_get_parent_element (peer);
      gst_object_unref (peer);
      return element;
    }
    gst_object_unref (peer);
    peer = next;
  }
  return NULL;
}

/* Whether an element behind @element emits; @seen ends loops. */
static gboolean
another_behind (GstElement *element, GHashTable *seen)
{
  gboolean found = FALSE;
  if (!g_hash_table_add (seen, element))
    return FALSE;
  GST_OBJECT_LOCK (element);
  GList *pads =
    g_list_copy_deep (element->srcpads, (GCopyFunc) (void (*) (void)) gst_object_ref, NULL);
  GST_OBJECT_UNLOCK (element);
  for (GList *link = pads; link != NULL && !found; link = link->next) {
    GstElement *next = next_element (link->data);
    found = next != NULL && (emits (next) || another_behind (next, seen));
    gst_clear_object (&next);
  }
  g_list_free_full (pads, gst_object_unref);
  return found;
}

GPtrArray *
sl_emitters_find (GstBin *pipeline)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (gst_object_unref);
  GstIterator *elements = gst_bin_iterate_recurse (pipeline);
  GValue item = G_VALUE_INIT;
  while (gst_iterator_next (elements, &item) == GST_ITERATOR_OK) {
    GstElement *element = g_value_get_object (&item);
    g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
    if (!GST_IS_BIN (element) && emits (element) && !another_behind (element, seen))
      g_ptr_array_add (found, gst_object_ref (element));
    g_value_reset (&item);
  }
  g_value_unset (&item);
  gst_iterator_free (elements);
  return found;
}
