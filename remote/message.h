/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Payloads of requests and answers: a head of fixed size, little-endian, then tensors one behind the other, as docs/remote.md describes them.
 * Reading trusts nothing: all sizes are compared with the contract and with what is there before a byte of a tensor is looked at.
 */
#ifndef SL_REMOTE_MESSAGE_H
#define SL_REMOTE_MESSAGE_H

#include "models/contract.h"
#include "remote/contract_json.h"

G_BEGIN_DECLS

/** Bytes of a worker's name or of a sentence in an answer at most. */
#define SL_REMOTE_MAX_TEXT 1024
/** Bytes of correlation data: eight that a camera drew at its start, eight that count its frames. */
#define SL_REMOTE_CORRELATION 16
/** Milliseconds that a request may live at most. */
#define SL_REMOTE_MAX_LIFE 3600000

/** SlRemoteRequest: @inputs point into the message. @life_ms: how long an answer is of use, since the request was sent */
typedef struct
{
  guint life_ms;
  const void *inputs[SL_MAX_IO];
} SlRemoteRequest;

/** SlRemoteAnswer: @outputs point into the message. @refusal: (nullable): the worker's sentence; there are no tensors then. @text: holds both texts */
typedef struct
{
  guint waited_us, computed_us;
  const char *worker, *refusal;
  const void *outputs[SL_MAX_IO];
  char text[SL_REMOTE_MAX_TEXT + 1];
} SlRemoteAnswer;

/** sl_remote_request_size: bytes of a request for a model of @contract. */
gsize sl_remote_request_size (const SlContract *contract);
/** sl_remote_request_write: into @size bytes (sl_remote_request_size()) at @data. */
void sl_remote_request_write (void *data, const SlContract *contract, const char *hash, guint life_ms, const void *const *inputs);
/** sl_remote_request_renew: another @life_ms in a request. */
void sl_remote_request_renew (void *data, guint life_ms);
/** sl_remote_request_read: FALSE with @error set, SL_ERROR_FORMAT or SL_ERROR_CONTRACT: what was expected and got. */
gboolean sl_remote_request_read (const void *data, gsize size, const SlContract *contract, const char *hash, SlRemoteRequest *request,
                                 GError **error);

/** sl_remote_answer_new: (transfer full): what the model of @contract gave. @outputs: (out) (array): where its tensors are to be written, without
 *  alignment */
guint8 *sl_remote_answer_new (const SlContract *contract, const char *worker, guint waited_us, guint computed_us, void **outputs,
                              gsize *size);
/** sl_remote_refusal_new: (transfer full): why there is no answer. */
guint8 *sl_remote_refusal_new (const char *sentence, gsize *size);
/** sl_remote_answer_read: as sl_remote_request_read(). */
gboolean sl_remote_answer_read (const void *data, gsize size, const SlContract *contract, SlRemoteAnswer *answer, GError **error);

G_END_DECLS

#endif
