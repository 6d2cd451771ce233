/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Turns of streams at their models. Invariant: a stream waits, has a turn, or neither. Streams that
 * run together share one run, whose threads are in use until the last of them is done.
 */
#include "predict/turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Turns that a stream may catch up after it was late, in periods of its rate. */
#define CATCH_UP 2
/* Processor time that may be saved up, in seconds. */
#define SAVED_UP 0.1
/* A stream is waited for while it fetches its next frame: as long as its model takes, within these
 * bounds, in us. */
#define LEAST_FETCH 5000
#define MOST_FETCH 50000
/* Runs whose median is the cost. */
#define COSTS 15
/* Counts of frames are kept for each tenth of this time. */
#define WINDOW (10 * G_TIME_SPAN_SECOND)
#define SLICES 10
#define SLICE (WINDOW / SLICES)

typedef struct
{
  guint n, threads;
  gint64 since, used; /* used: by the thread that had a processor longest */
} Run;

/* Counts of the last seconds. @slice: the number of the newest one. */
typedef struct
{
  guint counts[SLICES];
  gint64 slice, first;
} Recent;

/* A place in start-time fair queueing. */
typedef struct
{
  gdouble start, finish;
} Place;

struct _SlTurnStream
{
  SlTurns *turns;
  SlTurnStream *next;
  gpointer user;
  gdouble rate;
  guint priority, threads, most;
  gconstpointer group;
  gboolean waits, need, known;
  gint64 since, asked;  /* waits since; has its turn since */
  gint64 left_at, away; /* its last turn's end, 0 = never; mean time from there to its next frame */
  gint64 expected;      /* it fetches its next frame, until this time at most; 0 = it does not */
  gdouble due;          /* us */
  Place promised, left;
  Run *run; /* (nullable): of its turn */
  gint64 costs[COSTS], waited[SL_TURNS_WAITS];
  guint64 n_costs, n_waited, frames, skipped;
  Recent offered, delivered;
};

struct _SlTurns
{
  gdouble cores, saved;   /* saved: processor us; less than 0 = in debt */
  gint64 refilled;        /* 0 = never */
  guint threads;          /* of all runs */
  gdouble promised, left; /* virtual times: the starts of those that had the last turns */
  SlTurnStream *streams;
  GPtrArray *rest; /* of Run: those that are not in use; as many as streams, with those in use */
};

SlTurns *
sl_turns_new (gdouble cores)
{
  SlTurns *turns = g_new0 (SlTurns, 1);
  turns->cores = cores;
  turns->rest = g_ptr_array_new_with_free_func (g_free);
  return turns;
}

void
sl_turns_free (SlTurns *turns)
{
  g_ptr_array_unref (turns->rest);
  g_free (turns);
}

static gdouble
most_saved (const SlTurns *turns)
{
  return turns->cores * SAVED_UP * G_TIME_SPAN_SECOND;
}

/* Runs are paid for while they last. What they did not use of that time comes back at their end. */
static void
refill (SlTurns *turns, gint64 now)
{
  if (turns->refilled == 0)
    turns->saved = most_saved (turns);
  else
    turns->saved =
      MIN (most_saved (turns),
           turns->saved + (gdouble) (now - turns->refilled) * (turns->cores - turns->threads));
  turns->refilled = now;
}

void
sl_turns_set_cores (SlTurns *turns, gdouble cores, gint64 now)
{
  refill (turns, now);
  turns->cores = cores;
  turns->saved = MIN (turns->saved, most_saved (turns));
}

gdouble
sl_turns_cores (const SlTurns *turns)
{
  return turns->cores;
}

SlTurnStream *
sl_turn_stream_new (SlTurns *turns, gpointer user)
{
  SlTurnStream *stream = g_new0 (SlTurnStream, 1);
  *stream = (SlTurnStream){ .turns = turns,
                            .next = turns->streams,
                            .user = user,
                            .rate = 1,
                            .priority = 1,
                            .threads = 1,
                            .most = 1 };
  turns->streams = stream;
  g_ptr_array_add (turns->rest, g_new0 (Run, 1));
  return stream;
}

void
sl_turn_stream_free (SlTurnStream *stream)
{
  SlTurns *turns = stream->turns;
  SlTurnStream **at = &turns->streams;
  while (*at != stream)
    at = &(*at)->next;
  *at = stream->next;
  g_ptr_array_remove_index_fast (turns->rest, turns->rest->len - 1);
  g_free (stream);
}

void
sl_turn_stream_set (SlTurnStream *stream, gdouble rate, guint priority, guint threads,
                    gconstpointer group, guint most)
{
  stream->rate = rate;
  stream->priority = MAX (priority, 1);
  stream->threads = MAX (threads, 1);
  stream->group = group;
  stream->most = group != NULL ? MAX (most, 1) : 1;
  stream->n_costs = 0; /* of another model */
}

gpointer
sl_turn_stream_user (const SlTurnStream *stream)
{
  return stream->user;
}

/* Forgets what is older than the window. */
static void
advance (Recent *recent, gint64 now)
{
  const gint64 slice = now / SLICE;
  if (recent->first == 0)
    recent->first = now;
  if (slice - recent->slice >= SLICES)
    memset (recent->counts, 0, sizeof recent->counts);
  else
    for (gint64 i = recent->slice + 1; i <= slice; i++)
      recent->counts[i % SLICES] = 0;
  recent->slice = MAX (recent->slice, slice);
}

static void
count (Recent *recent, guint n, gint64 now)
{
  advance (recent, now);
  recent->counts[recent->slice % SLICES] += n;
}

/* Over what is known of the window. */
static gdouble
rate_of (Recent recent, gint64 now)
{
  guint n = 0;
  if (recent.first == 0)
    return 0;
  advance (&recent, now);
  for (guint i = 0; i < SLICES; i++)
    n += recent.counts[i];
  const gint64 begin = MAX (recent.first, (recent.slice - SLICES + 1) * SLICE);
  return (gdouble) n * G_TIME_SPAN_SECOND / (gdouble) MAX (now - begin, SLICE);
}

static gdouble
period (const SlTurnStream *stream)
{
  return G_TIME_SPAN_SECOND / stream->rate;
}

/* What it did not take while no frame of it waited is not kept for it. */
static void
take_place (SlTurnStream *stream, gint64 now)
{
  const SlTurns *turns = stream->turns;
  stream->due = MAX (stream->due, (gdouble) now - CATCH_UP * period (stream));
  stream->promised.start = MAX (stream->promised.finish, turns->promised);
  stream->left.start = MAX (stream->left.finish, turns->left);
}

static gboolean
is_due (const SlTurnStream *stream, gint64 now)
{
  return (gdouble) now >= stream->due;
}

void
sl_turn_stream_arrive (SlTurnStream *stream, guint n, gint64 now)
{
  count (&stream->offered, n, now);
  stream->skipped += n - 1;
}

void
sl_turn_stream_wait (SlTurnStream *stream, gboolean need, gint64 now)
{
  if (stream->left_at > 0)
    stream->away += (MIN (now - stream->left_at, MOST_FETCH) - stream->away) / 4;
  stream->left_at = stream->expected = 0;
  stream->waits = TRUE;
  stream->need = need;
  stream->since = now;
  if (!stream->known)
    stream->due = (gdouble) now;
  stream->known = TRUE;
  take_place (stream, now);
}

void
sl_turn_stream_give_up (SlTurnStream *stream)
{
  stream->waits = FALSE;
}

void
sl_turn_stream_skip (SlTurnStream *stream)
{
  stream->skipped++;
}

gboolean
sl_turn_stream_has_turn (const SlTurnStream *stream)
{
  return stream->run != NULL;
}

/* Whether it waits, or is about to, in a place before others. */
static gboolean
has_place (const SlTurnStream *stream, gint64 now)
{
  return stream->waits || (stream->expected > now && (stream->need || is_due (stream, now)));
}

/* (nullable): the stream that comes next. @group: (nullable): of those of this group that wait. */
static SlTurnStream *
choose (const SlTurns *turns, gconstpointer group, gint64 now)
{
  SlTurnStream *best = NULL;
  gboolean best_due = FALSE;
  for (SlTurnStream *stream = turns->streams; stream != NULL; stream = stream->next) {
    const gboolean due = is_due (stream, now);
    if (!has_place (stream, now) || (group != NULL && (stream->group != group || !stream->waits)))
      continue;
    const gdouble start = due ? stream->promised.start : stream->left.start;
    const gdouble other = best == NULL ? 0 : due ? best->promised.start : best->left.start;
    if (best == NULL || (due && !best_due)
        || (due == best_due && (start < other || (start <= other && stream->due < best->due)))) {
      best = stream;
      best_due = due;
    }
  }
  return best;
}

static int
compare (const void *a, const void *b)
{
  const gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;
  return x < y ? -1 : x > y;
}

static gint64
median_cost (const SlTurnStream *stream)
{
  gint64 sorted[COSTS];
  const guint n = (guint) MIN (stream->n_costs, COSTS);
  if (n == 0)
    return 0;
  memcpy (sorted, stream->costs, n * sizeof *sorted);
  qsort (sorted, n, sizeof *sorted, compare);
  return sorted[n / 2];
}

/* What must be saved up before @stream runs: what is left must not leave debts to those that are
 * due. */
static gdouble
price (const SlTurnStream *stream, gint64 now)
{
  if (is_due (stream, now))
    return 0;
  return MIN ((gdouble) median_cost (stream) * stream->threads, most_saved (stream->turns));
}

/* Runs begin while a core is free; the threads of the last one may be more than are free. */
static gboolean
has_room (const SlTurns *turns)
{
  return turns->threads < ceil (turns->cores);
}

static void
give (SlTurnStream *stream, Run *run, gint64 now)
{
  SlTurns *turns = stream->turns;
  const gdouble weight = stream->rate * stream->priority,
                left = (gdouble) stream->priority * (stream->need ? SL_TURNS_NEED : 1);
  const gboolean due = is_due (stream, now);
  Place *place = due ? &stream->promised : &stream->left;
  *(due ? &turns->promised : &turns->left) = place->start;
  place->finish = place->start + 1 / (due ? weight : left);
  stream->due = MIN (stream->due, (gdouble) now) + period (stream);
  stream->waits = FALSE;
  stream->run = run;
  stream->asked = now;
  stream->waited[stream->n_waited++ % SL_TURNS_WAITS] = now - stream->since;
  run->n++;
}

/* When the first of those that wait becomes due, which may change whose turn it is. */
static gint64
next_due (const SlTurns *turns, gint64 now)
{
  gdouble at = G_MAXDOUBLE;
  for (const SlTurnStream *stream = turns->streams; stream != NULL; stream = stream->next)
    if (stream->waits && !is_due (stream, now))
      at = MIN (at, stream->due);
  return at < G_MAXDOUBLE ? MAX ((gint64) ceil (at), now + 1) : G_MAXINT64;
}

/* Until when streams that run with @first fetch their next frames, 0 = none does; no more are
 * waited for than run together. */
static gint64
group_comes (const SlTurns *turns, const SlTurnStream *first, gint64 now)
{
  gint64 until = 0;
  guint n = 0;
  for (const SlTurnStream *stream = turns->streams; stream != NULL && first->most > 1;
       stream = stream->next) {
    if (stream->group != first->group)
      continue;
    n += stream->waits;
    if (!stream->waits && stream->expected > now)
      until = until == 0 ? stream->expected : MIN (until, stream->expected);
  }
  return n < first->most ? until : 0;
}

guint
sl_turns_give (SlTurns *turns, gint64 now, SlTurnStream **given, guint most, gint64 *look)
{
  guint n = 0;
  *look = G_MAXINT64;
  refill (turns, now);
  SlTurnStream *stream = choose (turns, NULL, now);
  if (stream == NULL || !has_room (turns))
    return 0;
  const gint64 comes = stream->waits ? group_comes (turns, stream, now) : stream->expected;
  if (comes > 0) {
    *look = MIN (comes, next_due (turns, now));
    return 0;
  }
  const gdouble lacks = price (stream, now) - turns->saved;
  if (lacks > 0) {
    *look = MIN (now + (gint64) ceil (lacks / turns->cores), next_due (turns, now));
    return 0;
  }
  Run *run = g_ptr_array_steal_index_fast (turns->rest, turns->rest->len - 1);
  *run = (Run){ 0, stream->threads, now, 0 };
  turns->threads += run->threads;
  const guint together = MIN (stream->most, most);
  const gconstpointer group = stream->group;
  for (; stream != NULL; stream = n < together ? choose (turns, group, now) : NULL) {
    give (stream, run, now);
    given[n++] = stream;
  }
  return n;
}

/* A slow one is not worth waiting for. */
static void
expect (SlTurnStream *stream, gint64 now)
{
  const gint64 longest = CLAMP (median_cost (stream), LEAST_FETCH, MOST_FETCH),
               fetch = 2 * stream->away + LEAST_FETCH / 10;
  stream->left_at = now;
  stream->expected = fetch <= longest ? now + fetch : 0;
  take_place (stream, now);
}

void
sl_turn_stream_done (SlTurnStream *stream, gboolean ran, gboolean more, gint64 used, gint64 now)
{
  SlTurns *turns = stream->turns;
  Run *run = stream->run;
  stream->run = NULL;
  if (more)
    expect (stream, now);
  if (ran) {
    stream->costs[stream->n_costs++ % COSTS] = now - stream->asked;
    stream->frames++;
    count (&stream->delivered, 1, now);
  }
  run->used = MAX (run->used, MIN (used, now - run->since));
  if (--run->n > 0)
    return;
  refill (turns, now);
  turns->saved = MIN (most_saved (turns),
                      turns->saved + (gdouble) (now - run->since - run->used) * run->threads);
  turns->threads -= run->threads;
  g_ptr_array_add (turns->rest, run);
}

SlTurnStream *
sl_turns_waiting (const SlTurns *turns)
{
  SlTurnStream *stream = turns->streams;
  while (stream != NULL && !stream->waits)
    stream = stream->next;
  return stream;
}

void
sl_turn_stream_figures (const SlTurnStream *stream, gint64 now, SlTurnFigures *figures)
{
  gint64 sorted[SL_TURNS_WAITS];
  const guint n = (guint) MIN (stream->n_waited, SL_TURNS_WAITS);
  memcpy (sorted, stream->waited, n * sizeof *sorted);
  qsort (sorted, n, sizeof *sorted, compare);
  *figures = (SlTurnFigures){ .promised = stream->rate,
                              .offered = rate_of (stream->offered, now),
                              .delivered = rate_of (stream->delivered, now),
                              .frames = stream->frames,
                              .skipped = stream->skipped,
                              .need = stream->need,
                              .cost = median_cost (stream),
                              .waited_p50 = n > 0 ? sorted[n / 2] : 0,
                              .waited_p99 = n > 0 ? sorted[MIN (n * 99 / 100, n - 1)] : 0 };
}

gboolean
sl_turns_predict (const gdouble *rates, const guint *priorities, const gdouble *costs,
                  const gdouble *most, guint n, gdouble cores, gdouble *delivered)
{
  g_autofree gboolean *whole = g_new0 (gboolean, n);
  gdouble left = cores;
  gboolean all = TRUE;
  for (guint round = 0; round < n; round++) {
    gdouble weights = 0;
    gboolean changed = FALSE;
    for (guint i = 0; i < n; i++)
      weights += whole[i] ? 0 : rates[i] * priorities[i] * costs[i];
    const gdouble level = weights > 0 ? left / weights : 0;
    for (guint i = 0; i < n; i++) {
      const gdouble wanted = most != NULL && most[i] > 0 ? MIN (rates[i], most[i]) : rates[i];
      if (whole[i])
        continue;
      delivered[i] = MIN (wanted, level * rates[i] * priorities[i]);
      if (delivered[i] < wanted)
        continue;
      whole[i] = changed = TRUE;
      left -= wanted * costs[i];
    }
    if (!changed)
      break;
  }
  for (guint i = 0; i < n; i++)
    all = all && delivered[i] >= rates[i] * (1 - 1e-9);
  return all;
}
