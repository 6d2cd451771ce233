/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes TensorFlow Lite models in memory, for tests: tensors, one subgraph of operators,
 * quantisation, custom operators, metadata and an appended zip. It writes what it is told, right or
 * wrong, so it also makes the broken models that readers must refuse. Nothing here is shared with
 * the reader under test.
 *
 *   g_autoptr (SlTfliteWriter) w = sl_tflite_writer_new ();
 *   gint32 x = sl_tflite_writer_tensor (w, &(SlTfliteTensor){ .name = "x", .dtype = SL_DTYPE_U8,
 * .rank = 2, .dims = { 1, 4 },
 *                                                             .scale = 0.5f, .zero_point = 128 });
 *   gint32 y = sl_tflite_writer_tensor (w, &(SlTfliteTensor){ .name = "y", ... });
 *   sl_tflite_writer_op (w, &(SlTfliteOp){ .op = SL_OP_SOFTMAX, .params.softmax.beta = 1.0f,
 * .n_inputs = 1, .inputs = { x },
 *                                          .n_outputs = 1, .outputs = { y } });
 *   sl_tflite_writer_io (w, 1, &x, 1, &y);
 *   g_autofree char *path = sl_tflite_writer_save_temp (w, "softmax.tflite", NULL);
 *
 * Bad calls (a bad index, out of memory) abort: the caller is a test.
 */
#ifndef SL_TESTS_TFLITE_WRITER_H
#define SL_TESTS_TFLITE_WRITER_H

#include <glib.h>

#include "core/graph/op.h"
#include "tests/support/tflite_sparsity.h"

/** Most operands of one operator that the writer takes. */
#define SL_TFLITE_OPERANDS 256

/** Most numbers among the options of an operator that is stated by its number. */
#define SL_TFLITE_FIELDS 4

/** Numbers of TFLite's tensor types that SlDtype lacks, for @raw_type. */
#define SL_TFLITE_TYPE_STRING 5
#define SL_TFLITE_TYPE_COMPLEX64 8
#define SL_TFLITE_TYPE_INT4 17

/**
 * SlTfliteTensor: zero members mean "not there".
 * @dims: written as they are, -1 and 0 included
 * @scale, @zero_point: per-tensor quantisation; @scale 0 = none
 * @n_scales, @scales, @zero_points, @axis: per-channel quantisation (wins over @scale);
 * @zero_points (nullable) = all 0
 * @data, @bytes: a constant, copied; @bytes 0 with @data = as many as the shape needs
 * @raw_type: a TFLite type number to write instead of @dtype's; 0 = use @dtype
 * @signature: (nullable): @rank values of shape_signature
 * @variable: set the field of that name
 * @sparsity: (nullable): where the values of @data are
 */
typedef struct
{
  const char *name;
  SlDtype dtype;
  guint rank;
  gint32 dims[SL_MAX_RANK];
  gfloat scale;
  gint64 zero_point;
  guint n_scales;
  const gfloat *scales;
  const gint64 *zero_points;
  gint32 axis;
  const void *data;
  gsize bytes;
  guint8 raw_type;
  const gint32 *signature;
  gboolean variable;
  const SlTfliteSparsity *sparsity;
} SlTfliteTensor;

/**
 * SlTfliteOp:
 * @variable: (nullable): shared_name of a VAR_HANDLE; @subgraph: of a CALL_ONCE, if above 0
 * @op: what to write, with its options from @params (see core/graph/op.h;
 * SL_OP_DETECTION_POSTPROCESS becomes the custom
 *   operator with a FlexBuffer map); SL_OP_INVALID = use @builtin or @custom
 * @builtin: builtin operator number
 * @options: with @builtin: the union member of its options, 0 = none; @n_fields of them are in
 * @fields, numbers of 32 bits
 * @custom: (nullable): name of a custom operator; wins over @builtin
 * @custom_options: (nullable): its options, replacing those made from @params
 * @no_options: leave the options table away
 * @inputs: tensor indices, -1 = omitted
 */
typedef struct
{
  SlOpType op;
  SlOpParams params;
  gint32 builtin;
  guint8 options;
  guint n_fields;
  gint32 fields[SL_TFLITE_FIELDS];
  const char *custom;
  GBytes *custom_options;
  const char *variable;
  gint32 subgraph;
  gboolean no_options;
  guint n_inputs, n_outputs;
  gint32 inputs[SL_TFLITE_OPERANDS];
  gint32 outputs[SL_TFLITE_OPERANDS];
} SlTfliteOp;

/**
 * SlTfliteMetadata: the TFLITE_METADATA buffer of a picture model.
 * @name, @description, @author, @licence: (nullable): of the model
 * @n_mean, @mean, @std: normalisation of the first input; @n_mean 0 = none
 * @colour: 0 = no image properties, 1 = RGB, 2 = grayscale
 * @labels_file: (nullable): associated file of the first output; add it with
 * sl_tflite_writer_member()
 * @labels_type: its AssociatedFileType; 0 = 2 (axis labels), 3 = value labels
 * @calibrated: a unit ScoreCalibration of the first output: @transformation, @default_score, and
 * @calibration_file (nullable)
 */
typedef struct
{
  const char *name, *description, *author, *licence;
  guint n_mean;
  gfloat mean[3], std[3];
  guint8 colour;
  const char *labels_file;
  guint8 labels_type;
  gboolean calibrated;
  guint8 transformation;
  gfloat default_score;
  const char *calibration_file;
} SlTfliteMetadata;

/**
 * SlTfliteQuirks: rarer ways of writing the same, and ways of writing it wrong; zero = the usual.
 * @version: schema version, 0 = 3
 * @identifier: (nullable): four characters instead of "TFL3"
 * @old_codes: operator codes in the deprecated 8-bit field only
 * @new_codes: operator codes in the 32-bit field only
 * @outside_buffers: constants behind the FlatBuffer, found by offset and size (models over 2 GiB)
 * @misalign: bytes (0..15) by which constants are moved off their 16-byte alignment
 * @once: the last operators that are in a second subgraph, with the same tensors
 * @extra_subgraphs: empty subgraphs behind the first
 * @no_subgraph: no subgraph at all
 */
typedef struct
{
  guint32 version;
  const char *identifier;
  gboolean old_codes, new_codes;
  gboolean outside_buffers;
  guint misalign;
  guint once;
  guint extra_subgraphs;
  gboolean no_subgraph;
} SlTfliteQuirks;

typedef struct _SlTfliteWriter SlTfliteWriter;

SlTfliteWriter *sl_tflite_writer_new (void);
void sl_tflite_writer_free (SlTfliteWriter *writer);
/** sl_tflite_writer_tensor: adds a tensor and returns its index. Everything is copied. */
gint32 sl_tflite_writer_tensor (SlTfliteWriter *writer, const SlTfliteTensor *tensor);
/** sl_tflite_writer_const_i32: a constant int32 tensor of rank 1 (shapes, axes, paddings ...). */
gint32 sl_tflite_writer_const_i32 (SlTfliteWriter *writer, const char *name, guint n,
                                   const gint32 *values);
/** sl_tflite_writer_op: adds an operator; operators run in this order. */
void sl_tflite_writer_op (SlTfliteWriter *writer, const SlTfliteOp *op);
/** sl_tflite_writer_io: the graph's inputs and outputs. */
void sl_tflite_writer_io (SlTfliteWriter *writer, guint n_inputs, const gint32 *inputs,
                          guint n_outputs, const gint32 *outputs);
/** sl_tflite_writer_metadata: a named metadata buffer; @bytes is referenced. */
void sl_tflite_writer_metadata (SlTfliteWriter *writer, const char *name, GBytes *bytes);
/** sl_tflite_writer_picture_metadata: the TFLITE_METADATA buffer. */
void sl_tflite_writer_picture_metadata (SlTfliteWriter *writer, const SlTfliteMetadata *metadata);
/** sl_tflite_writer_member: a file in the zip appended to the model; @length -1 = strlen; @deflate
 * compresses it. */
void sl_tflite_writer_member (SlTfliteWriter *writer, const char *name, const char *data,
                              gssize length, gboolean deflate);
/** sl_tflite_writer_set_quirks: copies the struct; its @identifier must outlive the writer. */
void sl_tflite_writer_set_quirks (SlTfliteWriter *writer, const SlTfliteQuirks *quirks);

/** sl_tflite_writer_finish: (transfer full): the model's bytes; may be called again after more
 * additions. */
GBytes *sl_tflite_writer_finish (SlTfliteWriter *writer);
/** sl_tflite_writer_save: writes the model to @path. */
void sl_tflite_writer_save (SlTfliteWriter *writer, const char *path);
/** sl_tflite_writer_save_temp: (transfer full): writes the model as @name in @dir, or in a new
 * temporary directory when
 *  @dir is NULL; returns the path. sl_tflite_remove_temp() cleans up. */
char *sl_tflite_writer_save_temp (SlTfliteWriter *writer, const char *name, const char *dir);
/** sl_tflite_make_old: sets the time of @path's last change back, as it is of files that nobody is
 * just writing. */
void sl_tflite_make_old (const char *path);
/** sl_tflite_remove_temp: deletes the file and its directory when that is then empty. The directory
 * is never the one of all temporary files. */
void sl_tflite_remove_temp (const char *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlTfliteWriter, sl_tflite_writer_free)

#endif
