/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes that decode, so that a decoder which hangs or crashes on a damaged file can be got rid
 * of.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

typedef struct _SlSpawner SlSpawner;

/** sl_spawner_new: calls sl_elements_init(). To be called while the program has one thread and no
 * library has been initialised: what is made later are copies of the program as it is now. */
SlSpawner *sl_spawner_new (GError **error);
/** sl_spawner_free: ends the process that runs, too. */
void sl_spawner_free (SlSpawner *spawner);
/** sl_spawner_start: a process that serves frames (server.h), in place of the one before; @socket:
 * (transfer full): to talk to it. */
gboolean sl_spawner_start (SlSpawner *spawner, int *socket, pid_t *process, GError **error);
/** sl_spawner_stop: ends the process that runs, whatever it does; @gone: it has closed its end of
 * the socket. Returns how it had ended before, as waitpid() tells, 0 where it had not. */
int sl_spawner_stop (SlSpawner *spawner, gboolean gone);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlSpawner, sl_spawner_free)
