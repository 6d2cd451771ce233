/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines to somewhere: a bounded queue, a thread that empties it, and the transports it writes to.
 * slpublish puts lines in; where they go is a row of a table. The thread connects, reconnects with
 * back-off and jitter, and is the only one that ever waits for a disk or a peer. Nothing here knows
 * GStreamer.
 */
#pragma once

#include <gio/gio.h>

/** SlPublishExtra: what goes out beside lines; of each the newest alone. */
typedef enum
{
  SL_PUBLISH_CONFIRMED, /* labels that are no false alarms, a line each */
  SL_PUBLISH_ENABLED,   /* ON or OFF */
  SL_PUBLISH_THRESHOLD, /* a number */
  SL_PUBLISH_PICTURE,   /* JPEG */
  SL_PUBLISH_STATES,    /* lines of the signal publish-states */
  SL_PUBLISH_N_EXTRAS
} SlPublishExtra;

/** SlPublishCommand: from the publisher's thread: the @bytes at @text came for @name, the last but
 * one level of the topic. */
typedef void (*SlPublishCommand) (gpointer user_data, const char *name, const char *text,
                                  gsize bytes);

/** SlPublishSettings: what the element's properties say, of which each is stored as its kind;
 * strings are borrowed while a publisher is opened. */
typedef struct
{
  const char *location;
  const char *name;   /* of the element: {element} of topics */
  const char *source; /* {source} of topics */
  guint queue_bytes;
  guint retry_min_ms, retry_max_ms;
  guint file_bytes;   /* 0: never rotated by size */
  guint file_seconds; /* 0: never rotated by time */
  guint keep_files;
  guint file_mode; /* permissions of new files */
  guint qos, keep_alive;
  gboolean retain, counts;
  const char *client_id, *username, *password, *ca_file, *certificate, *key, *availability,
    *discovery;
  const char *message_key, *sasl_mechanism;
  const char *signing_key, *title, *priority, *tags; /* webhooks; ntfy */
  guint timeout_s;                                   /* of a request, and of a program */
  const char *push_key, *push_subject, *push_hosts;  /* Web Push */
  gboolean pictures, has_threshold;                  /* these extras will come */
  SlPublishCommand command;
  SlPublishCommand control; /* (nullable): what comes to TOPIC/set/NAME; @name is that topic */
  gpointer command_data;
} SlPublishSettings;

/**
 * SlTransport:
 * @schemes: what locations of this kind begin with, NULL-terminated
 * @waits: while connected, a full queue makes the writer wait instead of losing the oldest line
 * @open: checks settings; touches nothing that could make it wait but the file's own folder
 * @check: the same without a change to anything; NULL: @open changes nothing
 * @connect: may wait; @cancellable ends it where the system allows
 * @send: one line with its newline. FALSE: the connection is gone, and the line has to be sent
 * again on the next
 * @extra: something beside lines (nullable: none of it goes out). FALSE: the connection is gone
 * @idle: nothing to send: serves the peer once, @wake_fd is readable or @timeout_ms passed. FALSE:
 * the connection is gone
 * @unacknowledged: lines sent that the peer has yet to confirm (nullable: it never does)
 * @refused: the number of sent lines that the peer has refused since the last call, and the reason
 * of the last one (nullable: the transport refuses no line)
 * @final: errors of this transport that no second attempt mends (nullable)
 */
typedef struct
{
  const char *const *schemes;
  gboolean waits;
  gpointer (*open) (const SlPublishSettings *settings, GError **error);
  gboolean (*check) (const SlPublishSettings *settings, GError **error);
  gboolean (*connect) (gpointer state, GCancellable *cancellable, GError **error);
  gboolean (*send) (gpointer state, const char *line, gsize bytes, GCancellable *cancellable,
                    GError **error);
  gboolean (*extra) (gpointer state, SlPublishExtra extra, GBytes *what, GError **error);
  gboolean (*idle) (gpointer state, gint wake_fd, gint timeout_ms, GError **error);
  guint (*unacknowledged) (gpointer state);
  guint (*refused) (gpointer state, const char **reason);
  void (*disconnect) (gpointer state);
  void (*close) (gpointer state);
  gboolean (*final) (const GError *error);
} SlTransport;

extern const SlTransport sl_transport_file, sl_transport_stdout, sl_transport_socket;
/** sl_transport_command: a program. */
extern const SlTransport sl_transport_command;
/** sl_transport_webhook: webhooks and ntfy, only where libsoup was found. */
extern const SlTransport sl_transport_webhook;
/** sl_transport_push: browsers of phones, only where libsoup was found. */
extern const SlTransport sl_transport_push;
/** sl_transport_mqtt: only where libmosquitto was found. */
extern const SlTransport sl_transport_mqtt;
/** sl_transport_kafka: only where librdkafka was found. */
extern const SlTransport sl_transport_kafka;

typedef enum
{
  SL_PUBLISH_CONNECTED,
  SL_PUBLISH_DISCONNECTED, /* and tried again */
  SL_PUBLISH_REFUSED,      /* a line, for good; others go on */
  SL_PUBLISH_FAILED        /* for good */
} SlPublishState;

/** SlPublishNotify: from the publisher's thread. @reason: NULL when connected. @retry_ms: until the
 * next attempt. */
typedef void (*SlPublishNotify) (gpointer user_data, SlPublishState state, const char *reason,
                                 guint retry_ms);

typedef struct
{
  guint64 published, dropped, waiting; /* lines */
  guint64 refused;                     /* of those dropped: by the peer */
  gsize queued_bytes;
  gboolean connected;
} SlPublishCounts;

typedef struct _SlPublisher SlPublisher;

/** sl_publisher_read_mode: permissions of new files, of @text (nullable: 0640). FALSE with @error
 * set. */
gboolean sl_publisher_read_mode (const char *text, guint *mode, GError **error);
/** sl_publisher_shown_location: (transfer full) (nullable): @location (nullable) without secrets:
 * the password, what is behind the host of a webhook, and arguments of a program. */
char *sl_publisher_shown_location (const char *location);

/** sl_publisher_check: whether sl_publisher_new() would take @settings. No file is made or opened.
 * A client library may start threads, which have ended when it returns. FALSE with @error
 * set as there. */
gboolean sl_publisher_check (const SlPublishSettings *settings, GError **error);
/** sl_publisher_new: checks the location and starts the thread. Errors: SL_ERROR_ARGUMENT,
 * SL_ERROR_OPEN, SL_ERROR_UNSUPPORTED.
 *  @user_data is let go with @destroy when no notification can come any more. */
SlPublisher *sl_publisher_new (const SlPublishSettings *settings, SlPublishNotify notify,
                               gpointer user_data, GDestroyNotify destroy, GError **error);
typedef enum
{
  SL_PUT_TAKEN,
  SL_PUT_UNLOCKED, /* it would have to wait, and may not */
  SL_PUT_FAILED    /* the publisher has failed for good */
} SlPut;

/** sl_publisher_put: queues a copy of @line. Waits for room only where the transport says so, until
 * sl_publisher_unlock(). */
SlPut sl_publisher_put (SlPublisher *publisher, const char *line, gsize bytes);
/** sl_publisher_takes_extras: whether they go anywhere. */
gboolean sl_publisher_takes_extras (const SlPublisher *publisher);
/** sl_publisher_put_extra: @what (transfer full) goes out as soon as it can, in the place of the
 * one before it. */
void sl_publisher_put_extra (SlPublisher *publisher, SlPublishExtra extra, GBytes *what);
/** sl_publisher_unlock: waiting calls return, and no call waits, until undone with FALSE. */
void sl_publisher_unlock (SlPublisher *publisher, gboolean unlocked);
/** sl_publisher_drain: waits until all lines are out; for at most @timeout_us where there is no
 * connection or it is slow. */
gboolean sl_publisher_drain (SlPublisher *publisher, gint64 timeout_us);
void sl_publisher_counts (SlPublisher *publisher, SlPublishCounts *counts);
/** sl_publisher_stop: frees @publisher. Lines still queued count as dropped. Returns within two
 * seconds: a thread that a system call holds longer ends by itself later. */
void sl_publisher_stop (SlPublisher *publisher, SlPublishCounts *counts);
