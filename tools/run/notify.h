/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a service manager is told: one datagram of VARIABLE=VALUE lines to the socket in
 * $NOTIFY_SOCKET, sd_notify(3)'s protocol.
 */
#pragma once

#include <gio/gio.h>

/** sl_notify: sends @state, such as "READY=1\nSTATUS=2 running"; nothing, and TRUE, without
 * $NOTIFY_SOCKET. FALSE with @error set when the socket cannot be reached; G_IO_ERROR_WOULD_BLOCK
 * where the manager has not read what it was told before. Never blocks. */
gboolean sl_notify (const char *state, GError **error);
/** SlManager: the service manager, told what it had no room for before with what comes next. All 0
 * at first. @deaf: it cannot be told */
typedef struct
{
  gboolean deaf;
  GString *untold; /* (nullable) */
} SlManager;

/** sl_manager_tell: as sl_notify(); that it cannot be told is logged once. */
void sl_manager_tell (SlManager *manager, const char *state);
/** sl_manager_tell_rest: to be called some times a second. */
void sl_manager_tell_rest (SlManager *manager);
void sl_manager_clear (SlManager *manager);

/** sl_notify_watchdog_interval: microseconds between two WATCHDOG=1, half of $WATCHDOG_USEC; 0
 * without a watchdog. */
guint64 sl_notify_watchdog_interval (void);
