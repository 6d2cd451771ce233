/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ctrl-C: the first asks loops to end, a second one kills as usual. */
#pragma once

#include <glib.h>

/** sl_interrupt_catch: from now on SIGINT and SIGTERM set the flag; the program that has not ended
 * @patience_ms later is ended, with SL_EXIT_INTERRUPTED; 0 = it takes its time. */
void sl_interrupt_catch (guint patience_ms);
/** sl_interrupted: whether the program was asked to end. Any thread. */
gboolean sl_interrupted (void);
