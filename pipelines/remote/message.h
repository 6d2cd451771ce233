/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Payloads of requests and answers: a head of fixed size, little-endian, then tensors one behind the other, as docs/remote.md describes them.
 * Reading trusts nothing: all sizes are compared with the contract and with what is there before a byte of a tensor is looked at.
 */
#ifndef SL_REMOTE_MESSAGE_H
#define SL_REMOTE_MESSAGE_H

#include "models/contract.h"
#include "pipelines/remote/contract_json.h"
#include "pipelines/remote/encoding.h"

G_BEGIN_DECLS

/** Bytes of a worker's name or of a sentence in an answer at most. */
#define SL_REMOTE_MAX_TEXT 1024
/** Bytes of correlation data: eight that a camera drew at its start, eight that count its frames. */
#define SL_REMOTE_CORRELATION 16
/** Milliseconds that a request may live at most. */
#define SL_REMOTE_MAX_LIFE 3600000

/** SlRemoteTensors: tensors within a message. @sizes: bytes of each, at most the contract's; fewer where it is encoded */
typedef struct
{
  SlRemoteEncoding encoding;
  const void *data[SL_MAX_IO];
  gsize sizes[SL_MAX_IO];
} SlRemoteTensors;

/** sl_remote_tensor_read: tensor @i as it was, into @out, which holds the bytes of @info, the contract's. FALSE with @error set, SL_ERROR_FORMAT.
 *  @what: "request" or "answer" */
gboolean sl_remote_tensor_read (const SlRemoteTensors *tensors, const SlTensorInfo *info, guint i, void *out, const char *what,
                                GError **error);

/** SlRemoteRequest: @inputs point into the message. @life_ms: how long an answer is of use, since the request was sent */
typedef struct
{
  guint life_ms;
  SlRemoteTensors inputs;
} SlRemoteRequest;

/**
 * SlRemoteAnswer:
 * @refusal: (nullable): the worker's sentence; there are no tensors then
 * @refuses_encoding: it is about the request's encoding: without one it would be answered
 * @outputs: point into the message
 * @text: holds both texts
 */
typedef struct
{
  guint waited_us, computed_us;
  const char *worker, *refusal;
  gboolean refuses_encoding;
  SlRemoteTensors outputs;
  char text[SL_REMOTE_MAX_TEXT + 1];
} SlRemoteAnswer;

/** sl_remote_request_size: bytes of a request for a model of @contract at most: those of one that is not encoded. */
gsize sl_remote_request_size (const SlContract *contract);
/** sl_remote_request_new: (transfer full): of @size bytes. @encoding: that sl_remote_encodings_built() has; @quality: 1..100, of JPEG */
guint8 *sl_remote_request_new (const SlContract *contract, const char *hash, guint life_ms, SlRemoteEncoding encoding, gint quality,
                               const void *const *inputs, gsize *size);
/** sl_remote_request_plain: (transfer full) (nullable): the request @data without its encoding; NULL: it is none. */
guint8 *sl_remote_request_plain (const void *data, gsize size, const SlContract *contract, const char *hash, gsize *plain_size);
/** sl_remote_request_renew: another @life_ms in a request. */
void sl_remote_request_renew (void *data, guint life_ms);
/** sl_remote_request_read: FALSE with @error set, SL_ERROR_FORMAT or SL_ERROR_CONTRACT: what was expected and got; SL_ERROR_UNSUPPORTED: this build
 *  does not know the encoding. What is encoded may still turn out to be none: see sl_remote_tensor_read(). */
gboolean sl_remote_request_read (const void *data, gsize size, const SlContract *contract, const char *hash, SlRemoteRequest *request,
                                 GError **error);

/** sl_remote_answer_new: (transfer full): what the model of @contract gave, @outputs. @encoding: none, or the request's where that is lossless */
guint8 *sl_remote_answer_new (const SlContract *contract, const char *worker, guint waited_us, guint computed_us, SlRemoteEncoding encoding,
                              const void *const *outputs, gsize *size);
/** sl_remote_refusal_new: (transfer full): why there is no answer; @of_encoding: because of the request's encoding. */
guint8 *sl_remote_refusal_new (const char *sentence, gboolean of_encoding, gsize *size);
/** sl_remote_answer_read: as sl_remote_request_read(). @encoding: the request's, which the answer may have, too */
gboolean sl_remote_answer_read (const void *data, gsize size, const SlContract *contract, SlRemoteEncoding encoding, SlRemoteAnswer *answer,
                                GError **error);
/** sl_remote_answer_plain: (transfer full) (nullable): memory in which @answer's outputs are from now on, as they were. NULL with @error set. */
guint8 *sl_remote_answer_plain (SlRemoteAnswer *answer, const SlContract *contract, GError **error);

G_END_DECLS

#endif
