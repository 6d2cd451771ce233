/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames from applications: format names, extents checked against the memory given, colorimetry.
 * Every byte that may be read of a frame that exists lies in memory that its maker promised.
 */
#include "predict/frame_private.h"

#include <string.h>

#include "core/base/fail.h"

#define MAX_PLANES 3

struct _SlFrame
{
  gatomicrefcount refs;
  const char *format;
  GBytes *data; /* (nullable): what the planes lie in; NULL where they are the caller's */
  SlImageInfo info;
  SlImage image;
  SlFrameMatrix matrix;
  gboolean full_range;
  guint64 timestamp;
};

G_DEFINE_BOXED_TYPE (SlFrame, sl_frame, sl_frame_ref, sl_frame_unref)

/* Formats whose fourth sample is alpha, which no model sees. */
static const struct
{
  const char *name;
  SlPixelFormat format;
} aliases[] = { { "RGBA", SL_PIXEL_RGBX },
                { "BGRA", SL_PIXEL_BGRX },
                { "ARGB", SL_PIXEL_XRGB },
                { "ABGR", SL_PIXEL_XBGR } };

static const char *
find_format (const char *name, SlPixelFormat *format)
{
  for (guint i = 0; i < SL_PIXEL_COUNT; i++) {
    if (strcmp (name, sl_pixel_format_name ((SlPixelFormat) i)) == 0) {
      *format = (SlPixelFormat) i;
      return sl_pixel_format_name (*format);
    }
  }
  for (guint i = 0; i < G_N_ELEMENTS (aliases); i++) {
    if (strcmp (name, aliases[i].name) == 0) {
      *format = aliases[i].format;
      return aliases[i].name;
    }
  }
  return NULL;
}

/**
 * sl_frame_dup_formats:
 *
 * Memory layouts are those of GStreamer's formats of the same names.
 *
 * Returns: (array zero-terminated=1) (transfer full): the names of all pixel formats, then %NULL;
 * free with g_strfreev()
 *
 * Since: 0.1
 */
char **
sl_frame_dup_formats (void)
{
  char **names = g_new0 (char *, SL_PIXEL_COUNT + G_N_ELEMENTS (aliases) + 1);
  guint n = 0;
  for (guint i = 0; i < SL_PIXEL_COUNT; i++)
    names[n++] = g_strdup (sl_pixel_format_name ((SlPixelFormat) i));
  for (guint i = 0; i < G_N_ELEMENTS (aliases); i++)
    names[n++] = g_strdup (aliases[i].name);
  return names;
}

static const char *
find_info (const char *format, guint width, guint height, SlImageInfo *info, GError **error)
{
  memset (info, 0, sizeof *info);
  const char *name = find_format (format, &info->format);
  if (name == NULL) {
    g_auto (GStrv) formats = sl_frame_dup_formats ();
    g_autofree char *names = g_strjoinv (", ", formats);
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "frame: pixel format '%s' is not supported; expected one of %s", format,
                         names);
  }
  if (width < 1 || width > SL_MAX_SIDE || height < 1 || height > SL_MAX_SIDE)
    return sl_fail_null (error, SL_ERROR_LIMIT, "frame of %ux%u pixels: expected 1..%d each way",
                         width, height, SL_MAX_SIDE);
  info->width = (int) width;
  info->height = (int) height;
  info->site_h = SL_SITE_COSITED;
  info->site_v = SL_SITE_CENTRE;
  return name;
}

static gsize
plane_bytes (const SlImageInfo *info, guint plane)
{
  return sl_image_row_bytes (info, (int) plane) * (gsize) sl_image_plane_rows (info, (int) plane);
}

/**
 * sl_frame_packed_size:
 * @format: a pixel format, such as "NV12"
 * @width: pixels, 1..32768
 * @height: pixels, 1..32768
 *
 * Computes the size of a frame without padding, such as of a buffer for sl_frame_new().
 *
 * Returns: bytes of a frame whose rows and planes follow each other without padding; 0 when format
 * or size are not possible
 *
 * Since: 0.1
 */
gsize
sl_frame_packed_size (const char *format, guint width, guint height)
{
  SlImageInfo info;
  gsize bytes = 0;
  g_return_val_if_fail (format != NULL, 0);
  if (find_info (format, width, height, &info, NULL) == NULL)
    return 0;
  for (guint p = 0; p < (guint) sl_pixel_format_planes (info.format); p++)
    bytes += plane_bytes (&info, p);
  return bytes;
}

/* What nothing states follows the convention of players. Gray pictures use all codes. */
static void
apply_colorimetry (SlFrame *frame)
{
  static const SlMatrix matrices[] = { [SL_FRAME_MATRIX_BT601] = SL_MATRIX_BT601,
                                       [SL_FRAME_MATRIX_BT709] = SL_MATRIX_BT709,
                                       [SL_FRAME_MATRIX_BT2020] = SL_MATRIX_BT2020 };
  if (frame->matrix == SL_FRAME_MATRIX_AUTO)
    frame->info.matrix = sl_matrix_of_height (frame->info.height);
  else
    frame->info.matrix = matrices[frame->matrix];
  frame->info.full_range = frame->full_range || frame->info.format == SL_PIXEL_GRAY8;
}

static SlFrame *
new_frame (const char *name, const SlImageInfo *info, const SlImage *image, GBytes *data)
{
  SlFrame *frame = g_new0 (SlFrame, 1);
  g_atomic_ref_count_init (&frame->refs);
  frame->format = name;
  frame->data = data != NULL ? g_bytes_ref (data) : NULL;
  frame->info = *info;
  frame->image = *image;
  frame->timestamp = G_MAXUINT64;
  apply_colorimetry (frame);
  return frame;
}

/**
 * sl_frame_new: (constructor)
 * @format: name of the pixel format as GStreamer has it, such as "NV12", "RGB" or "GRAY8"; see
 * sl_frame_dup_formats()
 * @width: pixels, 1..32768
 * @height: pixels, 1..32768
 * @data: the pixels: rows and planes follow each other without padding, exactly
 * sl_frame_packed_size() bytes
 * @error: where an error goes
 *
 * Rows with padding at their ends are for sl_frame_new_with_layout(). The bytes are not copied.
 *
 * Returns: (transfer full): %NULL with @error set when the format is unknown, a size is out of
 * range, or the data has another size
 *
 * Since: 0.1
 */
SlFrame *
sl_frame_new (const char *format, guint width, guint height, GBytes *data, GError **error)
{
  SlImageInfo info;
  SlImage image = { 0 };
  gsize given;
  g_return_val_if_fail (format != NULL && data != NULL, NULL);
  const char *name = find_info (format, width, height, &info, error);
  if (name == NULL)
    return NULL;
  const gsize wanted = sl_frame_packed_size (format, width, height);
  const guint8 *at = g_bytes_get_data (data, &given);
  if (given != wanted)
    return sl_fail_null (error, SL_ERROR_SHAPE,
                         "frame %s %ux%u: expected %" G_GSIZE_FORMAT
                         " bytes (rows of %" G_GSIZE_FORMAT
                         " bytes without padding), got %" G_GSIZE_FORMAT
                         ": correct format and size, or give offsets and strides",
                         format, width, height, wanted, sl_image_row_bytes (&info, 0), given);
  for (guint p = 0; p < (guint) sl_pixel_format_planes (info.format); p++) {
    image.plane[p] = at;
    image.stride[p] = (ptrdiff_t) sl_image_row_bytes (&info, (int) p);
    at += plane_bytes (&info, p);
  }
  return new_frame (name, &info, &image, data);
}

static gboolean
check_plane_count (const char *name, const SlImageInfo *info, guint n_planes, GError **error)
{
  const guint wanted = (guint) sl_pixel_format_planes (info->format);
  if (n_planes == wanted)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT, "frame %s: expected %u plane%s, got %u", name, wanted,
                  wanted > 1 ? "s" : "", n_planes);
}

/* Whether all rows lie in their memory; the first plane that does not is named. */
static gboolean
check_extent (const char *name, const SlImageInfo *info, const SlImage *image,
              const SlMemory memory[MAX_PLANES], GError **error)
{
  const SlImageStatus status = sl_image_check (info, image, memory);
  if (status == SL_IMAGE_OK)
    return TRUE;
  guint bad = 0;
  for (; bad + 1 < (guint) sl_pixel_format_planes (info->format); bad++) {
    SlMemory one[MAX_PLANES];
    for (guint p = 0; p < MAX_PLANES; p++)
      one[p] = p == bad ? memory[p] : (SlMemory){ NULL, SIZE_MAX };
    if (sl_image_check (info, image, one) != SL_IMAGE_OK)
      break;
  }
  return sl_fail (error, SL_ERROR_SHAPE,
                  "frame %s %dx%d: plane %u has %d rows of %" G_GSIZE_FORMAT
                  " bytes, %td bytes from one to the next, but %s (%" G_GSIZE_FORMAT
                  " bytes given)",
                  name, info->width, info->height, bad, sl_image_plane_rows (info, (int) bad),
                  sl_image_row_bytes (info, (int) bad), image->stride[bad],
                  sl_image_status_text (status), memory[bad].size);
}

/**
 * sl_frame_new_with_layout: (constructor)
 * @format: name of the pixel format, see sl_frame_new()
 * @width: pixels, 1..32768
 * @height: pixels, 1..32768
 * @data: memory that all planes lie in
 * @offsets: (array length=n_planes): byte in @data at which each plane's first row starts
 * @strides: (array length=n_planes): bytes from each row of a plane to the next; below 0 for
 * pictures that are stored upside down
 * @n_planes: number of the format's planes, 1..3
 * @error: where an error goes
 *
 * A frame with padding between rows or planes. The bytes are not copied.
 *
 * Returns: (transfer full): %NULL with @error set as for sl_frame_new(), or when a row is not
 * inside @data
 *
 * Since: 0.1
 */
SlFrame *
sl_frame_new_with_layout (const char *format, guint width, guint height, GBytes *data,
                          const gsize *offsets, const gssize *strides, guint n_planes,
                          GError **error)
{
  SlImageInfo info;
  SlImage image = { 0 };
  SlMemory memory[MAX_PLANES] = { { NULL, 0 } };
  gsize size;
  g_return_val_if_fail (format != NULL && data != NULL && offsets != NULL && strides != NULL, NULL);
  const char *name = find_info (format, width, height, &info, error);
  if (name == NULL || !check_plane_count (name, &info, n_planes, error))
    return NULL;
  const guint8 *start = g_bytes_get_data (data, &size);
  for (guint p = 0; p < n_planes; p++) {
    if (offsets[p] > size)
      return sl_fail_null (error, SL_ERROR_SHAPE,
                           "frame %s %ux%u: plane %u starts at byte %" G_GSIZE_FORMAT
                           ", but there are only %" G_GSIZE_FORMAT,
                           name, width, height, p, offsets[p], size);
    image.plane[p] = start + offsets[p];
    image.stride[p] = strides[p];
    memory[p] = (SlMemory){ start, size };
  }
  return check_extent (name, &info, &image, memory, error) ? new_frame (name, &info, &image, data)
                                                           : NULL;
}

/**
 * sl_frame_new_for_planes: (skip)
 * @format: name of the pixel format, see sl_frame_new()
 * @width: pixels, 1..32768
 * @height: pixels, 1..32768
 * @planes: first row of each plane, @n_planes of them
 * @strides: bytes from each row of a plane to the next, 0 or above
 * @sizes: bytes that may be read from each plane's first row on
 * @n_planes: number of the format's planes, 1..3
 * @error: where an error goes
 *
 * A frame in memory of the caller's, who keeps it alive and unchanged as long as the frame is used:
 * until sl_predictor_predict() returns, or sl_pipeline_push_frame(), which copies it.
 *
 * Returns: (transfer full): %NULL with @error set as for sl_frame_new_with_layout()
 *
 * Since: 0.1
 */
SlFrame *
sl_frame_new_for_planes (const char *format, guint width, guint height, const guint8 *const *planes,
                         const gssize *strides, const gsize *sizes, guint n_planes, GError **error)
{
  SlImageInfo info;
  SlImage image = { 0 };
  SlMemory memory[MAX_PLANES] = { { NULL, 0 } };
  g_return_val_if_fail (format != NULL && planes != NULL && strides != NULL && sizes != NULL, NULL);
  const char *name = find_info (format, width, height, &info, error);
  if (name == NULL || !check_plane_count (name, &info, n_planes, error))
    return NULL;
  for (guint p = 0; p < n_planes; p++) {
    g_return_val_if_fail (planes[p] != NULL, NULL);
    image.plane[p] = planes[p];
    image.stride[p] = strides[p];
    memory[p] = (SlMemory){ planes[p], sizes[p] };
  }
  return check_extent (name, &info, &image, memory, error) ? new_frame (name, &info, &image, NULL)
                                                           : NULL;
}

/**
 * sl_frame_ref:
 * @frame: a frame
 *
 * Takes a reference to the frame.
 *
 * Returns: (transfer full): @frame
 *
 * Since: 0.1
 */
SlFrame *
sl_frame_ref (SlFrame *frame)
{
  g_return_val_if_fail (frame != NULL, NULL);
  g_atomic_ref_count_inc (&frame->refs);
  return frame;
}

/**
 * sl_frame_unref:
 * @frame: (transfer full): a frame
 *
 * Drops a reference to the frame; the last one frees it.
 *
 * Since: 0.1
 */
void
sl_frame_unref (SlFrame *frame)
{
  g_return_if_fail (frame != NULL);
  if (!g_atomic_ref_count_dec (&frame->refs))
    return;
  g_clear_pointer (&frame->data, g_bytes_unref);
  g_free (frame);
}

/**
 * sl_frame_set_colorimetry:
 * @frame: a frame that nothing uses yet
 * @matrix: the colour matrix
 * @full_range: whether samples range over 0..255, as in JPEG pictures, and not over 16..235, as in
 * video
 *
 * For YUV formats; RGB and gray need none. Default: %SL_FRAME_MATRIX_AUTO, limited range.
 *
 * Since: 0.1
 */
void
sl_frame_set_colorimetry (SlFrame *frame, SlFrameMatrix matrix, gboolean full_range)
{
  g_return_if_fail (frame != NULL && matrix <= SL_FRAME_MATRIX_BT2020);
  frame->matrix = matrix;
  frame->full_range = full_range != FALSE;
  apply_colorimetry (frame);
}

/**
 * sl_frame_set_timestamp:
 * @frame: a frame that nothing uses yet
 * @timestamp: nanoseconds since the start of the stream; %G_MAXUINT64 = unknown, the default
 *
 * The predictions of the frame get the same timestamp.
 *
 * Since: 0.1
 */
void
sl_frame_set_timestamp (SlFrame *frame, guint64 timestamp)
{
  g_return_if_fail (frame != NULL);
  frame->timestamp = timestamp;
}

/**
 * sl_frame_get_format:
 * @frame: a frame
 *
 * Gets the frame's pixel format by GStreamer's name.
 *
 * Returns: (transfer none): name of its pixel format
 *
 * Since: 0.1
 */
const char *
sl_frame_get_format (const SlFrame *frame)
{
  g_return_val_if_fail (frame != NULL, NULL);
  return frame->format;
}

/**
 * sl_frame_get_width:
 * @frame: a frame
 *
 * Gets the frame's width.
 *
 * Returns: pixels
 *
 * Since: 0.1
 */
guint
sl_frame_get_width (const SlFrame *frame)
{
  g_return_val_if_fail (frame != NULL, 0);
  return (guint) frame->info.width;
}

/**
 * sl_frame_get_height:
 * @frame: a frame
 *
 * Gets the frame's height.
 *
 * Returns: pixels
 *
 * Since: 0.1
 */
guint
sl_frame_get_height (const SlFrame *frame)
{
  g_return_val_if_fail (frame != NULL, 0);
  return (guint) frame->info.height;
}

/**
 * sl_frame_get_timestamp:
 * @frame: a frame
 *
 * Gets the time that the frame was given.
 *
 * Returns: nanoseconds, %G_MAXUINT64 = unknown
 *
 * Since: 0.1
 */
guint64
sl_frame_get_timestamp (const SlFrame *frame)
{
  g_return_val_if_fail (frame != NULL, G_MAXUINT64);
  return frame->timestamp;
}

/**
 * sl_frame_get_matrix:
 * @frame: a frame
 *
 * Gets how YUV samples become RGB.
 *
 * Returns: the colour matrix set
 *
 * Since: 0.1
 */
SlFrameMatrix
sl_frame_get_matrix (const SlFrame *frame)
{
  g_return_val_if_fail (frame != NULL, SL_FRAME_MATRIX_AUTO);
  return frame->matrix;
}

/**
 * sl_frame_get_full_range:
 * @frame: a frame
 *
 * Tells full-range samples from those of video, whose luma is in 16..235.
 *
 * Returns: whether samples range over 0..255
 *
 * Since: 0.1
 */
gboolean
sl_frame_get_full_range (const SlFrame *frame)
{
  g_return_val_if_fail (frame != NULL, FALSE);
  return frame->full_range;
}

/**
 * sl_frame_get_n_planes:
 * @frame: a frame
 *
 * Counts the planes that the samples lie in.
 *
 * Returns: number of planes, 1..3
 *
 * Since: 0.1
 */
guint
sl_frame_get_n_planes (const SlFrame *frame)
{
  g_return_val_if_fail (frame != NULL, 0);
  return (guint) sl_pixel_format_planes (frame->info.format);
}

/**
 * sl_frame_get_plane: (skip)
 * @frame: a frame
 * @plane: 0 to sl_frame_get_n_planes() - 1
 * @stride: (out) (optional): bytes from one row to the next
 * @row_bytes: (out) (optional): bytes of a row that are pixels
 * @rows: (out) (optional): number of rows
 *
 * Gets the samples of a plane and how its rows lie.
 *
 * Returns: (transfer none): the first row
 *
 * Since: 0.1
 */
const guint8 *
sl_frame_get_plane (const SlFrame *frame, guint plane, gssize *stride, gsize *row_bytes,
                    guint *rows)
{
  g_return_val_if_fail (frame != NULL && plane < sl_frame_get_n_planes (frame), NULL);
  if (stride != NULL)
    *stride = frame->image.stride[plane];
  if (row_bytes != NULL)
    *row_bytes = sl_image_row_bytes (&frame->info, (int) plane);
  if (rows != NULL)
    *rows = (guint) sl_image_plane_rows (&frame->info, (int) plane);
  return frame->image.plane[plane];
}

/**
 * sl_frame_get_data:
 * @frame: a frame
 *
 * Gets the memory behind the frame, to read it without a copy.
 *
 * Returns: (transfer none) (nullable): the memory its planes lie in; %NULL for a frame of
 * sl_frame_new_for_planes()
 *
 * Since: 0.1
 */
GBytes *
sl_frame_get_data (const SlFrame *frame)
{
  g_return_val_if_fail (frame != NULL, NULL);
  return frame->data;
}

void
sl_frame_get_image (const SlFrame *frame, SlImageInfo *info, SlImage *image)
{
  g_return_if_fail (frame != NULL && info != NULL && image != NULL);
  *info = frame->info;
  *image = frame->image;
}
