/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A posted picture from its headers to its answer, and the door that all of them belong to. The
 * server's thread receives bodies and sends answers (http_request.c); threads of a pool decode
 * pictures, and the computing threads write answers (http_door.c).
 */
#pragma once

#include "tools/run/http/auth_throttle.h"
#include "tools/serve/http_posts.h"
#include "tools/serve/http_model.h"

/**
 * SlHttpRequest: of the server's thread, until it is handed to the pool: from then on @asked,
 * @model, @body and @picture belong to the thread that works for it.
 * @message: (nullable): NULL once it is answered, or the client has gone
 * @client: of sl_connections_client()
 * @known: the client stated the password; @handed: to the pool; @waits: for its result
 * @body: (nullable): as far as it came; @counted: bytes of it in the door's sum
 * @deadline: when it is answered that it took too long
 * @name: of the model, NULL = the first that suits
 * @picture: inside @body
 */
typedef struct
{
  gatomicrefcount refs;
  SlHttpDoor *door;
  guint64 id;
  SoupServerMessage *message;
  gulong on_chunk, on_finished;
  char *client, *path, *name;
  GHashTable *query; /* (nullable) */
  gboolean known, waits, handed, is_list;
  GByteArray *body;
  gsize counted;
  gint64 deadline;
  SlHttpModel *model;
  SlHttpAsked asked;
  const guint8 *picture;
  gsize picture_size;
} SlHttpRequest;

/** SlHttpDoor: @worker, @models, @pool: set once, before the server's thread runs; to be used while
 * @is_open */
struct _SlHttpDoor
{
  gatomicrefcount refs;
  gsize body_most;
  gboolean keyed;
  SlServeWorker *worker;
  GPtrArray *models; /* of SlHttpModel */
  GThreadPool *pool;
  gint n_open; /* atomic: requests that are not answered */
  /* Server's thread: */
  const SlAuth *auth;
  SlAuthThrottle *throttle; /* of keys */
  guint n_waiting, most_waiting;
  guint64 last;
  /* Under the lock: */
  GMutex lock;
  gboolean is_open;
  GMainContext *context; /* (nullable): of the server's thread, while it runs */
  GHashTable *requests;  /* id -> SlHttpRequest, until their messages are finished */
  gsize bytes;           /* of bodies */
};

SlHttpRequest *sl_http_request_ref (SlHttpRequest *request);
void sl_http_request_unref (gpointer request);
/** sl_http_request_drop_body: its bytes count no more. Any thread that works for it */
void sl_http_request_drop_body (SlHttpRequest *request);
/** sl_http_request_deliver: sends @json (transfer full) as the answer. Any thread */
void sl_http_request_deliver (SlHttpRequest *request, guint status, GString *json);
/** sl_http_request_fail: sends a sentence as the answer. Any thread */
void sl_http_request_fail (SlHttpRequest *request, guint status, const char *sentence);
