/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/search/encoder.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "models/model.h"
#include "sightline/predictor.h"
#include "tools/picture_load.h"
#include "tools/search/settings.h"

/* An embedding that a predictor gives: of length 1. */
#define DECODER "vector,kind=embedding"
/* Pixels of a part's sides: less shows nothing. */
#define SIDE_LEAST 4
/* Embeddings that the file beside the clips takes. */
#define LENGTH_MOST 8192

struct _SlSearchEncoder
{
  SlPredictor *predictor;
  char *model, *hash;
  guint length;
};

struct _SlSearchPicture
{
  GdkPixbuf *pixels;
  GBytes *bytes;
};

void
sl_search_encoder_free (SlSearchEncoder *encoder)
{
  g_clear_object (&encoder->predictor);
  g_free (encoder->model);
  g_free (encoder->hash);
  g_free (encoder);
}

const char *
sl_search_encoder_hash (const SlSearchEncoder *encoder)
{
  return encoder->hash;
}

guint
sl_search_encoder_length (const SlSearchEncoder *encoder)
{
  return encoder->length;
}

static gboolean
add_file (GChecksum *sum, const char *path, GError **error)
{
  g_autofree guint8 *piece = g_malloc (1 << 20);
  const gint fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  gssize n = fd >= 0 ? 1 : -1;
  while (n > 0) {
    n = read (fd, piece, 1 << 20);
    if (n > 0)
      g_checksum_update (sum, piece, n);
  }
  const gint code = errno;
  if (fd >= 0)
    close (fd);
  return n == 0 || sl_fail (error, SL_ERROR_OPEN, "%s: %s", path, g_strerror (code));
}

/* (transfer full) (nullable) */
static char *
make_hash (const SlModelSettings *settings, GError **error)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_auto (GStrv) files = sl_model_files (settings->model);
  const SlSetting *setting;
  gboolean pictures;
  for (guint i = 0; files[i] != NULL; i++)
    if (!add_file (sum, files[i], error))
      return NULL;
  for (guint i = 1; (setting = sl_search_setting (i, &pictures)) != NULL; i++) {
    const char *value = sl_setting_get (setting, settings);
    g_autofree char *line =
      value != NULL && pictures ? g_strdup_printf ("%s=%s\n", setting->name, value) : g_strdup ("");
    g_checksum_update (sum, (const guchar *) line, -1);
  }
  return g_strdup (g_checksum_get_string (sum));
}

static void
set_property (SlPredictor *predictor, const SlSetting *setting, const char *value)
{
  if (setting->kind == SL_SETTING_NUMBER)
    g_object_set (predictor, setting->name, (gint) g_ascii_strtoll (value, NULL, 10), NULL);
  else
    g_object_set (predictor, setting->name, value, NULL);
}

/* The length of embeddings is that of the first one. */
static gboolean
try_model (SlSearchEncoder *encoder, GError **error)
{
  guint8 gray[16 * 16 * 3];
  memset (gray, 128, sizeof gray);
  g_autoptr (GBytes) bytes = g_bytes_new (gray, sizeof gray);
  g_autoptr (SlPredictions) made =
    sl_predictor_predict_bytes (encoder->predictor, "RGB", 16, 16, bytes, error);
  if (made == NULL)
    return FALSE;
  sl_predictions_get_values (made, &encoder->length);
  return (encoder->length > 0 && encoder->length <= LENGTH_MOST)
         || sl_fail (error, SL_ERROR_CONTRACT,
                     "%s: expected a picture model that makes an embedding of 1 to %d numbers, got "
                     "%u; sightline inspect says what it makes",
                     encoder->model, LENGTH_MOST, encoder->length);
}

SlSearchEncoder *
sl_search_encoder_new (const SlModelSettings *settings, GError **error)
{
  const SlSetting *setting;
  gboolean pictures;
  if (settings->model == NULL)
    return sl_fail_null (error, SL_ERROR_ARGUMENT,
                         "expected a picture model, such as model=clip-image.onnx");
  g_autoptr (SlSearchEncoder) encoder = g_new0 (SlSearchEncoder, 1);
  encoder->model = g_strdup (settings->model);
  encoder->predictor = g_object_new (SL_TYPE_PREDICTOR, "decoder", DECODER, "threads", 1, NULL);
  for (guint i = 0; (setting = sl_search_setting (i, &pictures)) != NULL; i++) {
    const char *value = sl_setting_get (setting, settings);
    if (value != NULL && pictures)
      set_property (encoder->predictor, setting, value);
  }
  if (!sl_predictor_load (encoder->predictor, error) || !try_model (encoder, error))
    return NULL;
  encoder->hash = make_hash (settings, error);
  return encoder->hash != NULL ? g_steal_pointer (&encoder) : NULL;
}

/* @box in whole pixels of @picture; the whole of it where it is too small. */
static void
find_part (const SlSearchPicture *picture, const gdouble box[4], gint part[4])
{
  const gint width = gdk_pixbuf_get_width (picture->pixels),
             height = gdk_pixbuf_get_height (picture->pixels);
  part[0] = CLAMP ((gint) floor (box[0] * width), 0, width - 1);
  part[1] = CLAMP ((gint) floor (box[1] * height), 0, height - 1);
  part[2] = CLAMP ((gint) ceil ((box[0] + box[2]) * width), part[0] + 1, width) - part[0];
  part[3] = CLAMP ((gint) ceil ((box[1] + box[3]) * height), part[1] + 1, height) - part[1];
  if (part[2] >= SIDE_LEAST && part[3] >= SIDE_LEAST)
    return;
  part[0] = part[1] = 0;
  part[2] = width;
  part[3] = height;
}

gfloat *
sl_search_encoder_run (SlSearchEncoder *encoder, const SlSearchPicture *picture,
                       const gdouble box[4], GError **error)
{
  static const gdouble whole[4] = { 0, 0, 1, 1 };
  const gssize stride = gdk_pixbuf_get_rowstride (picture->pixels);
  const gboolean alpha = gdk_pixbuf_get_has_alpha (picture->pixels);
  gint part[4];
  guint n = 0;
  find_part (picture, box != NULL ? box : whole, part);
  const gsize offset = (gsize) part[1] * (gsize) stride + (gsize) part[0] * (alpha ? 4 : 3);
  g_autoptr (SlFrame) frame =
    sl_frame_new_with_layout (alpha ? "RGBA" : "RGB", (guint) part[2], (guint) part[3],
                              picture->bytes, &offset, &stride, 1, error);
  g_autoptr (SlPredictions) made =
    frame != NULL ? sl_predictor_predict (encoder->predictor, frame, error) : NULL;
  if (made == NULL)
    return NULL;
  const gfloat *values = sl_predictions_get_values (made, &n);
  double squares = 0;
  for (guint i = 0; i < n; i++)
    squares += (double) values[i] * (double) values[i];
  if (n == encoder->length && isfinite (squares) && squares > 0)
    return g_memdup2 (values, n * sizeof *values);
  return sl_fail_null (error, SL_ERROR_CONTRACT,
                       "%s: expected an embedding of %u numbers with a direction, got %u numbers%s",
                       encoder->model, encoder->length, n,
                       n == encoder->length ? " that are all 0 or not finite" : "");
}

SlSearchPicture *
sl_search_picture_new (GBytes *bytes, GError **error)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  const SlPictureHeader header = sl_picture_header_read (data, size);
  if (!sl_picture_header_check (&header, error))
    return NULL;
  GdkPixbuf *pixels =
    sl_picture_load_upright (&header, data, size, SL_SEARCH_PICTURE_PIXELS, error);
  if (pixels == NULL) {
    sl_fail_prefix (error, "the picture cannot be decoded: ");
    return NULL;
  }
  SlSearchPicture *picture = g_new (SlSearchPicture, 1);
  *picture = (SlSearchPicture){ pixels, gdk_pixbuf_read_pixel_bytes (pixels) };
  return picture;
}

SlSearchPicture *
sl_search_picture_load (const char *path, GError **error)
{
  const gint fd = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status = { 0 };
  gsize done = 0;
  gssize n = 1;
  if (fd < 0)
    return sl_fail_null (error, SL_ERROR_OPEN, "%s: %s", path, g_strerror (errno));
  if (fstat (fd, &status) != 0 || !S_ISREG (status.st_mode)
      || status.st_size > SL_SEARCH_PICTURE_BYTES) {
    close (fd);
    return sl_fail_null (error, SL_ERROR_LIMIT, "%s: expected a picture file of at most %d MiB",
                         path, SL_SEARCH_PICTURE_BYTES >> 20);
  }
  guint8 *data = g_malloc ((gsize) status.st_size + 1);
  while (n > 0 && done < (gsize) status.st_size) {
    n = read (fd, data + done, (gsize) status.st_size - done);
    done += n > 0 ? (gsize) n : 0;
  }
  close (fd);
  g_autoptr (GBytes) bytes = g_bytes_new_take (data, done);
  SlSearchPicture *picture = sl_search_picture_new (bytes, error);
  if (picture == NULL)
    sl_fail_prefix (error, "%s: ", path);
  return picture;
}

void
sl_search_picture_free (SlSearchPicture *picture)
{
  g_object_unref (picture->pixels);
  g_bytes_unref (picture->bytes);
  g_free (picture);
}
