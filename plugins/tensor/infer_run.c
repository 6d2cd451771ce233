/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/tensor/infer_run.h"

#include "core/base/printable.h"
#include "plugins/tensor/infer_signals.h"

typedef enum
{
  RUN_OK,
  RUN_BAD_INPUT,
  RUN_BAD_OUTPUT,
  RUN_FAILED
} RunStatus;

static GstFlowReturn
fail (const SlInferRun *run, RunStatus status, SlTensorMappingStatus map_status,
      SlStatus run_status, GstBuffer *in)
{
  g_autofree char *model = sl_printable (sl_model_path (run->model), SL_PRINTABLE_MESSAGE);
  if (status == RUN_BAD_INPUT) {
    g_autofree char *text = sl_tensor_mapping_complaint (run->inputs, in, map_status);
    GST_ELEMENT_ERROR (run->element, STREAM, FORMAT, ("%s: %s", model, text), (NULL));
  } else if (status == RUN_BAD_OUTPUT) {
    GST_ELEMENT_ERROR (run->element, RESOURCE, NO_SPACE_LEFT,
                       ("%s: no memory for the output tensors", model), (NULL));
  } else {
    GST_ELEMENT_ERROR (run->element, LIBRARY, FAILED,
                       ("%s: %s", model, sl_session_status_text (run->session, run_status)),
                       (NULL));
  }
  return GST_FLOW_ERROR;
}

/* The inputs are recorded before the model runs, so that those are there which it crashes on. */
static SlStatus
run_recorded (const SlInferRun *run, GstClockTime pts, void *const *outputs)
{
  g_autoptr (GError) error = NULL;
  SlRecorder *recorder = run->recorder;
  if (recorder != NULL) {
    const void *inputs[SL_MAX_IO];
    sl_session_all_inputs (run->session, run->inputs->data, inputs);
    if (!sl_recorder_begin (recorder, pts, inputs, &error))
      sl_infer_tell_recorder_failed (run->element, &error);
  }
  const SlStatus status = run->batch != NULL
                            ? sl_batch_stream_run (run->batch, run->inputs->data, outputs)
                            : sl_session_run (run->session, run->inputs->data, outputs);
  sl_infer_tell_notice (run->element, sl_model_path (run->model),
                        sl_session_take_notice (run->session));
  if (run->batch != NULL)
    sl_infer_tell_notice (run->element, sl_model_path (run->model),
                          sl_batch_stream_take_notice (run->batch));
  if (recorder != NULL && status == SL_STATUS_OK
      && !sl_recorder_end (recorder, (const void *const *) outputs, &error))
    sl_infer_tell_recorder_failed (run->element, &error);
  return status;
}

static RunStatus
run_into (const SlInferRun *run, GstBuffer *out, SlStatus *status)
{
  void *data[SL_MAX_IO];
  GstMapInfo maps[SL_MAX_IO];
  guint n = MIN (gst_buffer_n_memory (out), SL_MAX_IO);
  guint mapped = 0;
  while (mapped < n
         && gst_memory_map (gst_buffer_peek_memory (out, mapped), &maps[mapped], GST_MAP_WRITE)) {
    data[mapped] = maps[mapped].data;
    mapped++;
  }
  gboolean whole = mapped == sl_model_contract (run->model)->n_outputs;
  if (whole)
    *status = run_recorded (run, GST_BUFFER_PTS (out), data);
  while (mapped > 0) {
    mapped--;
    gst_memory_unmap (maps[mapped].memory, &maps[mapped]);
  }
  if (!whole)
    return RUN_BAD_OUTPUT;
  return *status == SL_STATUS_OK ? RUN_OK : RUN_FAILED;
}

GstFlowReturn
sl_infer_run (const SlInferRun *run, GstBuffer *in, GstBuffer *out)
{
  SlStatus run_status = SL_STATUS_OK;
  const SlTensorMappingStatus map_status = sl_tensor_mapping_read (run->inputs, in);
  if (map_status != SL_TENSOR_MAPPING_OK)
    return fail (run, RUN_BAD_INPUT, map_status, run_status, in);
  const RunStatus status = run_into (run, out, &run_status);
  sl_tensor_mapping_done (run->inputs);
  if (run_status == SL_STATUS_CANCELLED)
    return GST_FLOW_FLUSHING;
  return status == RUN_OK ? GST_FLOW_OK : fail (run, status, map_status, run_status, in);
}
