/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/remote/local.h"

#include <string.h>

#include "core/runtime/session.h"
#include "models/model.h"
#include "models/state.h"
#include "core/base/fail.h"

struct _SlRemoteLocal
{
  SlModel *model;
  SlSession *session;
  char hash[SL_REMOTE_HASH];
  void *inputs[SL_MAX_IO]; /* aligned and padded */
};

void
sl_remote_local_free (SlRemoteLocal *local)
{
  if (local == NULL)
    return;
  for (guint i = 0; i < SL_MAX_IO; i++)
    sl_tensor_buffer_free (local->inputs[i]);
  g_clear_pointer (&local->session, sl_session_free);
  g_clear_pointer (&local->model, sl_model_unref);
  g_free (local);
}

static gboolean
open_model (SlRemoteLocal *local, const char *path, const SlContract *contract, const char *hash,
            GError **error)
{
  const SlModelLoadOptions options = { .skip_input_quantize =
                                         contract == NULL || contract->skips_input_quantize };
  local->model = sl_model_load_with (path, NULL, &options, error);
  if (local->model == NULL
      || !sl_state_refuse (sl_model_graph (local->model),
                           "some of the frames go to workers: run it with slinfer", error))
    return FALSE;
  const SlContract *own = sl_model_contract (local->model);
  sl_remote_contract_hash (own, local->hash);
  if (contract != NULL && strcmp (hash, local->hash) != 0) {
    g_autofree char *expected = sl_contract_summary (contract), *got = sl_contract_summary (own);
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "%s: expected the model that the workers serve, %s (%s), got %s (%s)", path,
                    expected, hash, got, local->hash);
  }
  local->session = sl_session_new (sl_model_graph (local->model), 1, error);
  for (guint i = 0; local->session != NULL && i < own->n_inputs; i++)
    if ((local->inputs[i] = sl_tensor_buffer_new (own->inputs[i].bytes)) == NULL)
      return sl_fail (error, SL_ERROR_LIMIT, "%s: there is no memory for its inputs", path);
  return local->session != NULL;
}

SlRemoteLocal *
sl_remote_local_new (const char *path, const SlContract *contract, const char *hash, GError **error)
{
  SlRemoteLocal *local = g_new0 (SlRemoteLocal, 1);
  if (open_model (local, path, contract, hash, error))
    return local;
  sl_remote_local_free (local);
  return NULL;
}

SlContract *
sl_remote_local_contract (const SlRemoteLocal *local, char hash[SL_REMOTE_HASH])
{
  g_strlcpy (hash, local->hash, SL_REMOTE_HASH);
  return sl_model_contract (local->model);
}

gboolean
sl_remote_local_suits (const SlRemoteLocal *local, const char *hash)
{
  return strcmp (local->hash, hash) == 0;
}

gboolean
sl_remote_local_run (SlRemoteLocal *local, const SlRemoteEntry *entry, void *const *outputs,
                     GError **error)
{
  const SlContract *contract = entry->contract;
  SlRemoteRequest request;
  if (!sl_remote_request_read (entry->request, entry->request_size, contract, entry->hash, &request,
                               error))
    return FALSE;
  for (guint i = 0; i < contract->n_inputs; i++)
    if (!sl_remote_tensor_read (&request.inputs, &contract->inputs[i], i, local->inputs[i],
                                "request", error))
      return FALSE;
  const SlStatus status =
    sl_session_run (local->session, (const void *const *) local->inputs, outputs);
  if (status != SL_STATUS_OK)
    sl_fail (error, SL_ERROR_BACKEND, "%s: %s", sl_model_path (local->model),
             sl_session_status_text (local->session, status));
  return status == SL_STATUS_OK;
}
