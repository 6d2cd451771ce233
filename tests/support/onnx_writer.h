/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes ONNX models in memory, for tests: right ones, and the broken ones that readers must
 * refuse. A message is a GByteArray of fields; a model is a graph's message with what stands around
 * it. Nothing here is shared with the reader under test.
 *
 *   g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
 *   sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, 8, 8 });
 *   sl_onnx_writer_node (w, "LeakyRelu", "x", "y", "alpha f 0.1", NULL);
 *   sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
 */
#ifndef SL_TESTS_ONNX_WRITER_H
#define SL_TESTS_ONNX_WRITER_H

#include <glib.h>

/** Numbers of ONNX's element types. */
#define SL_ONNX_FLOAT 1
#define SL_ONNX_INT32 6
#define SL_ONNX_INT64 7
#define SL_ONNX_BOOL 9
#define SL_ONNX_FLOAT16 10

/** Messages: a field is appended. sl_onnx_message() takes @inner. */
void sl_onnx_varint (GByteArray *message, guint number, guint64 value);
void sl_onnx_bytes (GByteArray *message, guint number, const void *data, gsize size);
void sl_onnx_text (GByteArray *message, guint number, const char *text);
void sl_onnx_message (GByteArray *message, guint number, GByteArray *inner);

/** sl_onnx_tensor: (transfer full): a TensorProto; @data (nullable): its raw bytes. */
GByteArray *sl_onnx_tensor (const char *name, guint type, guint rank, const gint64 *dims,
                            const void *data, gsize bytes);
/** sl_onnx_external_tensor: (transfer full): likewise one whose bytes are said to lie in the file
 * @location; @offset, @length: (nullable). */
GByteArray *sl_onnx_external_tensor (const char *name, guint type, guint rank, const gint64 *dims,
                                     const char *location, const char *offset, const char *length);
/** sl_onnx_edge: (transfer full): a ValueInfoProto; a dimension below 1 is called "d". */
GByteArray *sl_onnx_edge (const char *name, guint type, guint rank, const gint64 *dims);
/**
 * sl_onnx_node: (transfer full): a NodeProto.
 * @op: of another domain than ONNX's own with that before it, "com.microsoft.QGemm"
 * @inputs, @outputs: names with ',' between
 * @...: attributes "NAME KIND VALUE", NULL ends them: i a whole number, f a float, s a string, I
 * and F lists with ',' between
 */
GByteArray *sl_onnx_node (const char *op, const char *inputs, const char *outputs,
                          ...) G_GNUC_NULL_TERMINATED;
/** sl_onnx_node_graph: adds an attribute that is a graph, which is taken. */
void sl_onnx_node_graph (GByteArray *node, const char *name, GByteArray *graph);

typedef struct
{
  guint opset;
  GByteArray *graph, *more; /* @more: fields of the model beside it */
} SlOnnxWriter;

SlOnnxWriter *sl_onnx_writer_new (guint opset);
void sl_onnx_writer_free (SlOnnxWriter *writer);
void sl_onnx_writer_input (SlOnnxWriter *writer, const char *name, guint type, guint rank,
                           const gint64 *dims);
void sl_onnx_writer_output (SlOnnxWriter *writer, const char *name, guint type);
/** sl_onnx_writer_picture_output: one with the denotation IMAGE. */
void sl_onnx_writer_picture_output (SlOnnxWriter *writer, const char *name, guint type);
void sl_onnx_writer_floats (SlOnnxWriter *writer, const char *name, guint rank, const gint64 *dims,
                            const gfloat *data);
void sl_onnx_writer_ints (SlOnnxWriter *writer, const char *name, guint n, const gint64 *values);
void sl_onnx_writer_node (SlOnnxWriter *writer, const char *op, const char *inputs,
                          const char *outputs, ...) G_GNUC_NULL_TERMINATED;
/** sl_onnx_writer_property: an entry of metadata_props. */
void sl_onnx_writer_property (SlOnnxWriter *writer, const char *key, const char *value);
/** sl_onnx_writer_finish: (transfer full): the model as it is by now. */
GBytes *sl_onnx_writer_finish (const SlOnnxWriter *writer);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlOnnxWriter, sl_onnx_writer_free)

#endif
