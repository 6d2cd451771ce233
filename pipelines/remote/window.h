/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The window of frames that are sent to workers, in the order of their arrival. It decides which
 * frame is sent next, which is sent again, which is given up, and which leaves. It has no clock, no
 * thread and no network: the owner passes the time and holds a lock.
 */
#pragma once

#include "pipelines/remote/message.h"

typedef enum
{
  SL_REMOTE_PASSES,   /* needs no inference, but keeps its place in the order */
  SL_REMOTE_WAITING,  /* not sent yet */
  SL_REMOTE_SENT,     /* sent, without an answer yet */
  SL_REMOTE_ANSWERED, /* has its answer */
  SL_REMOTE_LOST      /* no answer in time */
} SlRemoteState;

/**
 * SlRemoteEntry: one frame.
 * @data: data of the owner
 * @contract: (nullable): contract of a frame that needs inference. This and the following fields
 * are set only then; @hash: its hash
 * @frame: whether it counts against the limit of the window; @droppable: whether a newer frame may
 * displace it
 * @request: the message; @encoding: encoding of its tensors when it was first sent, which an answer
 * may use, too
 * @plain: the tensors are no longer encoded
 * @begun: time of its arrival, later time of the first sending; @again: time when it is sent again,
 * 0 = never
 * @pause: microseconds between a message without a receiver and the next
 * @message: id of the message that was sent last, 0 after the broker confirmed it
 * @answer: (nullable): memory of the answer; @result: points into it
 */
typedef struct
{
  guint64 id;
  SlRemoteState state;
  gpointer data;
  gboolean frame, droppable;
  SlContract *contract;
  char hash[SL_REMOTE_HASH];
  SlRemoteEncoding encoding;
  gboolean plain;
  guint8 *request;
  gsize request_size;
  gint64 begun, again, pause;
  guint sends;
  gint message;
  guint8 *answer;
  SlRemoteAnswer result;
} SlRemoteEntry;

/**
 * SlRemoteCounts:
 * @answered: frames with an answer; @lost: frames without an answer in time
 * @dropped: frames of live input that a newer frame displaced before they were sent, or that found
 * the window full
 * @resent: messages sent again; @late: answers after their frame was given up; @repeated: second
 * answers
 * @refused: refusals, invalid answers, and frames that the broker does not accept
 */
typedef struct
{
  guint64 answered, lost, dropped, resent, late, repeated, refused;
} SlRemoteCounts;

/** How many ids of given-up frames are kept, to distinguish late answers from repeated ones. */
#define SL_REMOTE_REMEMBERED 256

/**
 * SlRemoteWindow: the owner sets fields only with sl_remote_window_init().
 * @unheard: the message that was confirmed last had no subscriber
 */
typedef struct
{
  guint most_sent;
  gint64 deadline_us;
  GDestroyNotify free_data;
  GQueue entries; /* of SlRemoteEntry */
  guint n_sent, n_waiting, n_frames;
  gboolean unheard;
  guint64 next_id, lost_ids[SL_REMOTE_REMEMBERED];
  SlRemoteCounts counts;
} SlRemoteWindow;

void sl_remote_window_init (SlRemoteWindow *window, guint most_sent, gint64 deadline_us,
                            GDestroyNotify free_data);
/** sl_remote_window_clear: drops all entries. */
void sl_remote_window_clear (SlRemoteWindow *window);
void sl_remote_entry_free (SlRemoteWindow *window, SlRemoteEntry *entry);

/** sl_remote_window_push: appends @entry (transfer full) and sets its @id. */
void sl_remote_window_push (SlRemoteWindow *window, SlRemoteEntry *entry);
/** sl_remote_window_has_room: whether another frame may be pushed. The number of frames that were
 * not popped is bounded, in whatever state. */
gboolean sl_remote_window_has_room (const SlRemoteWindow *window);
/** sl_remote_window_displace: drops frames that were not sent, to make room for a newer one. With
 * @stuck, when no frame can be sent, the oldest is given up instead, and leaves the window. If the
 * window is still full, the oldest given-up frame that was not popped is dropped. */
void sl_remote_window_displace (SlRemoteWindow *window, gboolean stuck);
/** sl_remote_window_next: (transfer none) (nullable): the entry to send now. This is the oldest
 * waiting entry while fewer than most_sent are sent. Else it is an entry that is due to be sent
 * again and whose last message was confirmed. While messages have no subscriber, only the oldest
 * sent entry is sent again. */
SlRemoteEntry *sl_remote_window_next (SlRemoteWindow *window, gint64 now);
/** sl_remote_window_sent: @entry was sent as @message. */
void sl_remote_window_sent (SlRemoteWindow *window, SlRemoteEntry *entry, gint message, gint64 now);
/** sl_remote_window_again: all sent entries without an answer are sent again at the time @at: a
 * worker died, or the connection broke. */
void sl_remote_window_again (SlRemoteWindow *window, gint64 at);
/** sl_remote_window_reconnected: the broker will not confirm messages of the old connection. All
 * sent entries without an answer are sent again. */
void sl_remote_window_reconnected (SlRemoteWindow *window);
/** sl_remote_window_confirmed: (transfer none) (nullable): the entry that was sent as @message,
 * which the broker has confirmed. @heard: whether the topic has a subscriber */
SlRemoteEntry *sl_remote_window_confirmed (SlRemoteWindow *window, gint message, gboolean heard);
/** sl_remote_window_put_off: no worker takes @entry now. It is sent again after a pause, which
 * doubles each time. */
void sl_remote_window_put_off (SlRemoteWindow *window, SlRemoteEntry *entry, gint64 now);
/** sl_remote_window_by_id: (transfer none) (nullable): the sent entry with @id. When there is none,
 * returns NULL and counts the answer as late or repeated. */
SlRemoteEntry *sl_remote_window_by_id (SlRemoteWindow *window, guint64 id);
/** sl_remote_window_answered: gives the sent @entry its answer @result, which points into @answer
 * (transfer full). */
void sl_remote_window_answered (SlRemoteWindow *window, SlRemoteEntry *entry, guint8 *answer,
                                const SlRemoteAnswer *result);
/** sl_remote_window_lose: gives @entry up. */
void sl_remote_window_lose (SlRemoteWindow *window, SlRemoteEntry *entry);
/** sl_remote_window_expire: gives up entries that are older than the deadline. Waiting entries are
 * given up only with @stuck, when no entry can be sent. With @hopeless, all entries are given up at
 * once. */
void sl_remote_window_expire (SlRemoteWindow *window, gint64 now, gboolean stuck,
                              gboolean hopeless);
/** sl_remote_window_pop: (transfer full) (nullable): the oldest entry, when it is answered, given
 * up or passes. */
SlRemoteEntry *sl_remote_window_pop (SlRemoteWindow *window);
/** sl_remote_window_take: (transfer full) (nullable): the oldest entry, in whatever state. */
SlRemoteEntry *sl_remote_window_take (SlRemoteWindow *window);
/** sl_remote_window_due: the next time when an entry has to be sent again or given up, G_MAXINT64 =
 * never. @stuck: as above */
gint64 sl_remote_window_due (const SlRemoteWindow *window, gboolean stuck);
