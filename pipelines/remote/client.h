/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The camera's side of remote inference: tensors in, tensors out, computed by whichever worker takes them. Two threads use a client: one pushes frames,
 * another pops what became of them, in the same order. It knows no frames and no elements.
 */
#ifndef SL_REMOTE_CLIENT_H
#define SL_REMOTE_CLIENT_H

#include "pipelines/remote/broker.h"
#include "pipelines/remote/window.h"

G_BEGIN_DECLS

typedef struct _SlRemoteClient SlRemoteClient;

typedef enum
{
  SL_REMOTE_CONNECTED,
  SL_REMOTE_DISCONNECTED, /* @text: why; tried again */
  SL_REMOTE_CONTRACT,     /* another contract is there, see sl_remote_client_offer() */
  SL_REMOTE_PLAIN,        /* @text: why frames are not encoded as was asked for */
  SL_REMOTE_TROUBLE       /* @text: of a message that was no answer, or a worker's or the broker's refusal */
} SlRemoteNews;

/** SlRemoteNotify: from the connection's thread. */
typedef void (*SlRemoteNotify) (gpointer user, SlRemoteNews news, const char *text);

/**
 * SlRemoteClientSettings:
 * @access: its topic is PREFIX/MODEL
 * @window: frames on their way at most
 * @deadline_us: after which a frame is given up
 * @encoding: of requests, where the workers read it and the model's inputs suit, else none; @quality: 1..100, of JPEG
 * @impatient: frames are given up at once when there is no connection or no worker, because there is a better use for them
 */
typedef struct
{
  SlMqttAccess access;
  guint window;
  gint64 deadline_us;
  SlRemoteEncoding encoding;
  gint quality;
  gboolean impatient;
} SlRemoteClientSettings;

/** SL_REMOTE_EXAMPLE: a location, for messages. */
#define SL_REMOTE_EXAMPLE "mqtt://localhost/models/ssd"

/** sl_remote_client_new: @free_user: of @user (transfer full, unless it fails), when no @notify is under way any more; @free_data: of what is pushed and
 *  never popped. */
SlRemoteClient *sl_remote_client_new (const SlRemoteClientSettings *settings, SlRemoteNotify notify, gpointer user,
                                      GDestroyNotify free_user, GDestroyNotify free_data, GError **error);
/** sl_remote_client_free: not while a thread of the caller's is inside; a @notify may be under way, and none begins. */
void sl_remote_client_free (SlRemoteClient *client);

/** sl_remote_client_wait: (transfer full): the contract, waited for for @timeout_us, or until sl_remote_client_unlock(); NULL with @error set: what was
 *  missing. @hash: (out) */
SlContract *sl_remote_client_wait (SlRemoteClient *client, gint64 timeout_us, char hash[SL_REMOTE_HASH], GError **error);
/** sl_remote_client_offer: (transfer full) (nullable): the contract that is at the broker now. @hash: (out) */
SlContract *sl_remote_client_offer (SlRemoteClient *client, char hash[SL_REMOTE_HASH]);

typedef enum
{
  SL_REMOTE_EVENT, /* takes no room and waits for none */
  SL_REMOTE_KEPT,  /* a frame that waits until there is room */
  SL_REMOTE_LIVE   /* a frame that displaces one that was not sent yet, and is let go itself where there is no room: see dropped */
} SlRemotePush;

/**
 * sl_remote_client_push: @data (transfer full) with its tensors. Frames that were not popped are bounded by the window.
 * @contract: (nullable): NULL for what has no tensors and keeps its place, as all that follows
 *
 * Returns: FALSE, @data let go, while the client is unlocked
 */
gboolean sl_remote_client_push (SlRemoteClient *client, gpointer data, SlContract *contract, const char *hash, const void *const *inputs,
                                SlRemotePush how);
/** sl_remote_client_pop: (transfer full) (nullable): waits for the oldest; NULL while the client is unlocked. Free with
 *  sl_remote_client_done(); @data of it may be taken. */
SlRemoteEntry *sl_remote_client_pop (SlRemoteClient *client);
/** sl_remote_client_take: (transfer full) (nullable): the oldest, whatever became of it, while the client is unlocked; NULL: there is none. */
SlRemoteEntry *sl_remote_client_take (SlRemoteClient *client);
void sl_remote_client_done (SlRemoteClient *client, SlRemoteEntry *entry);
/** sl_remote_client_drain: waits until all that was pushed is popped and done with, or the client is unlocked. */
void sl_remote_client_drain (SlRemoteClient *client);
/** sl_remote_client_unlock: waiting calls return, and none waits, until undone with FALSE, which also forgets all frames. */
void sl_remote_client_unlock (SlRemoteClient *client, gboolean unlocked);
/** sl_remote_client_counts: @workers: how many there are. */
void sl_remote_client_counts (SlRemoteClient *client, SlRemoteCounts *counts, guint *workers, gboolean *connected);

G_END_DECLS

#endif
