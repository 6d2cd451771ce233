/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A posted picture from its headers to its answer, and the door that all of them belong to. The
 * server's thread receives bodies and sends answers (http_request.c, http_body.c); threads of a
 * pool decode pictures, and the computing threads write answers (http_door.c). A request about
 * faces keeps its thread of the pool to the end (http_faces.c).
 */
#pragma once

#include "tools/run/http/auth_throttle.h"
#include "tools/serve/face_gallery.h"
#include "tools/serve/http_form.h"
#include "tools/serve/http_model.h"
#include "tools/serve/http_posts.h"

typedef struct _SlHttpErrand SlHttpErrand;
typedef struct _SlHttpFaces SlHttpFaces;

/** SlHttpPicture: @data: inside the body; @name: of its part of the form, "" where there is none */
typedef struct
{
  char name[SL_FORM_NAME];
  const guint8 *data;
  gsize size;
} SlHttpPicture;

/**
 * SlHttpRequest: of the server's thread, until it is handed to the pool: from then on @asked,
 * @model, @body and @picture belong to the thread that works for it.
 * @message: (nullable): NULL once it is answered, or the client has gone
 * @client: of sl_connections_client()
 * @known: the client stated the password; @handed: to the pool; @waits: for its result
 * @body: (nullable): as far as it came; @counted: bytes of it in the door's sum
 * @deadline: when it is answered that it took too long
 * @name: of the model, NULL = the first that suits
 * @user: (nullable): "userid", of requests about faces
 * @pictures: @n_pictures of them; only to register a person more than one
 * @errand: (nullable): what a request about faces waits for; set once, under the door's lock
 */
typedef struct
{
  gatomicrefcount refs;
  SlHttpDoor *door;
  guint64 id;
  SoupServerMessage *message;
  gulong on_chunk, on_finished;
  char *client, *path, *name, *user;
  GHashTable *query; /* (nullable) */
  gboolean known, waits, handed, is_list;
  GByteArray *body;
  gsize counted;
  gint64 deadline;
  SlHttpModel *model;
  SlHttpAsked asked;
  SlHttpPicture pictures[SL_FACE_PICTURES];
  guint n_pictures;
  SlHttpErrand *errand;
  void (*free_errand) (SlHttpErrand *errand);
} SlHttpRequest;

/** SlHttpDoor: @worker, @models, @faces (nullable), @pool: set once, before the server's thread
 * runs; to be used while @is_open */
struct _SlHttpDoor
{
  gatomicrefcount refs;
  gsize body_most;
  gboolean keyed;
  SlServeWorker *worker;
  GPtrArray *models; /* of SlHttpModel */
  SlHttpFaces *faces;
  void (*free_faces) (SlHttpFaces *faces);
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
/** sl_http_request_refuse: server's thread: answers at once, with a sentence. */
void sl_http_request_refuse (SlHttpRequest *request, guint status, const char *format, ...)
  G_GNUC_PRINTF (3, 4);
/** sl_http_request_is_about_faces: it goes to http_faces.c. */
gboolean sl_http_request_is_about_faces (const SlHttpRequest *request);

/** SlHttpBody: what was posted, as the server's thread reads it. @form: empty where the body is
 * none; @texts: (nullable): of a form without files, application/x-www-form-urlencoded */
typedef struct
{
  SlForm form;
  GHashTable *texts;
} SlHttpBody;

/** sl_http_body_read: finds fields and pictures in the body of @request. FALSE once it is refused.
 */
gboolean sl_http_body_read (SlHttpRequest *request, SlHttpBody *body);
void sl_http_body_clear (SlHttpBody *body);
/** sl_http_body_field: (transfer full) (nullable): the text of the field @key of the body, else of
 * the address. */
char *sl_http_body_field (const SlHttpRequest *request, const SlHttpBody *body, const char *key);
/** sl_http_body_fields: sets what the fields ask for. FALSE once it is refused. */
gboolean sl_http_body_fields (SlHttpRequest *request, const SlHttpBody *body);
