/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* States of cameras are those of slcamera's property "state"; "quiet-stats" says whether it is
 * quiet. */
#include "pipelines/supervise/elements.h"

#include "pipelines/description/build.h"

/* With quiet=keyframes the next frame may be as far away as the camera's next key frame. */
static gboolean
is_quiet (GstElement *camera)
{
  g_autoptr (GstStructure) stats = NULL;
  gboolean quiet = FALSE;
  g_object_get (camera, "quiet-stats", &stats, NULL);
  return gst_structure_get_boolean (stats, "quiet", &quiet) && quiet;
}

gboolean
sl_camera_is_away (GstElement *pipeline)
{
  static const char *const away[] = { "connecting", "stalled", "reconnecting", NULL };
  g_autoptr (GPtrArray) cameras = sl_find_elements (pipeline, "slcamera");
  for (guint i = 0; i < cameras->len; i++) {
    g_autofree char *state = NULL;
    g_object_get (g_ptr_array_index (cameras, i), "state", &state, NULL);
    if ((state != NULL && g_strv_contains (away, state))
        || is_quiet (g_ptr_array_index (cameras, i)))
      return TRUE;
  }
  return FALSE;
}

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
