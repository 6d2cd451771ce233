/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The decoder process: the main loop that decodes frames for `sightline predict`. */
#pragma once

#include <glib.h>

/** sl_server_run: opens sources and sends their frames as it is told over @socket (wire.h), until
 * the other end is gone. It initialises GStreamer. */
void sl_server_run (int socket);
