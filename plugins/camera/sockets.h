/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The connections that an element makes, seen from outside: how much came, and an end to them.
 * rtspsrc reads an answer of any size, has no property against that, and does not stop while one
 * comes.
 */
#pragma once

#include <gio/gio.h>

/** SlCameraSockets: counted references, any thread. */
typedef struct _SlCameraSockets SlCameraSockets;

SlCameraSockets *sl_camera_sockets_new (void);
SlCameraSockets *sl_camera_sockets_ref (SlCameraSockets *sockets);
void sl_camera_sockets_unref (gpointer sockets);
/** sl_camera_sockets_claim: the next connection that the calling thread makes with GSocketClient
 * belongs to @sockets. */
void sl_camera_sockets_claim (SlCameraSockets *sockets);
/** sl_camera_sockets_forget: the connections so far do not count any more. */
void sl_camera_sockets_forget (SlCameraSockets *sockets);
/** sl_camera_sockets_give: the element gave something away. */
void sl_camera_sockets_give (SlCameraSockets *sockets);
/** sl_camera_sockets_held: bytes that came since this was called first after the element last gave
 * something; 0 where the system does not count them. To be called a few times a second, by one
 * thread. */
guint64 sl_camera_sockets_held (SlCameraSockets *sockets);
/** sl_camera_sockets_cut: shuts the sockets down. Their readers get an error or the end of the
 * stream. */
void sl_camera_sockets_cut (SlCameraSockets *sockets);
/** sl_camera_watch_signal: @hook is called in each emission of @signal, for all instances of @type,
 * until it returns FALSE. */
void sl_camera_watch_signal (GType type, const char *signal, GSignalEmissionHook hook);
