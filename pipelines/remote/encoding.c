/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pipelines/remote/encoding.h"

#include <string.h>

#include "config.h"
#include "pipelines/remote/jpeg.h"
#include "core/base/fail.h"

#if SL_HAVE_LZ4
#include <lz4.h>
#endif

static const char *const names[SL_REMOTE_N_ENCODINGS] = { "none", "lz4", "jpeg" };

const char *
sl_remote_encoding_name (SlRemoteEncoding encoding)
{
  return names[encoding];
}

guint
sl_remote_encodings_built (void)
{
  return 1u << SL_REMOTE_ENCODING_NONE | (guint) SL_HAVE_LZ4 << SL_REMOTE_ENCODING_LZ4
         | (guint) SL_HAVE_JPEG << SL_REMOTE_ENCODING_JPEG;
}

const char *
sl_remote_encodings_list (guint encodings, char *text)
{
  text[0] = '\0';
  for (guint i = 0; i < SL_REMOTE_N_ENCODINGS; i++)
    if ((encodings & 1u << i) != 0) {
      g_strlcat (text, text[0] != '\0' ? "," : "", SL_REMOTE_ENCODINGS_MOST);
      g_strlcat (text, names[i], SL_REMOTE_ENCODINGS_MOST);
    }
  return text;
}

/* The picture that @tensor is: [1, rows, columns, 1 or 3] or without the 1 before. */
static gboolean
find_picture (const SlTensorInfo *tensor, SlRemotePicture *picture)
{
  const gint32 *dims = tensor->dims;
  guint rank = tensor->rank;
  if (rank == 4 && dims[0] == 1) {
    dims++;
    rank--;
  }
  if (tensor->dtype != SL_DTYPE_U8 || rank != 3 || (dims[2] != 1 && dims[2] != 3)
      || dims[0] > G_MAXUINT16 || dims[1] > G_MAXUINT16)
    return FALSE;
  *picture = (SlRemotePicture){ (guint) dims[1], (guint) dims[0], (guint) dims[2] };
  return TRUE;
}

gboolean
sl_remote_encoding_suits (SlRemoteEncoding encoding, const SlTensorInfo *tensor)
{
  SlRemotePicture picture;
  return encoding != SL_REMOTE_ENCODING_JPEG || find_picture (tensor, &picture);
}

gsize
sl_remote_encode (SlRemoteEncoding encoding, const SlTensorInfo *tensor, gint quality,
                  const void *raw, void *out)
{
  if (tensor->bytes < 2 || tensor->bytes > G_MAXINT32)
    return 0;
#if SL_HAVE_LZ4
  if (encoding == SL_REMOTE_ENCODING_LZ4)
    return (gsize) LZ4_compress_default (raw, out, (int) tensor->bytes, (int) tensor->bytes - 1);
#endif
#if SL_HAVE_JPEG
  SlRemotePicture picture;
  if (encoding == SL_REMOTE_ENCODING_JPEG && find_picture (tensor, &picture))
    return sl_remote_jpeg_write (&picture, quality, raw, out, tensor->bytes - 1);
#endif
  return 0;
}

/* (nullable) (transfer full): what is wrong. */
static char *
decode (SlRemoteEncoding encoding, const SlTensorInfo *tensor, const void *data, gsize size,
        void *out)
{
#if SL_HAVE_LZ4
  if (encoding == SL_REMOTE_ENCODING_LZ4) {
    const int got =
      LZ4_decompress_safe (data, out, (int) size, (int) MIN (tensor->bytes, G_MAXINT32));
    if (got >= 0 && (gsize) got == tensor->bytes)
      return NULL;
    return g_strdup_printf ("expected an LZ4 block of %" G_GSIZE_FORMAT
                            " bytes, got %" G_GSIZE_FORMAT " bytes that are none",
                            tensor->bytes, size);
  }
#endif
#if SL_HAVE_JPEG
  SlRemotePicture picture;
  if (encoding == SL_REMOTE_ENCODING_JPEG && find_picture (tensor, &picture))
    return sl_remote_jpeg_read (&picture, data, size, out);
#endif
  return g_strdup_printf ("expected %" G_GSIZE_FORMAT " bytes, got %" G_GSIZE_FORMAT
                          " in encoding %s",
                          tensor->bytes, size, sl_remote_encoding_name (encoding));
}

gboolean
sl_remote_decode (SlRemoteEncoding encoding, const SlTensorInfo *tensor, const void *data,
                  gsize size, void *out, const char *what, GError **error)
{
  if (size == tensor->bytes) {
    memcpy (out, data, size);
    return TRUE;
  }
  g_autofree char *wrong = decode (encoding, tensor, data, size, out);
  if (wrong != NULL)
    sl_fail (error, SL_ERROR_FORMAT, "%s: %s", what, wrong);
  return wrong == NULL;
}
