/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The predictions of one frame, mapped to its pixels and named: what text, JSON and metas are written from.
 */
#ifndef SL_PREDICTIONS_PREDICTION_H
#define SL_PREDICTIONS_PREDICTION_H

#include <glib.h>

#include "postprocess/result.h"
#include "postprocess/predictions/analysis.h"

G_BEGIN_DECLS

/** A keypoint; @x, @y in 0..1 of the frame, outside of that where it lies outside. */
typedef struct
{
  gdouble x, y, confidence;
} SlPoint;

/** Which part of an object's pixels x, y, w, h is the object: a grid over them, row by row, of the share 0..255 of sureness that a
 *  cell belongs to it; from SL_OBJECT_CELL on it does. @width 0 = unknown. */
typedef struct
{
  guint width, height;
  const guint8 *cells;
} SlObjectMask;
#define SL_OBJECT_CELL 128

/** @label_id SL_TEXT_ID: @label is a text that was read, another one in every frame: it is not to be interned. */
typedef struct
{
  gint32 label_id;
  gdouble confidence;
  const char *label; /* (not nullable) */
  const char *model; /* (nullable): of an object's label: name of the model that gave it */
} SlLabelled;

/** What a code says that an object is. @text: (nullable): its bytes where they are UTF-8 without NUL; @corners: x and y, in 0..1 of the
 *  object's box, from the code's own upper left where the reader knows it; @quality: as the reader has it, 1 and more. */
typedef struct
{
  const char *symbology;
  const char *text;
  const guint8 *bytes;
  gsize n_bytes;
  gboolean is_checked; /* by check digits or error correction */
  gint quality;
  gdouble corners[4][2];
} SlCodeView;

/** Most bytes of a code. */
#define SL_MAX_CODE_BYTES 8192

/** An object; @x..@h whole pixels of the frame, clipped to it; @x_min..@y_max in 0..1 of the frame, clipped. */
typedef struct
{
  gint x, y, w, h;
  gdouble x_min, y_min, x_max, y_max;
  gdouble confidence;
  gint32 label_id;
  const char *label; /* (not nullable): the class's name, or its number when it has none; owned elsewhere */
  guint n_points;
  const SlPoint *points;
  gint32 object_id;      /* from 1 on, the same in every frame of a stream; 0 = not tracked */
  guint64 tracked_since; /* nanoseconds of the frame with this object's first box; where there is an object_id */
  SlObjectMask mask;
  guint n_labels;
  const SlLabelled *labels;   /* what other models said of the object */
  const SlCodeView *code;     /* (nullable): what was read of it */
  guint parent;               /* the object inside which a further model found this one: 1 + its place; 0 = none */
  const SlSkeleton *skeleton; /* (nullable): of the points; NULL = the prediction's, where that has as many */
} SlObjectView;

/** A class that the mask has, and the share of its cells. */
typedef struct
{
  gint32 label_id;
  const char *label; /* (not nullable) */
  gdouble fraction;
} SlMaskClass;

/** How long a frame took, in us, -1 = unknown: @age from its capture to now, of which the stages. */
typedef struct
{
  gint64 age, preprocess, inference, decode;
} SlLatency;

/**
 * SlPredictionView:
 * @source: (nullable): where the frame came from (path or URI)
 * @frame: number of the frame in its source, from 0
 * @timestamp: nanoseconds of stream time, G_MAXUINT64 when unknown (JSON null)
 * @utc: microseconds since 1970 at which the frame was taken, 0 = unknown
 * @width, @height: pixels of the original frame; of the tensor when there was none
 * @made_picture: the model made a picture, @width x @height; there is nothing else to tell
 * @skeleton: (nullable): names and bones of the points of objects that have none of their own
 * @mask: a class for each cell of a grid over the whole frame; SL_MASK_VOID where the model did not see; @width 0 = none
 * @vector: numbers about the whole frame
 * @outputs: the model's tensors, undecoded
 * @latency: (nullable)
 * @worker: (nullable): who ran the model on another machine
 * @analysis: (nullable): what became of objects up to this frame
 */
typedef struct
{
  const char *source;
  guint64 frame;
  guint64 timestamp;
  gint64 utc;
  gint width, height;
  gboolean made_picture;
  guint n_objects, n_labels;
  const SlObjectView *objects;
  const SlLabelled *labels;
  const SlSkeleton *skeleton;
  SlClassMask mask;
  guint n_mask_classes;
  const SlMaskClass *mask_classes;
  SlVector vector;
  SlOutputs outputs;
  const SlLatency *latency;
  const char *worker;
  const SlAnalysis *analysis;
} SlPredictionView;

/** sl_object_skeleton: (nullable): names and bones of the points of @object. @common: (nullable): its prediction's */
static inline const SlSkeleton *
sl_object_skeleton (const SlObjectView *object, const SlSkeleton *common)
{
  const SlSkeleton *skeleton = object->skeleton != NULL ? object->skeleton : common;
  return skeleton != NULL && skeleton->n_points == object->n_points ? skeleton : NULL;
}

/** sl_prediction_append_json: one line without newline, UTF-8; shape documented in docs/predictions.md. */
void sl_prediction_append_json (GString *out, const SlPredictionView *prediction);
/** sl_code_append_text: what @code says in one line of UTF-8, with escapes as sl_printable() makes them; bytes that are no text as \xHH. Of more than
 *  @most characters, or bytes, the middle is left out. */
void sl_code_append_text (GString *out, const SlCodeView *code, gsize most);
/** sl_prediction_append_text: for reading and scripts: the best label alone, an embedding as one line, a line a value "name value unit", a line an undecoded tensor, or one line an object
 *  "label confidence x y w h", and the id of objects that have one, below it and indented by two more spaces what was read of it,
 *  "symbology text", what other models said of it and found inside it; newline after each; nothing for an empty prediction. */
void sl_prediction_append_text (GString *out, const SlPredictionView *prediction);

G_END_DECLS

#endif
