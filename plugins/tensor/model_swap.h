/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loading a model beside the one that runs, in a thread of its own, up to the moment at which the
 * streaming thread takes it.
 */
#pragma once

#include <glib.h>

#include "core/runtime/session.h"
#include "models/batcher.h"
#include "models/model.h"
#include "models/replay/recorder.h"

/** A model, a session that runs it, what records it, and what it was loaded by; zeroed = none. */
typedef struct
{
  SlModel *model;
  SlSession *session;
  SlBatchStream *batch; /* (nullable): of @session, which runs with those of other streams */
  SlRecorder *recorder; /* (nullable) */
  char *notice; /* (nullable): something else runs the model than was asked for, for a warning */
  gpointer settings; /* (nullable): the loader's */
  GDestroyNotify free_settings;
} SlLoadedModel;

void sl_loaded_model_clear (SlLoadedModel *loaded);

typedef struct _SlModelSwap SlModelSwap;

/** SlModelSwapLoad: loads what is wanted now into @loaded; in the swap's thread. */
typedef gboolean (*SlModelSwapLoad) (gpointer user, SlLoadedModel *loaded, GError **error);
/** SlModelSwapDone: a model is ready, or @error says why none is; in the swap's thread, or, where
 * that cannot be started, in the requesting one; with nothing locked. */
typedef void (*SlModelSwapDone) (gpointer user, const GError *error);

SlModelSwap *sl_model_swap_new (SlModelSwapLoad load, SlModelSwapDone done, gpointer user);
/** sl_model_swap_free: after sl_model_swap_stop(); NULL is legal. */
void sl_model_swap_free (SlModelSwap *swap);
/** sl_model_swap_note: where it loads: what sl_model_swap_stop() cancels from now on; NULL before
 * that is freed. */
void sl_model_swap_note (SlModelSwap *swap, SlSession *session);
/** sl_model_swap_request: from any thread: starts to load, then runs the model once on zeros. Of
 * requests that come meanwhile the last one counts. A model that is ready stays so until it is
 * taken; only then the next one is loaded. */
void sl_model_swap_request (SlModelSwap *swap);
/** sl_model_swap_offer: (transfer full) (nullable): the contract of the model that is ready; from
 * any thread. */
SlContract *sl_model_swap_offer (SlModelSwap *swap);
/** sl_model_swap_take: (out): hands over the model that is ready; FALSE when none is. The next one
 * waits for sl_model_swap_go_on(). */
gboolean sl_model_swap_take (SlModelSwap *swap, SlLoadedModel *loaded);
/** sl_model_swap_go_on: after sl_model_swap_take() gave a model, when the caller has noted what it
 * runs now. */
void sl_model_swap_go_on (SlModelSwap *swap);
/** sl_model_swap_is_pending: whether a model is being loaded, or is ready and not taken. */
gboolean sl_model_swap_is_pending (SlModelSwap *swap);
/** sl_model_swap_stop: waits for the thread to end, as soon as it can. A model that is ready stays.
 * Returns whether a request was given up. */
gboolean sl_model_swap_stop (SlModelSwap *swap);
