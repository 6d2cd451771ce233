/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which implementation runs each node (internal to core). Left alone, the fastest that is exact: 8-bit layers go to
 * the int8 kernels where those beat XNNPACK on this processor, what else XNNPACK supports goes there, the rest to
 * the plain kernels. The environment's SIGHTLINE_BACKEND overrides: "xnnpack" leaves the int8 kernels out, "sightline"
 * prefers them everywhere, "reference" leaves only the plain kernels.
 */
#ifndef SL_CORE_BACKENDS_BACKEND_H
#define SL_CORE_BACKENDS_BACKEND_H

#include "core/graph/graph.h"

G_BEGIN_DECLS

typedef enum
{
  SL_BACKEND_PLAIN,
  SL_BACKEND_VIEW,
  SL_BACKEND_XNNPACK,
  SL_BACKEND_INT8,
} SlBackend;

/** sl_backends_choose: (transfer full): one SlBackend per node. */
guint8 *sl_backends_choose (const SlGraph *graph);
/** sl_backends_need_threads: whether a node of XNNPACK is worth more than one thread. */
gboolean sl_backends_need_threads (const SlGraph *graph, const guint8 *backends);
/** sl_backend_name: (transfer none) */
const char *sl_backend_name (SlBackend backend);

G_END_DECLS

#endif
