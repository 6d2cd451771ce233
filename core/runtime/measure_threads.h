/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The number of threads that runs a graph fastest on this machine, found by running it (internal to core). */
#ifndef SL_CORE_RUNTIME_MEASURE_THREADS_H
#define SL_CORE_RUNTIME_MEASURE_THREADS_H

#include "core/runtime/session.h"

G_BEGIN_DECLS

/**
 * sl_session_new_measured:
 *
 * Runs @graph on zeros with 1, 2 and 4 threads, as far as there are processors, and goes on while twice as many save a seventh of the time:
 * small models lose by being divided, and a container may be granted less than the processors it sees.
 *
 * Returns: (transfer full): the fastest session; NULL with @error set as sl_session_new()
 */
SlSession *sl_session_new_measured (SlGraph *graph, GError **error);

G_END_DECLS

#endif
