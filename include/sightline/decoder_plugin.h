/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plug-in decoders: a shared object exports one SlDecoderPlugin, the table `sightline_decoder`, and
 * links none of our libraries.
 *
 *   const SlDecoderPlugin sightline_decoder = { SL_DECODER_PLUGIN_HEAD, .name = "mine", ... };
 *
 * It is opened by its path, decoder=./mine.so, or by its file's name in a folder, decoder=mine
 * (docs/decoder-plugins.md).
 */
#ifndef SL_DECODER_PLUGIN_H
#define SL_DECODER_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of these declarations. It grows when an existing member changes. A member that is added
 * at the end of a struct changes only @size. */
#define SL_DECODER_PLUGIN_ABI 1u
/** The first members of a row. */
#define SL_DECODER_PLUGIN_HEAD .abi = SL_DECODER_PLUGIN_ABI, .size = sizeof (SlDecoderPlugin)

/** SlDecoderType: what the elements of a tensor are. */
typedef enum
{
  SL_DECODER_FLOAT32 = 1,
  SL_DECODER_FLOAT16,
  SL_DECODER_FLOAT64,
  SL_DECODER_INT8,
  SL_DECODER_UINT8,
  SL_DECODER_INT16,
  SL_DECODER_UINT16,
  SL_DECODER_INT32,
  SL_DECODER_UINT32,
  SL_DECODER_INT64,
  SL_DECODER_UINT64,
  SL_DECODER_BOOL
} SlDecoderType;

/**
 * SlDecoderTensor:
 * @name: its name in the model, "" if it has none
 * @dims: @rank sizes, outermost first, each at least 1
 * @elements: their product
 * @scale, @zero_point: number = (code - @zero_point) * @scale; 1 and 0 where the model states none
 */
typedef struct
{
  const char *name;
  SlDecoderType type;
  uint32_t rank;
  int32_t dims[8];
  uint32_t elements;
  float scale;
  int32_t zero_point;
} SlDecoderTensor;

typedef struct _SlDecoderModel SlDecoderModel;

/**
 * SlDecoderModel:
 * @size: of this struct as the library has it
 * @tensors: the model's outputs, @n_tensors of them
 * @threshold: least confidence, 0..1; the library also drops results below it
 * @iou_threshold: overlap that the user states, 0..1; 0 = none
 * @max_results: most objects and most labels that are reported, 1..1000
 * @n_labels: number of class names known, 0 = unknown
 * @input_width, @input_height: pixels of the model's input, 0 = unknown
 * @param: the value of one of the row's parameters, NULL = not stated
 *
 * It and what it points to live until the decoder is closed.
 */
struct _SlDecoderModel
{
  size_t size;
  uint32_t n_tensors;
  const SlDecoderTensor *tensors;
  float threshold, iou_threshold;
  uint32_t max_results, n_labels;
  int32_t input_width, input_height;
  const char *(*param) (const SlDecoderModel *model, const char *name);
};

/** SlDecoderBox: edges in 0..1 of the model's input, not clipped; @confidence in 0..1; @class_id at
 * least 0. */
typedef struct
{
  float x_min, y_min, x_max, y_max;
  float confidence;
  int32_t class_id;
} SlDecoderBox;

/** SlDecoderPoint: @x, @y in 0..1 of the model's input, @confidence in 0..1. */
typedef struct
{
  float x, y, confidence;
} SlDecoderPoint;

typedef struct _SlDecoderOutput SlDecoderOutput;

/**
 * SlDecoderOutput:
 * @size: of this struct as the library has it
 * @add_object: an object; @points: NULL, or as many as the table's @n_points. Objects may come in
 * any order and number: the best are kept.
 *   Objects with NaN or infinite numbers, without area or below the threshold are dropped
 * @add_label: a class of the whole picture, likewise
 * @set_values: @n numbers that are not scores, 1 to 65536, which are copied; @is_embedding: whether
 * they are an embedding
 * @set_class_map: a class for each cell of a grid over the input, row by row, 255 = unknown;
 * @background: the background class, -1 = there
 *   is none. The cells are copied
 */
struct _SlDecoderOutput
{
  size_t size;
  void (*add_object) (SlDecoderOutput *output, const SlDecoderBox *box,
                      const SlDecoderPoint *points);
  void (*add_label) (SlDecoderOutput *output, int32_t class_id, float confidence);
  void (*set_values) (SlDecoderOutput *output, const float *values, uint32_t n, int is_embedding);
  void (*set_class_map) (SlDecoderOutput *output, const uint8_t *classes, uint32_t width,
                         uint32_t height, int32_t background);
};

/**
 * SlDecoderPlugin:
 * @abi, @size: SL_DECODER_PLUGIN_HEAD
 * @name: its name in messages: a-z, 0-9, '-' and '_'
 * @description: the tensors that it takes, for messages
 * @params: (nullable): names of its parameters, NULL-terminated; decoder=./mine.so,NAME=VALUE and
 * decoder-NAME=VALUE of a description state them
 * @class_names: (nullable): names of its classes if there are no labels, NULL-terminated
 * @threshold: used where the user states none, 0..1
 * @suppress: whether the library suppresses objects that overlap a better one of their class;
 * "iou-threshold" (0.5) and "agnostic" are
 *   parameters then
 * @n_points: keypoints of each object, 0 to 512; @point_names: (nullable): @n_points names, each of
 * which may be NULL
 * @open: returns the decoder's state, not NULL; or NULL if it does not support the tensors or a
 * parameter. Then it writes a clause with
 *   what was expected and what was found into @message. It may be opened several times at once
 * @decode: a frame; @data has a pointer for each tensor, aligned to its elements. It may contain
 * any number, including NaN. @decode must
 *   not block, and is called by one thread at a time
 * @close: (nullable): frees the state
 */
typedef struct
{
  uint32_t abi;
  size_t size;
  const char *name, *description;
  const char *const *params;
  const char *const *class_names;
  float threshold;
  int suppress;
  uint32_t n_points;
  const char *const *point_names;
  void *(*open) (const SlDecoderModel *model, char *message, size_t message_size);
  void (*decode) (void *state, const void *const *data, SlDecoderOutput *output);
  void (*close) (void *state);
} SlDecoderPlugin;

/** sl_decoder_tensor_value: element @i of @data as a number: of float32, int8 and uint8; 0 of other
 * types. */
static inline float
sl_decoder_tensor_value (const SlDecoderTensor *tensor, const void *data, uint32_t i)
{
  float value;
  switch (tensor->type) {
    case SL_DECODER_FLOAT32:
      memcpy (&value, (const char *) data + (size_t) i * sizeof value, sizeof value);
      return value;
    case SL_DECODER_INT8:
      return (float) (((const int8_t *) data)[i] - tensor->zero_point) * tensor->scale;
    case SL_DECODER_UINT8:
      return (float) (((const uint8_t *) data)[i] - tensor->zero_point) * tensor->scale;
    default:
      return 0;
  }
}

/** The row that a plug-in exports. */
#if defined(__GNUC__)
__attribute__ ((visibility ("default")))
#endif
extern const SlDecoderPlugin sightline_decoder;

#ifdef __cplusplus
}
#endif

#endif
