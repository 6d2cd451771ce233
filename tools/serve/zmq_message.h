/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The messages of ZeroMQ's door, which are those of Frigate's detector of type zmq. A request is a
 * JSON header and the bytes of a picture; an answer is a JSON header and 20 rows of six floats.
 * Nothing here sends or receives.
 */
#pragma once

#include "postprocess/predictions/prediction.h"
#include "preprocess/image.h"

/** Rows of an answer, and numbers of a row: class, score, y_min, x_min, y_max, x_max in 0..1 of the
 * picture. Rows without an object are zero. */
#define SL_ZMQ_ROWS 20
#define SL_ZMQ_COLUMNS 6

typedef enum
{
  SL_ZMQ_PICTURE,
  SL_ZMQ_MODEL_REQUEST, /* is the model that the client calls by name loaded? */
  SL_ZMQ_MODEL_DATA     /* the client sends a model */
} SlZmqKind;

/**
 * SlZmqHeader:
 * @width, @height: pixels of the picture
 * @planar: the shape is [1,3,height,width], else [1,height,width,3]
 * @is_float: values are float32, else uint8
 * @name: (nullable): the model's name of the client; of model requests and data
 */
typedef struct
{
  SlZmqKind kind;
  guint width, height;
  gboolean planar, is_float;
  char *name;
} SlZmqHeader;

/** sl_zmq_header_read: FALSE with @error set for a text that is no header. */
gboolean sl_zmq_header_read (const char *text, gsize length, SlZmqHeader *header, GError **error);
void sl_zmq_header_clear (SlZmqHeader *header);
/** sl_zmq_picture_bytes: how many bytes the picture has. */
gsize sl_zmq_picture_bytes (const SlZmqHeader *header);
/** sl_zmq_picture_image: the picture of @header as the preprocessor takes it. Values of
 * uint8 stay where they are, at @data; floats become bytes in @scratch, a third of @data's size or
 * more: those of a picture with a value above 1 are 0..255, else 0..1. NaN is 0. */
void sl_zmq_picture_image (const SlZmqHeader *header, const void *data, guint8 *scratch,
                           SlImageInfo *info, SlImage *image);

/** sl_zmq_rows: the first objects of @prediction as @rows. @ids: (nullable): the client's class for
 * each class of ours, below 0 = it has none, and the object is left out; @n_ids of them. Returns
 * the number of rows. */
guint sl_zmq_rows (const SlPredictionView *prediction, const gint32 *ids, guint n_ids,
                   gfloat rows[SL_ZMQ_ROWS][SL_ZMQ_COLUMNS]);
/** SL_ZMQ_ANSWER_HEADER: the header of an answer with rows. */
#define SL_ZMQ_ANSWER_HEADER "{\"shape\":[20,6],\"dtype\":\"float32\"}"
/** sl_zmq_model_answer: (transfer full): the answer to a model request or to model data of
 * @name (nullable). @file: the model that is served */
char *sl_zmq_model_answer (SlZmqKind kind, const char *name, const char *file);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlZmqHeader, sl_zmq_header_clear)
