/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Frames on their way to workers and back, in the order in which they came: which is sent next, which is sent again, which is given up, and which may go on. No
 * clock, no threads, no network: the owner brings the time, and a lock.
 */
#ifndef SL_REMOTE_WINDOW_H
#define SL_REMOTE_WINDOW_H

#include "pipelines/remote/message.h"

G_BEGIN_DECLS

typedef enum
{
  SL_REMOTE_PASSES,   /* nothing to compute: it keeps its place */
  SL_REMOTE_WAITING,  /* not sent yet */
  SL_REMOTE_SENT,     /* on its way */
  SL_REMOTE_ANSWERED, /* the answer is there */
  SL_REMOTE_LOST      /* no answer in time */
} SlRemoteState;

/**
 * SlRemoteEntry: one frame.
 * @data: the owner's
 * @contract: (nullable): of a frame that is computed, as all that follows; @hash: its hash
 * @frame: it counts against the window's room; @droppable: a newer one may displace it
 * @request: the message; @encoding: of its tensors when it was first sent, which an answer may have, too; @plain: they have none any more
 * @begun: when it came, then when it was first sent; @again: when it is to be sent again, 0 = never
 * @pause: between one that nobody took and the next
 * @message: id of the message that was sent last, 0 when the broker has it
 * @answer: (nullable): memory with what came; @result: points into it
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
 * @answered: frames with an answer; @lost: without one in time
 * @dropped: frames of live input that a newer one displaced before they were sent, or for which there was no room
 * @resent: messages sent again; @late: answers after their frame was given up; @repeated: second answers; @refused: answers that refuse, or are
 *   none, and frames that the broker does not take
 */
typedef struct
{
  guint64 answered, lost, dropped, resent, late, repeated, refused;
} SlRemoteCounts;

/** Numbers of frames that were given up lately, to tell late answers from repeated ones. */
#define SL_REMOTE_REMEMBERED 256

/**
 * SlRemoteWindow: an owner sets only what sl_remote_window_init() is given.
 * @unheard: nobody took the message that was confirmed last
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

void sl_remote_window_init (SlRemoteWindow *window, guint most_sent, gint64 deadline_us, GDestroyNotify free_data);
/** sl_remote_window_clear: drops all entries. */
void sl_remote_window_clear (SlRemoteWindow *window);
void sl_remote_entry_free (SlRemoteWindow *window, SlRemoteEntry *entry);

/** sl_remote_window_push: (transfer full) @entry, at the end; its @id is set. */
void sl_remote_window_push (SlRemoteWindow *window, SlRemoteEntry *entry);
/** sl_remote_window_has_room: whether another frame may come: those that nobody popped are bounded, whatever became of them. */
gboolean sl_remote_window_has_room (const SlRemoteWindow *window);
/** sl_remote_window_displace: forgets frames that were not sent, for a newer one; with @stuck, because none can be sent, the oldest is given up instead,
 *  and passes. Where there is no room then, the oldest frame that was given up and that nobody popped is forgotten. */
void sl_remote_window_displace (SlRemoteWindow *window, gboolean stuck);
/** sl_remote_window_next: (transfer none) (nullable): what is to be sent now: the oldest that waits while there is room, else one whose time to be sent
 *  again has come and whose last message the broker has; the oldest on its way alone while nobody takes messages. */
SlRemoteEntry *sl_remote_window_next (SlRemoteWindow *window, gint64 now);
/** sl_remote_window_sent: @entry went out as @message. */
void sl_remote_window_sent (SlRemoteWindow *window, SlRemoteEntry *entry, gint message, gint64 now);
/** sl_remote_window_again: all that are on their way are sent again, at @at: a worker died, or the connection broke. */
void sl_remote_window_again (SlRemoteWindow *window, gint64 at);
/** sl_remote_window_reconnected: what the broker did not confirm it never will; all that are on their way are sent again. */
void sl_remote_window_reconnected (SlRemoteWindow *window);
/** sl_remote_window_confirmed: (transfer none) (nullable): the entry on its way as @message, which the broker has. @heard: and somebody takes it. */
SlRemoteEntry *sl_remote_window_confirmed (SlRemoteWindow *window, gint message, gboolean heard);
/** sl_remote_window_put_off: nobody computes @entry now: it is sent again after a pause, which doubles each time. */
void sl_remote_window_put_off (SlRemoteWindow *window, SlRemoteEntry *entry, gint64 now);
/** sl_remote_window_by_id: (transfer none) (nullable): the entry on its way with @id; NULL counts the answer as late or repeated. */
SlRemoteEntry *sl_remote_window_by_id (SlRemoteWindow *window, guint64 id);
/** sl_remote_window_answered: @entry, on its way, has its answer: @result, which points into @answer (transfer full). */
void sl_remote_window_answered (SlRemoteWindow *window, SlRemoteEntry *entry, guint8 *answer, const SlRemoteAnswer *result);
/** sl_remote_window_lose: @entry gets no answer any more. */
void sl_remote_window_lose (SlRemoteWindow *window, SlRemoteEntry *entry);
/** sl_remote_window_expire: gives up what is older than the deadline: of those that wait, only where @stuck says that none can be sent; all at once
 *  with @hopeless. */
void sl_remote_window_expire (SlRemoteWindow *window, gint64 now, gboolean stuck, gboolean hopeless);
/** sl_remote_window_pop: (transfer full) (nullable): the oldest, when it may go on. */
SlRemoteEntry *sl_remote_window_pop (SlRemoteWindow *window);
/** sl_remote_window_take: (transfer full) (nullable): the oldest, whatever became of it. */
SlRemoteEntry *sl_remote_window_take (SlRemoteWindow *window);
/** sl_remote_window_due: the next time at which something is to be done, G_MAXINT64 = none. @stuck: as above */
gint64 sl_remote_window_due (const SlRemoteWindow *window, gboolean stuck);

G_END_DECLS

#endif
