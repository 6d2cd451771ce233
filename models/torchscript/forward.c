/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Running forward() of a module. */
#include "models/torchscript/forward.h"

gboolean
ts_forward (const TsModule *module, const TsShape *shapes, guint n, SlGraph *graph)
{
  return ts_fail (module->heap, SL_ERROR_UNSUPPORTED,
                  "programs of TorchScript are not run yet; export the model to ONNX (torch.onnx.export)");
}
