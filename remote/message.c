/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Request: "SLRQ", u16 version, u16 tensors, u64 hash, u32 life in ms, u32 0, u32 size of each tensor, tensors.
 * Answer:  "SLAN", u16 version, u16 status (0 done, 1 refused), u32 us waited, u32 us computed, u16 tensors, u16 bytes of text, u32 size of each
 * tensor, text (the worker's name, or why it refused), tensors.
 */
#include "remote/message.h"

#include <string.h>

#include "base/little_endian.h"
#include "base/show.h"
#include "sightline/error.h"

#define REQUEST_HEAD 24
#define ANSWER_HEAD 20
#define DONE 0
#define REFUSED 1

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

static void
put_sizes (guint8 *at, const SlTensorInfo *tensors, guint n)
{
  for (guint i = 0; i < n; i++)
    put32 (at + 4 * i, (guint) tensors[i].bytes);
}

static gboolean wrong (GError **error, const char *what, const char *format, ...) G_GNUC_PRINTF (3, 4);

static gboolean
wrong (GError **error, const char *what, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, SL_ERROR, SL_ERROR_FORMAT, "%s: %s", what, text);
  return FALSE;
}

/* Magic and version of a message whose head is there. */
static gboolean
check_head (const guint8 *data, gsize size, gsize head, const char *magic, const char *what, GError **error)
{
  if (size < head || memcmp (data, magic, 4) != 0)
    return wrong (error, what, "expected %s and a head of %" G_GSIZE_FORMAT " bytes, got %" G_GSIZE_FORMAT " bytes%s", magic, head, size,
                  size < head ? "" : " of something else");
  if (sl_le16 (data + 4) != SL_REMOTE_VERSION)
    return wrong (error, what, "expected version %d, got %u: install the same version of Sightline on both sides", SL_REMOTE_VERSION,
                  sl_le16 (data + 4));
  return TRUE;
}

/* The tensors of @data behind @head bytes, their sizes, and @text bytes: exactly those of @tensors. */
static gboolean
find_tensors (const guint8 *data, gsize size, gsize head, guint got, gsize text, const SlTensorInfo *tensors, guint n, const void **found,
              const char *what, GError **error)
{
  const gsize sizes = head + 4 * (gsize) n;
  if (got != n)
    return wrong (error, what, "expected %u tensors, got %u", n, got);
  const gsize expected = sizes + text + sum_of (tensors, n);
  if (size != expected)
    return wrong (error, what, "expected %" G_GSIZE_FORMAT " bytes, got %" G_GSIZE_FORMAT, expected, size);
  const guint8 *at = data + sizes + text;
  for (guint i = 0; i < n; i++) {
    if (sl_le32 (data + head + 4 * i) != tensors[i].bytes)
      return wrong (error, what, "tensor %u: expected %" G_GSIZE_FORMAT " bytes, got %u", i, tensors[i].bytes,
                    sl_le32 (data + head + 4 * i));
    found[i] = at;
    at += tensors[i].bytes;
  }
  return TRUE;
}

gsize
sl_remote_request_size (const SlContract *contract)
{
  return REQUEST_HEAD + 4 * (gsize) contract->n_inputs + sum_of (contract->inputs, contract->n_inputs);
}

static guint64
hash_number (const char *hash)
{
  return g_ascii_strtoull (hash, NULL, 16);
}

void
sl_remote_request_write (void *data, const SlContract *contract, const char *hash, guint life_ms, const void *const *inputs)
{
  guint8 *at = data;
  const guint64 number = GUINT64_TO_LE (hash_number (hash));
  memcpy (at, "SLRQ", 4);
  put16 (at + 4, SL_REMOTE_VERSION);
  put16 (at + 6, contract->n_inputs);
  memcpy (at + 8, &number, sizeof number);
  sl_remote_request_renew (data, life_ms);
  put32 (at + 20, 0);
  put_sizes (at + REQUEST_HEAD, contract->inputs, contract->n_inputs);
  at += REQUEST_HEAD + 4 * contract->n_inputs;
  for (guint i = 0; i < contract->n_inputs; i++) {
    memcpy (at, inputs[i], contract->inputs[i].bytes);
    at += contract->inputs[i].bytes;
  }
}

void
sl_remote_request_renew (void *data, guint life_ms)
{
  put32 ((guint8 *) data + 16, MIN (life_ms, SL_REMOTE_MAX_LIFE));
}

gboolean
sl_remote_request_read (const void *data, gsize size, const SlContract *contract, const char *hash, SlRemoteRequest *request,
                        GError **error)
{
  const guint8 *at = data;
  if (!check_head (at, size, REQUEST_HEAD, "SLRQ", "request", error))
    return FALSE;
  if (sl_le64 (at + 8) != hash_number (hash)) {
    g_set_error (error, SL_ERROR, SL_ERROR_CONTRACT,
                 "request: expected one for the contract %s, got one for %016" G_GINT64_MODIFIER "x: the model has changed", hash,
                 sl_le64 (at + 8));
    return FALSE;
  }
  request->life_ms = sl_le32 (at + 16);
  if (request->life_ms > SL_REMOTE_MAX_LIFE || sl_le32 (at + 20) != 0)
    return wrong (error, "request", "expected a life of at most %d ms and encoding 0, got %u ms and encoding %u", SL_REMOTE_MAX_LIFE,
                  request->life_ms, sl_le32 (at + 20));
  return find_tensors (at, size, REQUEST_HEAD, sl_le16 (at + 6), 0, contract->inputs, contract->n_inputs, request->inputs, "request",
                       error);
}

static guint8 *
new_answer (guint status, const char *text, guint waited_us, guint computed_us, guint n, gsize tensors, gsize *size)
{
  const gsize length = MIN (strlen (text), SL_REMOTE_MAX_TEXT);
  *size = ANSWER_HEAD + 4 * (gsize) n + length + tensors;
  guint8 *data = g_malloc (*size);
  memcpy (data, "SLAN", 4);
  put16 (data + 4, SL_REMOTE_VERSION);
  put16 (data + 6, status);
  put32 (data + 8, waited_us);
  put32 (data + 12, computed_us);
  put16 (data + 16, n);
  put16 (data + 18, (guint) length);
  memcpy (data + ANSWER_HEAD + 4 * n, text, length);
  return data;
}

guint8 *
sl_remote_answer_new (const SlContract *contract, const char *worker, guint waited_us, guint computed_us, void **outputs, gsize *size)
{
  const gsize tensors = sum_of (contract->outputs, contract->n_outputs);
  guint8 *data = new_answer (DONE, worker, waited_us, computed_us, contract->n_outputs, tensors, size);
  put_sizes (data + ANSWER_HEAD, contract->outputs, contract->n_outputs);
  guint8 *at = data + *size - tensors;
  for (guint i = 0; i < contract->n_outputs; i++) {
    outputs[i] = at;
    at += contract->outputs[i].bytes;
  }
  return data;
}

guint8 *
sl_remote_refusal_new (const char *sentence, gsize *size)
{
  return new_answer (REFUSED, sentence, 0, 0, 0, 0, size);
}

gboolean
sl_remote_answer_read (const void *data, gsize size, const SlContract *contract, SlRemoteAnswer *answer, GError **error)
{
  const guint8 *at = data;
  if (!check_head (at, size, ANSWER_HEAD, "SLAN", "answer", error))
    return FALSE;
  const guint status = sl_le16 (at + 6), n = sl_le16 (at + 16);
  const gsize text = sl_le16 (at + 18);
  if (status > REFUSED || text > SL_REMOTE_MAX_TEXT || n > SL_MAX_IO)
    return wrong (error, "answer", "expected status 0 or 1 and at most %d bytes of text, got status %u and %" G_GSIZE_FORMAT " bytes",
                  SL_REMOTE_MAX_TEXT, status, text);
  const guint expected = status == DONE ? contract->n_outputs : 0;
  if (!find_tensors (at, size, ANSWER_HEAD, n, text, contract->outputs, expected, answer->outputs, "answer", error))
    return FALSE;
  answer->waited_us = sl_le32 (at + 8);
  answer->computed_us = sl_le32 (at + 12);
  g_autofree char *raw = g_strndup ((const char *) at + ANSWER_HEAD + 4 * n, text);
  g_autofree char *shown = sl_show (raw, SL_SHOW_MESSAGE);
  g_strlcpy (answer->text, shown, sizeof answer->text);
  answer->worker = status == DONE ? answer->text : NULL;
  answer->refusal = status == DONE ? NULL : answer->text;
  return TRUE;
}
