/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Request: "SLRQ", u16 version, u16 tensors, u64 hash, u32 life in ms, u32 encoding, u32 size of
 * each tensor, tensors. Answer:  "SLAN", u16 version, u8 status (0 done, 1 refused, 2 encoding
 * refused), u8 encoding, u32 us waited, u32 us computed, u16 tensors, u16 bytes of text, u32 size
 * of each tensor, text (the worker's name, or why it refused), tensors.
 *
 * A size is that of the tensor as it is in the message: as large as the contract's, or smaller and
 * encoded.
 */
#include "pipelines/remote/message.h"

#include <string.h>

#include "core/base/byte_order.h"
#include "core/base/printable.h"
#include "core/base/fail.h"

#define REQUEST_HEAD 24
#define ANSWER_HEAD 20
#define DONE 0
#define REFUSED 1
#define ENCODING_REFUSED 2
/* Ones that this build does not read, too: a tensor that did not become smaller is as it was in
 * any. */
#define EVERY_ENCODING ((1u << SL_REMOTE_N_ENCODINGS) - 1)

static void
put16 (guint8 *at, guint value)
{
  const guint16 little = GUINT16_TO_LE ((guint16) value);
  memcpy (at, &little, sizeof little);
}

static void
put32 (guint8 *at, guint value)
{
  const guint32 little = GUINT32_TO_LE (value);
  memcpy (at, &little, sizeof little);
}

static gsize
sum_of (const SlTensorInfo *tensors, guint n)
{
  gsize bytes = 0;
  for (guint i = 0; i < n; i++)
    bytes += tensors[i].bytes;
  return bytes;
}

/* @tensors, whose bytes are @raw, to @at; their sizes to @sizes. Returns the end. */
static guint8 *
put_tensors (guint8 *at, guint8 *sizes, SlRemoteEncoding encoding, gint quality,
             const SlTensorInfo *tensors, guint n, const void *const *raw)
{
  for (guint i = 0; i < n; i++) {
    gsize size = encoding != SL_REMOTE_ENCODING_NONE
                   ? sl_remote_encode (encoding, &tensors[i], quality, raw[i], at)
                   : 0;
    if (size == 0) {
      size = tensors[i].bytes;
      memcpy (at, raw[i], size);
    }
    put32 (sizes + 4 * i, (guint) size);
    at += size;
  }
  return at;
}

static gboolean wrong (GError **error, const char *what, const char *format, ...)
  G_GNUC_PRINTF (3, 4);

static gboolean
wrong (GError **error, const char *what, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return sl_fail (error, SL_ERROR_FORMAT, "%s: %s", what, text);
}

/* Magic and version of a message whose head is there. */
static gboolean
check_head (const guint8 *data, gsize size, gsize head, const char *magic, const char *what,
            GError **error)
{
  if (size < head || memcmp (data, magic, 4) != 0)
    return wrong (error, what,
                  "expected %s and a head of %" G_GSIZE_FORMAT " bytes, got %" G_GSIZE_FORMAT
                  " bytes%s",
                  magic, head, size, size < head ? "" : " of something else");
  if (sl_le16 (data + 4) != SL_REMOTE_VERSION)
    return wrong (
      error, what,
      "expected version %d, got %u: install the same version of Sightline on both sides",
      SL_REMOTE_VERSION, sl_le16 (data + 4));
  return TRUE;
}

/* The tensors of @data behind @head bytes, their sizes, and @text bytes: exactly those of @tensors,
 * or, where they are encoded, fewer bytes. */
static gboolean
find_tensors (const guint8 *data, gsize size, gsize head, guint got, gsize text,
              const SlTensorInfo *tensors, guint n, SlRemoteTensors *found, const char *what,
              GError **error)
{
  const gsize sizes = head + 4 * (gsize) n;
  const gboolean encoded = found->encoding != SL_REMOTE_ENCODING_NONE;
  if (got != n)
    return wrong (error, what, "expected %u tensors, got %u", n, got);
  const gsize most = sizes + text + sum_of (tensors, n);
  if (encoded ? size > most || size < sizes + text : size != most)
    return wrong (error, what, "expected %s%" G_GSIZE_FORMAT " bytes, got %" G_GSIZE_FORMAT,
                  encoded ? "at most " : "", most, size);
  const guint8 *at = data + sizes + text, *end = data + size;
  for (guint i = 0; i < n; i++) {
    const gsize bytes = sl_le32 (data + head + 4 * i);
    if (encoded ? bytes == 0 || bytes > tensors[i].bytes || bytes > (gsize) (end - at)
                : bytes != tensors[i].bytes)
      return wrong (error, what,
                    "tensor %u: expected %s%" G_GSIZE_FORMAT " bytes, got %" G_GSIZE_FORMAT, i,
                    encoded ? "at most " : "",
                    encoded ? MIN (tensors[i].bytes, (gsize) (end - at)) : tensors[i].bytes, bytes);
    found->data[i] = at;
    found->sizes[i] = bytes;
    at += bytes;
  }
  return at == end
         || wrong (error, what,
                   "expected nothing behind the tensors, got %" G_GSIZE_FORMAT " bytes",
                   (gsize) (end - at));
}

gboolean
sl_remote_tensor_read (const SlRemoteTensors *tensors, const SlTensorInfo *info, guint i, void *out,
                       const char *what, GError **error)
{
  g_autofree char *name = g_strdup_printf ("%s: tensor %u", what, i);
  return sl_remote_decode (tensors->encoding, info, tensors->data[i], tensors->sizes[i], out, name,
                           error);
}

gsize
sl_remote_request_size (const SlContract *contract)
{
  return REQUEST_HEAD + 4 * (gsize) contract->n_inputs
         + sum_of (contract->inputs, contract->n_inputs);
}

static guint64
hash_number (const char *hash)
{
  return g_ascii_strtoull (hash, NULL, 16);
}

guint8 *
sl_remote_request_new (const SlContract *contract, const char *hash, guint life_ms,
                       SlRemoteEncoding encoding, gint quality, const void *const *inputs,
                       gsize *size)
{
  guint8 *data = g_malloc (sl_remote_request_size (contract)), *at = data;
  const guint64 number = GUINT64_TO_LE (hash_number (hash));
  memcpy (at, "SLRQ", 4);
  put16 (at + 4, SL_REMOTE_VERSION);
  put16 (at + 6, contract->n_inputs);
  memcpy (at + 8, &number, sizeof number);
  sl_remote_request_renew (data, life_ms);
  put32 (at + 20, encoding);
  at = put_tensors (at + REQUEST_HEAD + 4 * contract->n_inputs, at + REQUEST_HEAD, encoding,
                    quality, contract->inputs, contract->n_inputs, inputs);
  *size = (gsize) (at - data);
  return encoding != SL_REMOTE_ENCODING_NONE ? g_realloc (data, *size) : data;
}

void
sl_remote_request_renew (void *data, guint life_ms)
{
  put32 ((guint8 *) data + 16, MIN (life_ms, SL_REMOTE_MAX_LIFE));
}

/* @read: encodings that are accepted. */
static gboolean
read_request (const void *data, gsize size, const SlContract *contract, const char *hash,
              guint read, SlRemoteRequest *request, GError **error)
{
  const guint8 *at = data;
  if (!check_head (at, size, REQUEST_HEAD, "SLRQ", "request", error))
    return FALSE;
  if (sl_le64 (at + 8) != hash_number (hash))
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "request: expected one for the contract %s, got one for %016" G_GINT64_MODIFIER
                    "x: the model has changed",
                    hash, sl_le64 (at + 8));
  request->life_ms = sl_le32 (at + 16);
  if (request->life_ms > SL_REMOTE_MAX_LIFE)
    return wrong (error, "request", "expected a life of at most %d ms, got %u ms",
                  SL_REMOTE_MAX_LIFE, request->life_ms);
  const guint encoding = sl_le32 (at + 20);
  if (encoding >= SL_REMOTE_N_ENCODINGS || (read & 1u << encoding) == 0) {
    char list[SL_REMOTE_ENCODINGS_MOST];
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "request: encoding %u is not built in: expected %s", encoding,
                    sl_remote_encodings_list (read, list));
  }
  request->inputs.encoding = (SlRemoteEncoding) encoding;
  return find_tensors (at, size, REQUEST_HEAD, sl_le16 (at + 6), 0, contract->inputs,
                       contract->n_inputs, &request->inputs, "request", error);
}

gboolean
sl_remote_request_read (const void *data, gsize size, const SlContract *contract, const char *hash,
                        SlRemoteRequest *request, GError **error)
{
  return read_request (data, size, contract, hash, sl_remote_encodings_built (), request, error);
}

guint8 *
sl_remote_request_plain (const void *data, gsize size, const SlContract *contract, const char *hash,
                         gsize *plain_size)
{
  SlRemoteRequest request;
  const guint n = contract->n_inputs;
  const gsize head = REQUEST_HEAD + 4 * (gsize) n;
  if (!read_request (data, size, contract, hash, EVERY_ENCODING, &request, NULL))
    return NULL;
  *plain_size = sl_remote_request_size (contract);
  g_autofree guint8 *plain = g_malloc (*plain_size);
  guint8 *at = plain + head;
  memcpy (plain, data, REQUEST_HEAD);
  put32 (plain + 20, SL_REMOTE_ENCODING_NONE);
  for (guint i = 0; i < n; i++) {
    if (!sl_remote_tensor_read (&request.inputs, &contract->inputs[i], i, at, "request", NULL))
      return NULL;
    put32 (plain + REQUEST_HEAD + 4 * i, (guint) contract->inputs[i].bytes);
    at += contract->inputs[i].bytes;
  }
  return g_steal_pointer (&plain);
}

static guint8 *
new_answer (guint8 status, const char *text, guint waited_us, guint computed_us, guint n,
            gsize tensors, gsize *size)
{
  const gsize length = MIN (strlen (text), SL_REMOTE_MAX_TEXT);
  *size = ANSWER_HEAD + 4 * (gsize) n + length + tensors;
  guint8 *data = g_malloc (*size);
  memcpy (data, "SLAN", 4);
  put16 (data + 4, SL_REMOTE_VERSION);
  data[6] = status;
  data[7] = SL_REMOTE_ENCODING_NONE;
  put32 (data + 8, waited_us);
  put32 (data + 12, computed_us);
  put16 (data + 16, n);
  put16 (data + 18, (guint) length);
  memcpy (data + ANSWER_HEAD + 4 * n, text, length);
  return data;
}

guint8 *
sl_remote_answer_new (const SlContract *contract, const char *worker, guint waited_us,
                      guint computed_us, SlRemoteEncoding encoding, const void *const *outputs,
                      gsize *size)
{
  const gsize tensors = sum_of (contract->outputs, contract->n_outputs);
  guint8 *data =
    new_answer (DONE, worker, waited_us, computed_us, contract->n_outputs, tensors, size);
  data[7] = (guint8) encoding;
  *size = (gsize) (put_tensors (data + *size - tensors, data + ANSWER_HEAD, encoding, 0,
                                contract->outputs, contract->n_outputs, outputs)
                   - data);
  return data;
}

guint8 *
sl_remote_refusal_new (const char *sentence, gboolean of_encoding, gsize *size)
{
  return new_answer (of_encoding ? ENCODING_REFUSED : REFUSED, sentence, 0, 0, 0, 0, size);
}

gboolean
sl_remote_answer_read (const void *data, gsize size, const SlContract *contract,
                       SlRemoteEncoding encoding, SlRemoteAnswer *answer, GError **error)
{
  const guint8 *at = data;
  if (!check_head (at, size, ANSWER_HEAD, "SLAN", "answer", error))
    return FALSE;
  const guint status = at[6], n = sl_le16 (at + 16);
  const gsize text = sl_le16 (at + 18);
  if (status > ENCODING_REFUSED || text > SL_REMOTE_MAX_TEXT || n > SL_MAX_IO)
    return wrong (
      error, "answer",
      "expected status 0, 1 or 2 and at most %d bytes of text, got status %u and %" G_GSIZE_FORMAT
      " bytes",
      SL_REMOTE_MAX_TEXT, status, text);
  if (at[7] != SL_REMOTE_ENCODING_NONE && at[7] != encoding)
    return wrong (error, "answer", "expected encoding 0 or the request's, %d, got %u", encoding,
                  at[7]);
  answer->outputs.encoding = (SlRemoteEncoding) at[7];
  const guint expected = status == DONE ? contract->n_outputs : 0;
  if (!find_tensors (at, size, ANSWER_HEAD, n, text, contract->outputs, expected, &answer->outputs,
                     "answer", error))
    return FALSE;
  answer->waited_us = sl_le32 (at + 8);
  answer->computed_us = sl_le32 (at + 12);
  g_autofree char *raw = g_strndup ((const char *) at + ANSWER_HEAD + 4 * n, text);
  g_autofree char *shown = sl_printable (raw, SL_PRINTABLE_MESSAGE);
  g_strlcpy (answer->text, shown, sizeof answer->text);
  answer->worker = status == DONE ? answer->text : NULL;
  answer->refusal = status == DONE ? NULL : answer->text;
  answer->refuses_encoding = status == ENCODING_REFUSED;
  return TRUE;
}

guint8 *
sl_remote_answer_plain (SlRemoteAnswer *answer, const SlContract *contract, GError **error)
{
  SlRemoteTensors plain = { SL_REMOTE_ENCODING_NONE };
  g_autofree guint8 *data = g_malloc (MAX (sum_of (contract->outputs, contract->n_outputs), 1));
  guint8 *at = data;
  for (guint i = 0; i < contract->n_outputs; i++) {
    if (!sl_remote_tensor_read (&answer->outputs, &contract->outputs[i], i, at, "answer", error))
      return NULL;
    plain.data[i] = at;
    plain.sizes[i] = contract->outputs[i].bytes;
    at += contract->outputs[i].bytes;
  }
  answer->outputs = plain;
  return g_steal_pointer (&data);
}
