/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The door for clients that post pictures: /predict with the JSON of docs/predictions.md, and the
 * addresses of DeepStack and CodeProject.AI. It is a part of the server of `serve --http`, whose
 * thread calls what begins with sl_http_door_.
 */
#pragma once

#include "tools/run/http/server.h"
#include "tools/serve/serving.h"

/** Bytes of a request's body by default. */
#define SL_HTTP_BODY (16 << 20)

/** sl_http_door_new: (transfer full): a body has at most @body_most bytes. @keyed: clients state
 * the server's password, as a field "api_key" or as a password */
SlHttpDoor *sl_http_door_new (gsize body_most, gboolean keyed);
SlHttpDoor *sl_http_door_ref (SlHttpDoor *door);
void sl_http_door_unref (SlHttpDoor *door);

/** sl_http_door_started: the server's thread runs, and @auth knows the key. */
void sl_http_door_started (SlHttpDoor *door, const SlAuth *auth);
void sl_http_door_stopped (SlHttpDoor *door);
void sl_http_door_tick (SlHttpDoor *door);
/** sl_http_door_begin, sl_http_door_received, sl_http_door_refuse: of SlHttpPosts. */
void sl_http_door_begin (SlHttpDoor *door, SoupServerMessage *message, const char *path,
                         GHashTable *query, gboolean known);
void sl_http_door_received (SlHttpDoor *door, SoupServerMessage *message);
void sl_http_door_refuse (SoupServerMessage *message, guint status, const char *sentence);
/** sl_http_door_get: answers a GET or HEAD of /v1/... or /predict. */
void sl_http_door_get (SlHttpDoor *door, SoupServerMessage *message, const char *path);
