/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The camera's side of remote inference: any worker computes output tensors from input tensors. Two
 * threads use a client: one pushes frames, the other pops their results in the same order. The
 * client does not depend on GStreamer's buffers and elements.
 */
#pragma once

#include "pipelines/remote/broker.h"
#include "pipelines/remote/window.h"

typedef struct _SlRemoteClient SlRemoteClient;

typedef enum
{
  SL_REMOTE_CONNECTED,
  SL_REMOTE_DISCONNECTED, /* @text: the reason; the client tries again */
  SL_REMOTE_CONTRACT,     /* the contract has changed, see sl_remote_client_offer() */
  SL_REMOTE_PLAIN,        /* @text: why frames are not encoded as requested */
  SL_REMOTE_TROUBLE /* @text: about an invalid answer, or a refusal of a worker or of the broker */
} SlRemoteNews;

/** SlRemoteNotify: called from the connection's thread. */
typedef void (*SlRemoteNotify) (gpointer user, SlRemoteNews news, const char *text);

/**
 * SlRemoteClientSettings:
 * @access: its topic is PREFIX/MODEL
 * @window: most frames that are sent and not answered
 * @deadline_us: microseconds after which a frame is given up
 * @encoding: encoding of requests, where the workers support it and it suits the model's inputs;
 * else none is used
 * @quality: 1..100, of JPEG
 * @impatient: frames are given up at once without a connection or a worker, because the owner can
 * process them in another way
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

/** sl_remote_client_new: @free_user frees @user (transfer full, unless the call fails) after the
 * last call of @notify. @free_data frees data that was pushed and never popped. */
SlRemoteClient *sl_remote_client_new (const SlRemoteClientSettings *settings, SlRemoteNotify notify,
                                      gpointer user, GDestroyNotify free_user,
                                      GDestroyNotify free_data, GError **error);
/** sl_remote_client_free: no thread of the caller may be inside a call. A call of @notify may still
 * be running; no new one begins. */
void sl_remote_client_free (SlRemoteClient *client);

/** sl_remote_client_wait: (transfer full): waits for the contract, at most @timeout_us or until
 * sl_remote_client_unlock(). NULL with @error set; the message says what was missing. @hash: (out)
 */
SlContract *sl_remote_client_wait (SlRemoteClient *client, gint64 timeout_us,
                                   char hash[SL_REMOTE_HASH], GError **error);
/** sl_remote_client_offer: (transfer full) (nullable): the contract that the broker has now. @hash:
 * (out) */
SlContract *sl_remote_client_offer (SlRemoteClient *client, char hash[SL_REMOTE_HASH]);

typedef enum
{
  SL_REMOTE_EVENT, /* not a frame: does not count against the window and does not block */
  SL_REMOTE_KEPT,  /* a frame that blocks while the window is full */
  SL_REMOTE_LIVE   /* a frame that displaces one that was not sent yet. Where the window is full, it
                      is dropped itself: see dropped */
} SlRemotePush;

/**
 * sl_remote_client_push: pushes @data (transfer full) with its tensors. The window bounds the
 * frames that were not popped.
 * @contract: (nullable): NULL for data without tensors, which only keeps its place; then @hash and
 * @inputs are NULL, too
 *
 * Returns: FALSE, with @data freed, while the client is unlocked
 */
gboolean sl_remote_client_push (SlRemoteClient *client, gpointer data, SlContract *contract,
                                const char *hash, const void *const *inputs, SlRemotePush how);
/** sl_remote_client_pop: (transfer full) (nullable): waits for the oldest entry. NULL while the
 * client is unlocked. Free the entry with sl_remote_client_done(). The caller may take its @data.
 */
SlRemoteEntry *sl_remote_client_pop (SlRemoteClient *client);
/** sl_remote_client_take: (transfer full) (nullable): the oldest entry, in whatever state, while
 * the client is unlocked. NULL: no entry is left. */
SlRemoteEntry *sl_remote_client_take (SlRemoteClient *client);
void sl_remote_client_done (SlRemoteClient *client, SlRemoteEntry *entry);
/** sl_remote_client_drain: waits until all pushed entries are popped and freed with
 * sl_remote_client_done(), or the client is unlocked. */
void sl_remote_client_drain (SlRemoteClient *client);
/** sl_remote_client_unlock: TRUE: waiting calls return, and no call blocks. FALSE: undoes this, and
 * drops all frames. */
void sl_remote_client_unlock (SlRemoteClient *client, gboolean unlocked);
/** sl_remote_client_counts: @workers: the number of workers. */
void sl_remote_client_counts (SlRemoteClient *client, SlRemoteCounts *counts, guint *workers,
                              gboolean *connected);
