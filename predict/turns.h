/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Which of several streams runs its model next, so that each gets the rate that it was promised.
 * No clock and no threads: callers pass the time and hold a lock.
 *
 * A stream is due when its last turn is a period of its promised rate ago. Due streams come first.
 * Among them start-time fair queueing with the weights rate x priority chooses: when the machine is
 * too slow for all promises, each stream gets a share by its weight, and none starves. What is left
 * goes to streams that are not due, by priority, and those with need weigh SL_TURNS_NEED times as
 * much. A bucket of processor time keeps all models together within a number of cores.
 */
#pragma once

#include <glib.h>

/** How much more a stream with need weighs when what is left is given. */
#define SL_TURNS_NEED 8
/** Waits that percentiles are taken of. */
#define SL_TURNS_WAITS 256

typedef struct _SlTurns SlTurns;
typedef struct _SlTurnStream SlTurnStream;

/**
 * SlTurnFigures:
 * @promised: frames a second
 * @offered, @delivered: frames a second over the last ten seconds: that came, and that the model
 * ran on
 * @frames: that the model ran on, ever
 * @skipped: that newer ones replaced before the model ran on them, ever
 * @need: of the last frame that waited
 * @cost: the median of the last runs' times in us, 0 before the first
 * @waited_p50, @waited_p99: us for which the last SL_TURNS_WAITS frames waited
 */
typedef struct
{
  gdouble promised, offered, delivered;
  guint64 frames, skipped;
  gboolean need;
  gint64 cost, waited_p50, waited_p99;
} SlTurnFigures;

/** sl_turns_new: @cores: processor seconds a second for all models together, more than 0. */
SlTurns *sl_turns_new (gdouble cores);
/** sl_turns_free: after its streams. */
void sl_turns_free (SlTurns *turns);
void sl_turns_set_cores (SlTurns *turns, gdouble cores, gint64 now);
gdouble sl_turns_cores (const SlTurns *turns);

/** sl_turn_stream_new: @user: for sl_turn_stream_user(). */
SlTurnStream *sl_turn_stream_new (SlTurns *turns, gpointer user);
/** sl_turn_stream_free: neither waits nor has a turn. */
void sl_turn_stream_free (SlTurnStream *stream);
/**
 * sl_turn_stream_set:
 * @rate: promised frames a second, more than 0
 * @priority: at least 1
 * @threads: that its model uses at once
 * @group: (nullable): streams of one group run together, up to @most of them
 *
 * While it neither waits nor has a turn.
 */
void sl_turn_stream_set (SlTurnStream *stream, gdouble rate, guint priority, guint threads,
                         gconstpointer group, guint most);
gpointer sl_turn_stream_user (const SlTurnStream *stream);

/** sl_turn_stream_arrive: @n frames came since the last call; only the newest is still there. */
void sl_turn_stream_arrive (SlTurnStream *stream, guint n, gint64 now);
/** sl_turn_stream_wait: a frame waits for its turn. @need: something happens before this camera. */
void sl_turn_stream_wait (SlTurnStream *stream, gboolean need, gint64 now);
/** sl_turn_stream_give_up: it waits no more. */
void sl_turn_stream_give_up (SlTurnStream *stream);
/** sl_turn_stream_skip: a newer frame takes the turn of the one that waited. */
void sl_turn_stream_skip (SlTurnStream *stream);
gboolean sl_turn_stream_has_turn (const SlTurnStream *stream);
/** sl_turn_stream_done: its turn is over. @used: us for which its thread had a processor; its
 * model's other threads count as long. @ran: the model ran. @more: its next frame is there
 * already, so no turn that it should have is given to another while it fetches that frame, if it is
 * quick; and streams of its group wait for it. */
void sl_turn_stream_done (SlTurnStream *stream, gboolean ran, gboolean more, gint64 used,
                          gint64 now);

/**
 * sl_turns_give:
 * @given: (out): those that have their turn now, which run together; room for @most
 * @look: (out): when it may give a turn that it does not give now, without further calls;
 * G_MAXINT64 = not by itself
 *
 * Returns: how many are in @given; 0 = none may run now
 */
guint sl_turns_give (SlTurns *turns, gint64 now, SlTurnStream **given, guint most, gint64 *look);

/** sl_turns_waiting: (nullable): any stream that waits for its turn. */
SlTurnStream *sl_turns_waiting (const SlTurns *turns);
void sl_turn_stream_figures (const SlTurnStream *stream, gint64 now, SlTurnFigures *figures);

/**
 * sl_turns_predict:
 * @rates, @priorities, @costs: of @n streams; costs in processor seconds of a frame
 * @most: (nullable): frames a second that each camera sends; 0 = unknown
 * @cores: as of sl_turns_new()
 * @delivered: (out): frames a second that each gets of those that it was promised
 *
 * Returns: whether all get what they were promised
 */
gboolean sl_turns_predict (const gdouble *rates, const guint *priorities, const gdouble *costs,
                           const gdouble *most, guint n, gdouble cores, gdouble *delivered);
