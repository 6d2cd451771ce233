/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Replays recorded inferences: runs the same inputs in a session, and compares each output with the
 * recorded one.
 */
#pragma once

#include "models/replay/black_box.h"

/**
 * SlReplayDifference: an output that is not, bit for bit, what was recorded.
 * @number, @pts: of the inference
 * @output: its number, from 0
 * @stored: whether its values were recorded, too; without them nothing of what follows is known
 * @elements: how many values it has; @differing: how many of them differ
 * @largest: the largest difference of two values; not a number where one of them is none
 * @place: of that value; @expected, @got: it
 * @range: the largest absolute value that was expected, of finite ones
 */
typedef struct
{
  guint64 number, pts;
  guint output;
  gboolean stored;
  gsize elements, differing, place;
  gdouble largest, expected, got, range;
} SlReplayDifference;

/** SlReplaySum: inferences that gave the same, that did not, that had not finished when they were
 * recorded and do so here, and that fail here. */
typedef struct
{
  guint64 equal, different, unfinished, failed;
} SlReplaySum;

/** SlReplayFound: called for each difference, and with @difference NULL for the inference @number
 * that had not finished, or that fails here:
 *  @failure (nullable) says why. */
typedef void (*SlReplayFound) (guint64 number, const SlReplayDifference *difference,
                               const char *failure, gpointer data);

/** sl_replay_run: all of @box through @session, whose model passed sl_black_box_check_model().
 * FALSE with SL_ERROR_LIMIT when there is no memory; an inference that fails is only counted. */
gboolean sl_replay_run (const SlBlackBox *box, SlSession *session, SlReplayFound found,
                        gpointer data, SlReplaySum *sum, GError **error);

/** SlReplayBuffers: memory for a session's inputs and outputs; zeroed = none. */
typedef struct
{
  guint n_inputs, n_outputs;
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
} SlReplayBuffers;

/** sl_replay_buffers_init: FALSE with SL_ERROR_LIMIT when there is no memory; to be cleared in any
 * case. */
gboolean sl_replay_buffers_init (SlReplayBuffers *buffers, const SlBlackBoxInfo *info,
                                 GError **error);
void sl_replay_buffers_clear (SlReplayBuffers *buffers);
/** sl_replay_buffers_run: runs @session, of a model with the recorded tensors; what it holds
 * (sl_session_held()) is taken from behind the inputs. */
SlStatus sl_replay_buffers_run (SlReplayBuffers *buffers, SlSession *session);
/** SlReplayTolerance: a value that is not further away than @of_value of it and @of_range of the
 * range does not differ. NaN and infinity are equal only to themselves, bit for bit. */
typedef struct
{
  gdouble of_value, of_range;
} SlReplayTolerance;

/** sl_replay_compare: fills @difference, but for number and pts, with how far @got is from
 * @expected; both of @tensor's size. @tolerance: (nullable): NULL = bit for bit */
void sl_replay_compare (const SlTensorInfo *tensor, const void *expected, const void *got,
                        const SlReplayTolerance *tolerance, SlReplayDifference *difference);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlReplayBuffers, sl_replay_buffers_clear)
