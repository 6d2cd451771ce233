/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/tensor/infer_signals.h"

#include "core/base/printable.h"
#include "plugins/base/report.h"

static guint dumped;

void
sl_infer_signals_add (GType type, GCallback dump, GCallback reset_state)
{
  /**
   * SlInfer::dump:
   * @reason: (nullable): a sentence that the file carries
   *
   * Writes the current recording to a black box file. A thread of its own does it, which continues
   * when the element stops. When the program ends before dumped is emitted, the writing ends, too.
   * The next program that records to the folder completes the file.
   *
   * Returns: (transfer full) (nullable): the path of the new file. NULL without black-box, before
   * the first inference, or while several files are being written
   */
  g_signal_new_class_handler ("dump", type, (GSignalFlags) (G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION),
                              dump, NULL, NULL, NULL, G_TYPE_STRING, 1, G_TYPE_STRING);
  /**
   * SlInfer::dumped:
   * @path: of the black box
   * @inferences: how many it holds
   * @message: (nullable): why it could not be written; NULL = it is there, whole
   *
   * In the thread that wrote it, after dump, and for what a process left that is no more. The
   * handler may stop the pipeline. It may be called after the element has stopped.
   */
  dumped = g_signal_new ("dumped", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 3,
                         G_TYPE_STRING, G_TYPE_UINT, G_TYPE_STRING);
  /**
   * SlInfer::reset-state:
   *
   * Has a model that carries state from frame to frame begin anew with the next frame, as after a
   * seek. Any thread.
   */
  g_signal_new_class_handler ("reset-state", type,
                              (GSignalFlags) (G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION), reset_state,
                              NULL, NULL, NULL, G_TYPE_NONE, 0);
}

void
sl_infer_signals_dumped (gpointer element, const char *path, guint inferences, const GError *error)
{
  g_signal_emit (element, dumped, 0, path, inferences, error != NULL ? error->message : NULL);
}

void
sl_infer_tell_recorder_place (GstElement *element, SlRecorder *recorder)
{
  gboolean in_memory = TRUE;
  const char *path = recorder != NULL ? sl_recorder_place (recorder, &in_memory) : NULL;
  if (path != NULL && in_memory)
    GST_INFO_OBJECT (element, "recording for black boxes: %s", path);
  else if (path != NULL)
    GST_ELEMENT_INFO (
      element, RESOURCE, WRITE,
      ("recording for black boxes: memory has no room, so the disk wears with each frame that is "
       "written to %s",
       path),
      (NULL));
}

void
sl_infer_tell_recorder_failed (GstElement *element, GError **error)
{
  GST_ELEMENT_WARNING (element, RESOURCE, WRITE,
                       ("recording for black boxes: %s", (*error)->message), (NULL));
  g_clear_error (error);
}

void
sl_infer_tell_notice (GstElement *element, const char *path, char *notice)
{
  if (notice == NULL)
    return;
  g_autofree char *model = sl_printable (path, SL_PRINTABLE_MESSAGE);
  GST_ELEMENT_WARNING (element, LIBRARY, FAILED, ("%s: %s", model, notice), (NULL));
  g_free (notice);
}

void
sl_infer_tell_file_changed (GstElement *element, const char *path)
{
  GST_ELEMENT_WARNING (
    element, RESOURCE, SETTINGS,
    ("%s: the file has changed since the model was loaded; the model goes on as it was: set model "
     "again, or send SIGHUP "
     "to sightline run, to load the new one",
     path),
    (NULL));
}

void
sl_infer_tell_model_changed (GstElement *element, const char *path, const char *before)
{
  GstStructure *structure = gst_structure_new ("model-changed", "model", G_TYPE_STRING, path,
                                               "before", G_TYPE_STRING, before, NULL);
  sl_element_post (element, structure);
}
