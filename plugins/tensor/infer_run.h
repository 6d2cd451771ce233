/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One run of slinfer's model, from the buffer of its inputs into the buffer of its outputs. */
#pragma once

#include <gst/gst.h>

#include "core/runtime/session.h"
#include "models/batcher.h"
#include "models/model.h"
#include "models/replay/recorder.h"
#include "plugins/tensor/mapping.h"

/** SlInferRun: what takes part. @batch, @recorder: (nullable) */
typedef struct
{
  GstElement *element;
  const SlModel *model;
  SlSession *session;
  SlBatchStream *batch;
  SlRecorder *recorder;
  SlTensorMapping *inputs;
} SlInferRun;

/** sl_infer_run: GST_FLOW_FLUSHING where the wait for frames of other streams was cancelled,
 * GST_FLOW_ERROR after an element error. What the session and the recorder have to say becomes
 * element messages. */
GstFlowReturn sl_infer_run (const SlInferRun *run, GstBuffer *in, GstBuffer *out);
