/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/serve/zmq_message.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "core/base/printable.h"
#include "sightline/error.h"

#define MAX_DIMS 4

/* What a header says, before it is judged. */
typedef struct
{
  guint n_dims; /* MAX_DIMS + 1 = more */
  gint64 dims[MAX_DIMS];
  char *dtype;
  gboolean asks, sends; /* for a model, or one */
} Raw;

static gboolean
read_shape (SlJsonReader *reader, Raw *raw)
{
  raw->n_dims = 0;
  if (!sl_json_reader_enter (reader, SL_JSON_LIST))
    return FALSE;
  while (sl_json_reader_next (reader)) {
    gint64 dim;
    if (!sl_json_reader_integer (reader, 0, G_MAXINT32, &dim))
      return FALSE;
    if (raw->n_dims < MAX_DIMS)
      raw->dims[raw->n_dims] = dim;
    raw->n_dims = MIN (raw->n_dims + 1, MAX_DIMS + 1);
  }
  return TRUE;
}

static gboolean
read_flag (SlJsonReader *reader, gboolean *flag)
{
  *flag = sl_json_reader_kind (reader) == SL_JSON_TRUE;
  return sl_json_reader_skip (reader);
}

static gboolean
read_text (SlJsonReader *reader, char **text)
{
  if (!sl_json_reader_string (reader))
    return FALSE;
  g_free (*text);
  *text = g_strndup (reader->text->str, reader->text->len);
  return TRUE;
}

static gboolean
read_member (SlJsonReader *reader, Raw *raw, SlZmqHeader *header)
{
  const char *key = reader->key->str;
  if (strcmp (key, "shape") == 0)
    return read_shape (reader, raw);
  if (strcmp (key, "dtype") == 0)
    return read_text (reader, &raw->dtype);
  if (strcmp (key, "model_name") == 0)
    return read_text (reader, &header->name);
  if (strcmp (key, "model_request") == 0)
    return read_flag (reader, &raw->asks);
  if (strcmp (key, "model_data") == 0)
    return read_flag (reader, &raw->sends);
  return sl_json_reader_skip (reader);
}

static gboolean
judge_dtype (const char *dtype, SlZmqHeader *header, GError **error)
{
  header->is_float = g_strcmp0 (dtype, "float32") == 0;
  if (header->is_float || g_strcmp0 (dtype, "uint8") == 0)
    return TRUE;
  g_autofree char *shown = sl_printable (dtype != NULL ? dtype : "none", SL_PRINTABLE_NAME);
  return sl_fail (error, SL_ERROR_FORMAT,
                  "request: dtype: expected uint8 or float32, got %s: set input_dtype in Frigate",
                  shown);
}

/* [1,H,W,3], [1,3,H,W], or those without the 1. */
static gboolean
judge_shape (const Raw *raw, SlZmqHeader *header, GError **error)
{
  const gint64 *dims = raw->dims;
  guint n = raw->n_dims;
  if (n == MAX_DIMS && dims[0] == 1) {
    dims++;
    n--;
  }
  const gboolean packed = n == 3 && dims[2] == 3, planar = n == 3 && !packed && dims[0] == 3;
  const gint64 height = planar ? dims[1] : dims[0], width = planar ? dims[2] : dims[1];
  if ((!packed && !planar) || height < 1 || width < 1 || height > SL_MAX_SIDE
      || width > SL_MAX_SIDE) {
    g_autoptr (GString) shown = g_string_new (NULL);
    for (guint i = 0; i < MIN (raw->n_dims, MAX_DIMS); i++)
      g_string_append_printf (shown, "%s%" G_GINT64_FORMAT, i > 0 ? "," : "", raw->dims[i]);
    return sl_fail (
      error, SL_ERROR_FORMAT,
      "request: shape: expected [1,height,width,3] or [1,3,height,width] of at most %d pixels a "
      "side, got [%s%s]",
      SL_MAX_SIDE, shown->str, raw->n_dims > MAX_DIMS ? ",..." : "");
  }
  header->planar = planar;
  header->width = (guint) width;
  header->height = (guint) height;
  return TRUE;
}

static gboolean
judge (const Raw *raw, SlZmqHeader *header, GError **error)
{
  header->kind = raw->sends ? SL_ZMQ_MODEL_DATA : raw->asks ? SL_ZMQ_MODEL_REQUEST : SL_ZMQ_PICTURE;
  return header->kind != SL_ZMQ_PICTURE
         || (judge_dtype (raw->dtype, header, error) && judge_shape (raw, header, error));
}

gboolean
sl_zmq_header_read (const char *text, gsize length, SlZmqHeader *header, GError **error)
{
  g_autofree char *copy = g_strndup (length > 0 ? text : "", length); /* with a zero behind it */
  SlJsonReader reader;
  Raw raw = { 0 };
  *header = (SlZmqHeader){ 0 };
  sl_json_reader_init (&reader, copy, length);
  gboolean going = sl_json_reader_enter (&reader, SL_JSON_OBJECT);
  while (going && sl_json_reader_next (&reader))
    going = read_member (&reader, &raw, header);
  gboolean good = sl_json_reader_end (&reader);
  if (!good)
    sl_fail (error, SL_ERROR_FORMAT, "request: expected a header of JSON, got %s",
             reader.error->message);
  good = good && judge (&raw, header, error);
  sl_json_reader_clear (&reader);
  g_free (raw.dtype);
  if (!good)
    sl_zmq_header_clear (header);
  return good;
}

void
sl_zmq_header_clear (SlZmqHeader *header)
{
  g_clear_pointer (&header->name, g_free);
}

gsize
sl_zmq_picture_bytes (const SlZmqHeader *header)
{
  return (gsize) header->width * header->height * 3 * (header->is_float ? sizeof (gfloat) : 1);
}

static void
bytes_of_floats (const void *data, gsize n, guint8 *bytes)
{
  const guint8 *at = data; /* at any alignment */
  gfloat highest = 0;
  for (gsize i = 0; i < n; i++) {
    gfloat value;
    memcpy (&value, at + i * sizeof value, sizeof value);
    highest = value > highest ? value : highest;
  }
  const gfloat scale = highest > 1 ? 1 : 255;
  for (gsize i = 0; i < n; i++) {
    gfloat value;
    memcpy (&value, at + i * sizeof value, sizeof value);
    value *= scale;
    bytes[i] = value >= 255 ? 255 : value > 0 ? (guint8) (value + 0.5f) : 0;
  }
}

void
sl_zmq_picture_image (const SlZmqHeader *header, const void *data, guint8 *scratch,
                      SlImageInfo *info, SlImage *image)
{
  const gsize pixels = (gsize) header->width * header->height;
  const guint8 *bytes = header->is_float ? scratch : data;
  if (header->is_float)
    bytes_of_floats (data, 3 * pixels, scratch);
  *info = (SlImageInfo){ .format = header->planar ? SL_PIXEL_RGBP : SL_PIXEL_RGB,
                         .width = (int) header->width,
                         .height = (int) header->height,
                         .full_range = 1 };
  *image = (SlImage){ { NULL } };
  for (guint i = 0; i < (header->planar ? 3 : 1); i++) {
    image->plane[i] = bytes + i * pixels;
    image->stride[i] = (ptrdiff_t) header->width * (header->planar ? 1 : 3);
  }
}

guint
sl_zmq_rows (const SlPredictionView *prediction, const gint32 *ids, guint n_ids,
             gfloat rows[SL_ZMQ_ROWS][SL_ZMQ_COLUMNS])
{
  guint n = 0;
  memset (rows, 0, sizeof (gfloat) * SL_ZMQ_ROWS * SL_ZMQ_COLUMNS);
  for (guint i = 0; i < prediction->n_objects && n < SL_ZMQ_ROWS; i++) {
    const SlObjectView *object = &prediction->objects[i];
    const gint32 ours = object->label_id;
    const gint32 id = ids == NULL ? ours : ours >= 0 && (guint) ours < n_ids ? ids[ours] : -1;
    if (id < 0)
      continue;
    gfloat *row = rows[n++];
    row[0] = (gfloat) id;
    row[1] = (gfloat) object->confidence;
    row[2] = (gfloat) object->y_min;
    row[3] = (gfloat) object->x_min;
    row[4] = (gfloat) object->y_max;
    row[5] = (gfloat) object->x_max;
  }
  return n;
}

char *
sl_zmq_model_answer (SlZmqKind kind, const char *name, const char *file)
{
  const gboolean asked = kind == SL_ZMQ_MODEL_REQUEST;
  GString *json = g_string_new (asked ? "{\"model_available\":true,\"model_loaded\":true"
                                      : "{\"model_saved\":false,\"model_loaded\":false");
  g_string_append (json, ",\"model_name\":");
  sl_json_append_string (json, name);
  sl_json_append_text (json, "message",
                       asked ? "this worker runs its own model file"
                             : "this worker takes no models: start it with the model file");
  sl_json_append_text (json, "model_file", file);
  g_string_append_c (json, '}');
  return g_string_free (json, FALSE);
}
