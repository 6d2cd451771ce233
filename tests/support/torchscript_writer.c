/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/torchscript_writer.h"

#include <string.h>

#include "models/zip_writer.h"

#define ROOT "model/"

struct _SlTorchscriptWriter
{
  GArray *members; /* of ZipMember */
};

SlTorchscriptWriter *
sl_torchscript_writer_new (void)
{
  SlTorchscriptWriter *writer = g_new0 (SlTorchscriptWriter, 1);
  writer->members = g_array_new (FALSE, FALSE, sizeof (ZipMember));
  return writer;
}

static void
add (SlTorchscriptWriter *writer, const char *name, const void *data, gsize length,
     gboolean deflate)
{
  const ZipMember member = { g_strconcat (ROOT, name, NULL), g_bytes_new (data, length), deflate,
                             !deflate };
  g_array_append_val (writer->members, member);
}

void
sl_torchscript_writer_add (SlTorchscriptWriter *writer, const char *name, const void *data,
                           gsize length)
{
  add (writer, name, data, length, FALSE);
}

void
sl_torchscript_writer_text (SlTorchscriptWriter *writer, const char *name, const char *text)
{
  add (writer, name, text, strlen (text), TRUE);
}

static gboolean
has (const SlTorchscriptWriter *writer, const char *name)
{
  for (guint i = 0; i < writer->members->len; i++)
    if (strcmp (g_array_index (writer->members, ZipMember, i).name + strlen (ROOT), name) == 0)
      return TRUE;
  return FALSE;
}

GBytes *
sl_torchscript_writer_finish (SlTorchscriptWriter *writer)
{
  GByteArray *out = g_byte_array_new ();
  if (!has (writer, "data.pkl")) {
    GByteArray *module = sl_pickle_new ();
    sl_pickle_global (module, "__torch__", "Net");
    sl_pickle_raw (module, ")\x81}b", 4);
    sl_pickle_finish (module, writer, "data.pkl");
  }
  if (!has (writer, "constants.pkl"))
    sl_torchscript_writer_add (writer, "constants.pkl", "\x80\x02).", 4);
  if (!has (writer, "code/__torch__.py"))
    sl_torchscript_writer_text (writer, "code/__torch__.py", "");
  zip_append (out, (const ZipMember *) (gpointer) writer->members->data, writer->members->len);
  for (guint i = 0; i < writer->members->len; i++) {
    g_free (g_array_index (writer->members, ZipMember, i).name);
    g_bytes_unref (g_array_index (writer->members, ZipMember, i).data);
  }
  g_array_unref (writer->members);
  g_free (writer);
  return g_byte_array_free_to_bytes (out);
}

GByteArray *
sl_pickle_new (void)
{
  GByteArray *pickle = g_byte_array_new ();
  sl_pickle_raw (pickle, "\x80\x02", 2);
  return pickle;
}

void
sl_pickle_raw (GByteArray *pickle, const char *bytes, gsize length)
{
  g_byte_array_append (pickle, (const guint8 *) bytes, (guint) length);
}

void
sl_pickle_text (GByteArray *pickle, const char *text)
{
  const guint32 length = GUINT32_TO_LE ((guint32) strlen (text));
  sl_pickle_raw (pickle, "X", 1);
  sl_pickle_raw (pickle, (const char *) &length, sizeof length);
  sl_pickle_raw (pickle, text, strlen (text));
}

void
sl_pickle_int (GByteArray *pickle, gint64 value)
{
  const gint32 small = (gint32) GINT32_TO_LE ((gint32) value);
  const gint64 large = GINT64_TO_LE (value);
  if (value >= 0 && value < 256) {
    sl_pickle_raw (pickle, "K", 1);
    sl_pickle_raw (pickle, (const char[]){ (char) value }, 1);
  } else if (value >= G_MININT32 && value <= G_MAXINT32) {
    sl_pickle_raw (pickle, "J", 1);
    sl_pickle_raw (pickle, (const char *) &small, sizeof small);
  } else {
    sl_pickle_raw (pickle, "\x8a\x08", 2);
    sl_pickle_raw (pickle, (const char *) &large, sizeof large);
  }
}

void
sl_pickle_float (GByteArray *pickle, gdouble value)
{
  guint64 bits;
  memcpy (&bits, &value, sizeof bits);
  bits = GUINT64_TO_BE (bits);
  sl_pickle_raw (pickle, "G", 1);
  sl_pickle_raw (pickle, (const char *) &bits, sizeof bits);
}

void
sl_pickle_global (GByteArray *pickle, const char *module, const char *name)
{
  g_autofree char *text = g_strdup_printf ("c%s\n%s\n", module, name);
  sl_pickle_raw (pickle, text, strlen (text));
}

void
sl_pickle_tensor (GByteArray *pickle, const char *type, const char *key, gint64 elements,
                  const gint64 *dims, const gint64 *strides, guint rank)
{
  sl_pickle_tensor_at (pickle, type, key, elements, 0, dims, strides, rank);
}

void
sl_pickle_tensor_at (GByteArray *pickle, const char *type, const char *key, gint64 elements,
                     gint64 offset, const gint64 *dims, const gint64 *strides, guint rank)
{
  gint64 stride = 1, packed[16];
  for (guint i = rank; i-- > 0; stride *= dims[i])
    packed[i] = stride;
  sl_pickle_global (pickle, "torch._utils", "_rebuild_tensor_v2");
  sl_pickle_raw (pickle, "((", 2);
  sl_pickle_text (pickle, "storage");
  sl_pickle_global (pickle, "torch", type);
  sl_pickle_text (pickle, key);
  sl_pickle_text (pickle, "cpu");
  sl_pickle_int (pickle, elements);
  sl_pickle_raw (pickle, "tQ", 2);
  sl_pickle_int (pickle, offset);
  sl_pickle_raw (pickle, "(", 1);
  for (guint i = 0; i < rank; i++)
    sl_pickle_int (pickle, dims[i]);
  sl_pickle_raw (pickle, "t(", 2);
  for (guint i = 0; i < rank; i++)
    sl_pickle_int (pickle, strides != NULL ? strides[i] : packed[i]);
  sl_pickle_raw (pickle, "t\x89", 2);
  sl_pickle_global (pickle, "collections", "OrderedDict");
  sl_pickle_raw (pickle, ")RtR", 4);
}

void
sl_pickle_finish (GByteArray *pickle, SlTorchscriptWriter *writer, const char *name)
{
  sl_pickle_raw (pickle, ".", 1);
  sl_torchscript_writer_add (writer, name, pickle->data, pickle->len);
  g_byte_array_unref (pickle);
}
