/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encodings that compress the tensors of a request or an answer. A tensor that does not become
 * smaller is written without encoding, so a message never becomes larger. A tensor that has as many
 * bytes as in the contract is not encoded, and is only copied.
 */
#pragma once

#include "models/contract.h"

/** SlRemoteEncoding: the number in messages. */
typedef enum
{
  SL_REMOTE_ENCODING_NONE,
  SL_REMOTE_ENCODING_LZ4, /* lossless: one LZ4 block a tensor */
  SL_REMOTE_ENCODING_JPEG /* lossy: a tensor of bytes that is a picture, as a baseline JPEG */
} SlRemoteEncoding;

#define SL_REMOTE_N_ENCODINGS 3
/** SL_REMOTE_ENCODINGS_MOST: bytes of a list of names at most, with the zero. */
#define SL_REMOTE_ENCODINGS_MOST 32

/** sl_remote_encoding_name: "none", "lz4" or "jpeg". */
const char *sl_remote_encoding_name (SlRemoteEncoding encoding);
/** sl_remote_encodings_built: a bit (1 << SlRemoteEncoding) for each that this build writes and
 * reads; "none" always. */
guint sl_remote_encodings_built (void);
/** sl_remote_encodings_list: the names of @encodings with commas between, into @text of
 * SL_REMOTE_ENCODINGS_MOST bytes. Returns @text. */
const char *sl_remote_encodings_list (guint encodings, char *text);
/** sl_remote_encoding_suits: whether @encoding says anything of @tensor: JPEG is for pictures of
 * bytes, rows x columns x 1 or 3. */
gboolean sl_remote_encoding_suits (SlRemoteEncoding encoding, const SlTensorInfo *tensor);

/** sl_remote_encode: encodes @raw, the bytes of @tensor, into @out, which has room for as many
 * bytes. @quality: 1..100, of JPEG. Returns the number of bytes written, less than the size of
 * @tensor. 0: the data does not become smaller, or @encoding does not suit @tensor; then the
 * contents of @out are undefined. */
gsize sl_remote_encode (SlRemoteEncoding encoding, const SlTensorInfo *tensor, gint quality,
                        const void *raw, void *out);
/** sl_remote_decode: decodes @size untrusted bytes at @data into @out, which has room for the bytes
 * of @tensor and is filled completely. FALSE with @error set, SL_ERROR_FORMAT, whose message names
 * @what. When @size is the size of @tensor, the bytes are copied. */
gboolean sl_remote_decode (SlRemoteEncoding encoding, const SlTensorInfo *tensor, const void *data,
                           gsize size, void *out, const char *what, GError **error);
