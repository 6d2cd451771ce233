/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The header is a literal of Python, a dictionary with three keys, behind magic, version and its
 * length.
 */
#include "models/npy.h"

#include <string.h>

#include "core/base/fail.h"

#define MAGIC "\x93NUMPY"
#define SHORTEST 10
#define LONGEST_HEADER ((gsize) 65536)

static const struct
{
  const char *descr;
  SlDtype dtype;
} types[] = {
  { "<f4", SL_DTYPE_F32 }, { "<f2", SL_DTYPE_F16 }, { "<f8", SL_DTYPE_F64 },
  { "|i1", SL_DTYPE_I8 },  { "|u1", SL_DTYPE_U8 },  { "<i2", SL_DTYPE_I16 },
  { "<u2", SL_DTYPE_U16 }, { "<i4", SL_DTYPE_I32 }, { "<u4", SL_DTYPE_U32 },
  { "<i8", SL_DTYPE_I64 }, { "<u8", SL_DTYPE_U64 }, { "|b1", SL_DTYPE_BOOL },
};

static gboolean
refuse (const char *why, GError **error)
{
  return sl_fail (error, SL_ERROR_FORMAT, "%s; expected an array that numpy.save() writes", why);
}

/* (transfer full) (nullable): the header's text; *@offset: what comes behind. */
static char *
read_header (const guint8 *data, gsize size, gsize *offset)
{
  if (size < SHORTEST || memcmp (data, MAGIC, 6) != 0 || data[6] < 1 || data[6] > 3)
    return NULL;
  const gsize start = data[6] == 1 ? 10 : 12;
  if (size < start)
    return NULL;
  gsize length = data[8] | (gsize) data[9] << 8;
  if (data[6] > 1)
    length |= (gsize) data[10] << 16 | (gsize) data[11] << 24;
  if (length > LONGEST_HEADER || size - start < length)
    return NULL;
  *offset = start + length;
  return g_strndup ((const char *) data + start, length);
}

/* What stands behind @key, blanks left out; NULL = it is not there. */
static const char *
find_value (const char *header, const char *key)
{
  g_autofree char *quoted = g_strdup_printf ("'%s'", key);
  const char *at = strstr (header, quoted);
  at = at != NULL ? at + strlen (quoted) : NULL;
  while (at != NULL && (*at == ' ' || *at == ':'))
    at++;
  return at;
}

static gboolean
read_type (const char *header, SlTensorInfo *info)
{
  const char *value = find_value (header, "descr");
  for (guint i = 0; i < G_N_ELEMENTS (types) && value != NULL; i++)
    if ((value[0] == '\'' || value[0] == '"') && strncmp (value + 1, types[i].descr, 3) == 0
        && value[4] == value[0])
      info->dtype = types[i].dtype;
  return info->dtype != SL_DTYPE_INVALID;
}

/* "(1, 1, 100)", "(100,)" or "()", a single number, which has one dimension here. */
static gboolean
read_shape (const char *header, SlTensorInfo *info)
{
  const char *at = find_value (header, "shape");
  if (at == NULL || *at++ != '(')
    return FALSE;
  while (*at != ')') {
    char *end = NULL;
    const guint64 size = g_ascii_isdigit (*at) ? g_ascii_strtoull (at, &end, 10) : 0;
    if (size < 1 || size > G_MAXINT32 || info->rank == SL_MAX_RANK || (*end != ',' && *end != ')'))
      return FALSE;
    info->dims[info->rank++] = (gint32) size;
    at = end + (*end == ',' ? 1 : 0);
    while (*at == ' ')
      at++;
  }
  if (info->rank == 0)
    info->dims[info->rank++] = 1;
  return TRUE;
}

gboolean
sl_npy_parse (GBytes *bytes, SlTensorInfo *info, gsize *offset, GError **error)
{
  gsize size = 0;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  g_autofree char *header = data != NULL ? read_header (data, size, offset) : NULL;
  *info = (SlTensorInfo){ 0 };
  if (header == NULL)
    return refuse ("no file of NumPy", error);
  if (!read_type (header, info))
    return refuse ("numbers of a type that is not read (float, int or bool, little-endian)", error);
  const char *order = find_value (header, "fortran_order");
  if (order == NULL || !g_str_has_prefix (order, "False"))
    return refuse ("the first dimension changes fastest (fortran_order)", error);
  if (!read_shape (header, info))
    return refuse ("a shape that is not read: 1 to 8 dimensions of at least 1", error);
  info->bytes = sl_dtype_size (info->dtype);
  for (guint i = 0; i < info->rank; i++)
    if (!g_size_checked_mul (&info->bytes, info->bytes, (gsize) info->dims[i]))
      return refuse ("more numbers than there can be", error);
  if (info->bytes != size - *offset) {
    g_autofree char *text = sl_tensor_info_describe (info);
    return sl_fail (error, SL_ERROR_FORMAT,
                    "expected %" G_GSIZE_FORMAT " bytes for %s, got %" G_GSIZE_FORMAT, info->bytes,
                    text, size - *offset);
  }
  return TRUE;
}
