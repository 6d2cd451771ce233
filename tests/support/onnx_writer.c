/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See onnx_writer.h. Field numbers are those of onnx.proto. */
#include "tests/support/onnx_writer.h"

#include <string.h>

#define WIRE_VARINT 0
#define WIRE_BYTES 2
#define WIRE_FIXED32 5

static void
put_varint (GByteArray *message, guint64 value)
{
  guint8 byte;
  do {
    byte = (guint8) (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
    g_byte_array_append (message, &byte, 1);
    value >>= 7;
  } while (value > 0);
}

void
sl_onnx_varint (GByteArray *message, guint number, guint64 value)
{
  put_varint (message, number << 3 | WIRE_VARINT);
  put_varint (message, value);
}

void
sl_onnx_bytes (GByteArray *message, guint number, const void *data, gsize size)
{
  put_varint (message, number << 3 | WIRE_BYTES);
  put_varint (message, size);
  if (size > 0)
    g_byte_array_append (message, data, (guint) size);
}

void
sl_onnx_text (GByteArray *message, guint number, const char *text)
{
  sl_onnx_bytes (message, number, text, strlen (text));
}

void
sl_onnx_message (GByteArray *message, guint number, GByteArray *inner)
{
  sl_onnx_bytes (message, number, inner->data, inner->len);
  g_byte_array_unref (inner);
}

static void
put_float (GByteArray *message, guint number, gfloat value)
{
  guint32 bits;
  memcpy (&bits, &value, sizeof bits);
  bits = GUINT32_TO_LE (bits);
  put_varint (message, number << 3 | WIRE_FIXED32);
  g_byte_array_append (message, (const guint8 *) &bits, sizeof bits);
}

GByteArray *
sl_onnx_tensor (const char *name, guint type, guint rank, const gint64 *dims, const void *data,
                gsize bytes)
{
  GByteArray *tensor = g_byte_array_new ();
  for (guint i = 0; i < rank; i++)
    sl_onnx_varint (tensor, 1, (guint64) dims[i]);
  sl_onnx_varint (tensor, 2, type);
  sl_onnx_text (tensor, 8, name);
  if (data != NULL)
    sl_onnx_bytes (tensor, 9, data, bytes);
  return tensor;
}

GByteArray *
sl_onnx_external_tensor (const char *name, guint type, guint rank, const gint64 *dims,
                         const char *location, const char *offset, const char *length)
{
  const char *const entries[][2] = { { "location", location },
                                     { "offset", offset },
                                     { "length", length } };
  GByteArray *tensor = sl_onnx_tensor (name, type, rank, dims, NULL, 0);
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++) {
    if (entries[i][1] == NULL)
      continue;
    GByteArray *entry = g_byte_array_new ();
    sl_onnx_text (entry, 1, entries[i][0]);
    sl_onnx_text (entry, 2, entries[i][1]);
    sl_onnx_message (tensor, 13, entry);
  }
  sl_onnx_varint (tensor, 14, 1);
  return tensor;
}

GByteArray *
sl_onnx_edge (const char *name, guint type, guint rank, const gint64 *dims)
{
  GByteArray *edge = g_byte_array_new (), *value = g_byte_array_new (),
             *tensor = g_byte_array_new (), *shape = g_byte_array_new ();
  for (guint i = 0; i < rank; i++) {
    GByteArray *dim = g_byte_array_new ();
    if (dims[i] > 0)
      sl_onnx_varint (dim, 1, (guint64) dims[i]);
    else
      sl_onnx_text (dim, 2, "d");
    sl_onnx_message (shape, 1, dim);
  }
  sl_onnx_varint (tensor, 1, type);
  if (rank > 0)
    sl_onnx_message (tensor, 2, shape);
  else
    g_byte_array_unref (shape);
  sl_onnx_message (value, 1, tensor);
  sl_onnx_text (edge, 1, name);
  sl_onnx_message (edge, 2, value);
  return edge;
}

static void
put_attribute (GByteArray *node, const char *text)
{
  static const char kinds[] = "-fistgFI"; /* by AttributeType */
  GByteArray *attribute = g_byte_array_new ();
  g_auto (GStrv) words = g_strsplit (text, " ", 3);
  g_assert_cmpuint (g_strv_length (words), ==, 3);
  g_auto (GStrv) list = g_strsplit (words[2], ",", -1);
  sl_onnx_text (attribute, 1, words[0]);
  sl_onnx_varint (attribute, 20, (guint64) (strchr (kinds, words[1][0]) - kinds));
  switch (words[1][0]) {
    case 'i':
      sl_onnx_varint (attribute, 3, (guint64) g_ascii_strtoll (words[2], NULL, 10));
      break;
    case 'f':
      put_float (attribute, 2, (gfloat) g_ascii_strtod (words[2], NULL));
      break;
    case 's':
      sl_onnx_text (attribute, 4, words[2]);
      break;
    default:
      for (guint i = 0; list[i] != NULL; i++)
        if (words[1][0] == 'I')
          sl_onnx_varint (attribute, 8, (guint64) g_ascii_strtoll (list[i], NULL, 10));
        else
          put_float (attribute, 7, (gfloat) g_ascii_strtod (list[i], NULL));
      break;
  }
  sl_onnx_message (node, 5, attribute);
}

static GByteArray *
make_node (const char *op, const char *inputs, const char *outputs, va_list attributes)
{
  GByteArray *node = g_byte_array_new ();
  g_auto (GStrv) from = g_strsplit (inputs, ",", -1), to = g_strsplit (outputs, ",", -1);
  for (guint i = 0; from[i] != NULL; i++)
    sl_onnx_text (node, 1, from[i]);
  for (guint i = 0; to[i] != NULL; i++)
    sl_onnx_text (node, 2, to[i]);
  const char *dot = strrchr (op, '.');
  g_autofree char *domain = dot != NULL ? g_strndup (op, (gsize) (dot - op)) : NULL;
  sl_onnx_text (node, 4, dot != NULL ? dot + 1 : op);
  if (domain != NULL)
    sl_onnx_text (node, 7, domain);
  for (const char *text; (text = va_arg (attributes, const char *)) != NULL;)
    put_attribute (node, text);
  return node;
}

GByteArray *
sl_onnx_node (const char *op, const char *inputs, const char *outputs, ...)
{
  va_list attributes;
  va_start (attributes, outputs);
  GByteArray *node = make_node (op, inputs, outputs, attributes);
  va_end (attributes);
  return node;
}

void
sl_onnx_node_graph (GByteArray *node, const char *name, GByteArray *graph)
{
  GByteArray *attribute = g_byte_array_new ();
  sl_onnx_text (attribute, 1, name);
  sl_onnx_varint (attribute, 20, 5);
  sl_onnx_message (attribute, 6, graph);
  sl_onnx_message (node, 5, attribute);
}

SlOnnxWriter *
sl_onnx_writer_new (guint opset)
{
  SlOnnxWriter *writer = g_new0 (SlOnnxWriter, 1);
  writer->opset = opset;
  writer->graph = g_byte_array_new ();
  writer->more = g_byte_array_new ();
  return writer;
}

void
sl_onnx_writer_free (SlOnnxWriter *writer)
{
  g_byte_array_unref (writer->graph);
  g_byte_array_unref (writer->more);
  g_free (writer);
}

void
sl_onnx_writer_input (SlOnnxWriter *writer, const char *name, guint type, guint rank,
                      const gint64 *dims)
{
  sl_onnx_message (writer->graph, 11, sl_onnx_edge (name, type, rank, dims));
}

void
sl_onnx_writer_output (SlOnnxWriter *writer, const char *name, guint type)
{
  sl_onnx_message (writer->graph, 12, sl_onnx_edge (name, type, 0, NULL));
}

void
sl_onnx_writer_picture_output (SlOnnxWriter *writer, const char *name, guint type)
{
  GByteArray *edge = g_byte_array_new (), *of = g_byte_array_new (), *tensor = g_byte_array_new ();
  sl_onnx_varint (tensor, 1, type);
  sl_onnx_message (of, 1, tensor);
  sl_onnx_text (of, 6, "IMAGE");
  sl_onnx_text (edge, 1, name);
  sl_onnx_message (edge, 2, of);
  sl_onnx_message (writer->graph, 12, edge);
}

void
sl_onnx_writer_floats (SlOnnxWriter *writer, const char *name, guint rank, const gint64 *dims,
                       const gfloat *data)
{
  gsize elements = 1;
  for (guint i = 0; i < rank; i++)
    elements *= (gsize) dims[i];
  sl_onnx_message (
    writer->graph, 5,
    sl_onnx_tensor (name, SL_ONNX_FLOAT, rank, dims, data, elements * sizeof data[0]));
}

void
sl_onnx_writer_ints (SlOnnxWriter *writer, const char *name, guint n, const gint64 *values)
{
  sl_onnx_message (
    writer->graph, 5,
    sl_onnx_tensor (name, SL_ONNX_INT64, 1, (gint64[]){ n }, values, n * sizeof values[0]));
}

void
sl_onnx_writer_node (SlOnnxWriter *writer, const char *op, const char *inputs, const char *outputs,
                     ...)
{
  va_list attributes;
  va_start (attributes, outputs);
  sl_onnx_message (writer->graph, 1, make_node (op, inputs, outputs, attributes));
  va_end (attributes);
}

void
sl_onnx_writer_property (SlOnnxWriter *writer, const char *key, const char *value)
{
  GByteArray *entry = g_byte_array_new ();
  sl_onnx_text (entry, 1, key);
  sl_onnx_text (entry, 2, value);
  sl_onnx_message (writer->more, 14, entry);
}

GBytes *
sl_onnx_writer_finish (const SlOnnxWriter *writer)
{
  GByteArray *model = g_byte_array_new (), *opset = g_byte_array_new ();
  sl_onnx_varint (model, 1, 8);
  sl_onnx_text (model, 2, "tests");
  sl_onnx_varint (opset, 2, writer->opset);
  sl_onnx_message (model, 8, opset);
  sl_onnx_bytes (model, 7, writer->graph->data, writer->graph->len);
  if (writer->more->len > 0)
    g_byte_array_append (model, writer->more->data, writer->more->len);
  return g_byte_array_free_to_bytes (model);
}
