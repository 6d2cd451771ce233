/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Payloads of requests and answers: a header of fixed size, little-endian, then the tensors one
 * after another; see docs/remote.md. All data is untrusted: all sizes are compared with the
 * contract and with the message before a tensor is read.
 */
#pragma once

#include "models/contract.h"
#include "pipelines/remote/contract_json.h"
#include "pipelines/remote/encoding.h"

/** Most bytes of a worker's name or of a sentence in an answer. */
#define SL_REMOTE_MAX_TEXT 1024
/** Bytes of correlation data: eight random bytes from the start of the camera, then eight bytes
 * that count its frames. */
#define SL_REMOTE_CORRELATION 16
/** Most milliseconds that a request may live. */
#define SL_REMOTE_MAX_LIFE 3600000

/** SlRemoteTensors: the tensors in a message. @sizes: bytes of each, at most the size in the
 * contract, less where it is encoded */
typedef struct
{
  SlRemoteEncoding encoding;
  const void *data[SL_MAX_IO];
  gsize sizes[SL_MAX_IO];
} SlRemoteTensors;

/** sl_remote_tensor_read: decodes tensor @i into @out, which has room for the bytes of @info from
 * the contract. FALSE with @error set, SL_ERROR_FORMAT. @what: "request" or "answer", for the
 * message */
gboolean sl_remote_tensor_read (const SlRemoteTensors *tensors, const SlTensorInfo *info, guint i,
                                void *out, const char *what, GError **error);

/** SlRemoteRequest: @inputs point into the message. @life_ms: how long an answer is useful, in
 * milliseconds after sending */
typedef struct
{
  guint life_ms;
  SlRemoteTensors inputs;
} SlRemoteRequest;

/**
 * SlRemoteAnswer:
 * @waited_us, @computed_us: microseconds that the request waited at the worker, and that the model
 * took
 * @refusal: (nullable): the worker's reason for refusing; then there are no tensors
 * @refuses_encoding: the reason is the request's encoding; the same request without encoding would
 * be answered
 * @outputs: point into the message
 * @text: memory of both texts
 */
typedef struct
{
  guint waited_us, computed_us;
  const char *worker, *refusal;
  gboolean refuses_encoding;
  SlRemoteTensors outputs;
  char text[SL_REMOTE_MAX_TEXT + 1];
} SlRemoteAnswer;

/** sl_remote_request_size: most bytes of a request for a model of @contract: the size of a request
 * without encoding. */
gsize sl_remote_request_size (const SlContract *contract);
/** sl_remote_request_new: (transfer full): a request of @size bytes. @encoding: one of
 * sl_remote_encodings_built(); @quality: 1..100, of JPEG */
guint8 *sl_remote_request_new (const SlContract *contract, const char *hash, guint life_ms,
                               SlRemoteEncoding encoding, gint quality, const void *const *inputs,
                               gsize *size);
/** sl_remote_request_plain: (transfer full) (nullable): the request @data without its encoding;
 * NULL: @data is not a valid request. */
guint8 *sl_remote_request_plain (const void *data, gsize size, const SlContract *contract,
                                 const char *hash, gsize *plain_size);
/** sl_remote_request_renew: writes a new @life_ms into the request @data. */
void sl_remote_request_renew (void *data, guint life_ms);
/** sl_remote_request_read: FALSE with @error set. SL_ERROR_FORMAT and SL_ERROR_CONTRACT: the
 * message says what was expected and got. SL_ERROR_UNSUPPORTED: this build does not support the
 * encoding. Encoded tensors may still be invalid: see sl_remote_tensor_read(). */
gboolean sl_remote_request_read (const void *data, gsize size, const SlContract *contract,
                                 const char *hash, SlRemoteRequest *request, GError **error);

/** sl_remote_answer_new: (transfer full): an answer with @outputs of the model of @contract.
 * @encoding: none, or the request's encoding where that is lossless */
guint8 *sl_remote_answer_new (const SlContract *contract, const char *worker, guint waited_us,
                              guint computed_us, SlRemoteEncoding encoding,
                              const void *const *outputs, gsize *size);
/** sl_remote_refusal_new: (transfer full): a refusal with the reason @sentence; @of_encoding: the
 * reason is the request's encoding. */
guint8 *sl_remote_refusal_new (const char *sentence, gboolean of_encoding, gsize *size);
/** sl_remote_answer_read: as sl_remote_request_read(). @encoding: the request's encoding, which the
 * answer may have, too */
gboolean sl_remote_answer_read (const void *data, gsize size, const SlContract *contract,
                                SlRemoteEncoding encoding, SlRemoteAnswer *answer, GError **error);
/** sl_remote_answer_plain: (transfer full) (nullable): decodes the outputs of @answer into new
 * memory, which @answer points to from now on. NULL with @error set. */
guint8 *sl_remote_answer_plain (SlRemoteAnswer *answer, const SlContract *contract, GError **error);
