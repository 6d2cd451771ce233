/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The predictions of one frame, with names and in pixels of the frame. Text, JSON and metas are
 * written from them.
 */
#pragma once

#include <glib.h>

#include "postprocess/result.h"
#include "postprocess/predictions/analysis.h"

/** A keypoint; @x, @y in 0..1 of the frame; outside this range for a point outside the frame. */
typedef struct
{
  gdouble x, y, confidence;
} SlPoint;

/** The mask of an object: a grid over its pixels x, y, w, h, row by row. A cell is the confidence,
 * 0..255, that it belongs to the object; from SL_OBJECT_CELL on it does. @width 0 = no mask. */
typedef struct
{
  guint width, height;
  const guint8 *cells;
} SlObjectMask;
#define SL_OBJECT_CELL 128

/** @label_id SL_TEXT_ID: @label is a text that was read. It can differ in every frame, so it must
 * not be interned. Then @shares has the confidence of each of its @n_shares characters; @n_shares
 * 0 = unknown. */
typedef struct
{
  gint32 label_id;
  gdouble confidence;
  const char *label; /* (not nullable) */
  const char *model; /* (nullable): of an object's label: name of the model that gave it */
  guint n_shares;
  const gfloat *shares;
} SlLabelled;

/** The content of a code (bar code, QR code). @text: (nullable): its bytes, where they are UTF-8
 * without NUL; @corners: x and y in 0..1 of the object's box, beginning at the code's own upper
 * left corner where the reader knows it; @quality: the reader's value, at least 1; @add_on:
 * (nullable): the two or five digits beside an EAN or UPC code. */
typedef struct
{
  const char *symbology;
  const char *text;
  const guint8 *bytes;
  gsize n_bytes;
  gboolean is_checked; /* by check digits or error correction */
  gint quality;
  gdouble corners[4][2];
  const char *add_on;
} SlCodeView;

/** Most characters of a text that is voted on. */
#define SL_MAX_TEXT 128
/** Most bytes of one in UTF-8, with the terminating zero. */
#define SL_MAX_TEXT_BYTES (4 * SL_MAX_TEXT + 1)

/** A character of a text. @confidence: 0..1; @read: what was read in its place, if a format
 * corrected it, else 0. */
typedef struct
{
  gunichar character, read;
  gfloat confidence;
} SlTextCharacter;

/** What an object says, by all readings of it. @text: the @n characters, UTF-8; @confidence: the
 * mean of theirs; @votes: how many readings there were; @format: (nullable): name of the format
 * that it has. */
typedef struct
{
  char text[SL_MAX_TEXT_BYTES];
  gdouble confidence;
  guint votes;
  const char *format;
  guint n;
  SlTextCharacter characters[SL_MAX_TEXT];
} SlTextView;

/** Most bytes of a code. */
#define SL_MAX_CODE_BYTES 8192

/** An object; @x..@h whole pixels of the frame, clipped to it; @x_min..@y_max in 0..1 of the frame,
 * clipped. */
typedef struct
{
  gint x, y, w, h;
  gdouble x_min, y_min, x_max, y_max;
  gdouble confidence;
  gint32 label_id;
  const char
    *label; /* (not nullable): the class's name, or its number when it has none; owned elsewhere */
  guint n_points;
  const SlPoint *points;
  gint32 object_id;      /* from 1 on, the same in every frame of a stream; 0 = not tracked */
  guint64 tracked_since; /* time of the frame with this object's first box, in nanoseconds; only
                            with an object_id */
  SlObjectMask mask;
  guint n_labels;
  const SlLabelled *labels; /* labels that other models gave to the object */
  const SlCodeView *code;   /* (nullable): the code that was read */
  const SlTextView *text;   /* (nullable): the text that was read and voted on */
  guint parent; /* the object inside which a further model found this one: 1 + its index; 0 = no
                   parent */
  const SlSkeleton *skeleton; /* (nullable): of the points; NULL = that of the prediction, where it
                                 has as many points */
  gint64 identity;            /* who it is, of a gallery; 0 = not known */
  gdouble identity_confidence;
  const char *identity_cameras; /* (nullable): cameras that saw this person, with commas between */
  const char *identity_name;    /* (nullable): the name that this person was registered with */
} SlObjectView;

/** A class of the mask, and its share of the cells, 0..1. */
typedef struct
{
  gint32 label_id;
  const char *label; /* (not nullable) */
  gdouble fraction;
} SlMaskClass;

/** Times of a frame in us, -1 = unknown: @age from its capture to now, and the parts of it that the
 * stages took. */
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
 * @width, @height: pixels of the original frame; of the tensor when there was no frame
 * @made_picture: the model made a picture of @width x @height; there are no other results
 * @skeleton: (nullable): names and bones of the points of objects without their own skeleton
 * @mask: a class for each cell of a grid over the whole frame; SL_MASK_VOID outside the model's
 * input; @width 0 = no mask
 * @vector: numbers about the whole frame
 * @outputs: the model's tensors, undecoded
 * @latency: (nullable)
 * @worker: (nullable): name of the remote worker that ran the model
 * @analysis: (nullable): the results of zones and lines up to this frame
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

/** sl_object_skeleton: (nullable): names and bones of the points of @object. @common: (nullable):
 * its prediction's */
static inline const SlSkeleton *
sl_object_skeleton (const SlObjectView *object, const SlSkeleton *common)
{
  const SlSkeleton *skeleton = object->skeleton != NULL ? object->skeleton : common;
  return skeleton != NULL && skeleton->n_points == object->n_points ? skeleton : NULL;
}

/** sl_prediction_append_json: appends one line without newline, UTF-8; see docs/predictions.md. */
void sl_prediction_append_json (GString *out, const SlPredictionView *prediction);
/** sl_code_append_text: appends the content of @code as one line of UTF-8, with the escapes of
 * sl_printable(). Bytes that are not text become \xHH. With more than @most characters or bytes,
 * the middle is left out. */
void sl_code_append_text (GString *out, const SlCodeView *code, gsize most);
/** sl_prediction_append_text: appends text for people and scripts; a newline ends each line. An
 * empty prediction appends nothing.
 *  - The best label is one line, an embedding is one line, each undecoded tensor is one line.
 *  - Each value is one line "name value unit".
 *  - Each object is one line "label confidence x y w h", and its id where it has one. Lines about
 * the object follow, indented by two more
 *    spaces: its code "symbology text", its text "text confidence format", the labels of other
 *    models, and the objects that they found inside it. */
void sl_prediction_append_text (GString *out, const SlPredictionView *prediction);
