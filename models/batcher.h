/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Streams of one process that share a batch: each submits its inputs and waits. A batch runs when
 * it is full, when every active stream has submitted its inputs, or when the first one has waited
 * long enough. One of the waiting threads runs it, so there is no extra thread.
 */
#pragma once

#include <glib.h>

#include "models/batch.h"

typedef struct _SlBatchStream SlBatchStream;

/**
 * sl_batch_stream_new:
 * @single: (transfer none): of @model, lives as long as the stream; runs inputs that no batch is
 * faster for
 * @n: as for sl_batch_session_new(), which the first stream calls
 * @timeout_us: the longest that inputs wait for others
 *
 * To cancel @single, from another thread, gives up what is made, and waiting for another stream
 * that makes it.
 *
 * Streams of one file with the same settings, and the same @n and @timeout_us, share a batch
 * (models of which sl_model_graph() is the same).
 *
 * Returns: (transfer full): NULL with SL_ERROR_UNSUPPORTED as sl_batch_session_new()
 */
SlBatchStream *sl_batch_stream_new (SlModel *model, SlSession *single, guint n, gint64 timeout_us,
                                    GError **error);
/** sl_batch_stream_free: after its run has returned; NULL is legal. Others do not wait for it any
 * more. */
void sl_batch_stream_free (SlBatchStream *stream);
/** sl_batch_stream_run: sl_session_run() of @single or of a batch with others'; one at a time for
 * each stream. If a batch fails, each stream runs its own inputs again, so that the faulty input of
 * one stream does not affect others, and a lost device has the same effect as in @single. Allocates
 * nothing. */
SlStatus sl_batch_stream_run (SlBatchStream *stream, const void *const *inputs,
                              void *const *outputs);
/** sl_batch_stream_waited: microseconds for which the last run waited for others. */
gint64 sl_batch_stream_waited (const SlBatchStream *stream);
/** sl_batch_stream_cancel: any thread: a run that waits for others returns SL_STATUS_CANCELLED at
 * once, and later ones, until called with FALSE. */
void sl_batch_stream_cancel (SlBatchStream *stream, gboolean cancelled);
/** sl_batch_stream_expect: any thread: others wait for this stream, which runs soon. */
void sl_batch_stream_expect (SlBatchStream *stream);
/** sl_batch_stream_rest: any thread: others do not wait for this stream until its next run: it has
 * ended, or pauses. */
void sl_batch_stream_rest (SlBatchStream *stream);
/** sl_batch_stream_take_notice: (transfer full) (nullable): once: why batches are not run any more,
 * for a warning. */
char *sl_batch_stream_take_notice (SlBatchStream *stream);
/** sl_batch_stream_session: (transfer none): the batch's, for its size and times. */
const SlBatchSession *sl_batch_stream_session (const SlBatchStream *stream);
/** sl_batch_stream_count: runs of a batch so far, and inputs in them, of all its streams. */
guint64 sl_batch_stream_count (SlBatchStream *stream, guint64 *inputs);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlBatchStream, sl_batch_stream_free)
