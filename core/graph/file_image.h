/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The bytes of a model file in anonymous memory. A mapping of the file would be cheaper, but a
 * program that overwrites or truncates a mapped file changes the weights of a running model, or
 * ends the process with SIGBUS.
 *
 * Weights that sessions have packed are not read again until the next session of that graph is
 * made, so their pages are given back to the system meanwhile and read from the file again when
 * needed, provided that the file is still the same. BatchNormalization is multiplied into weights
 * in place, so that no second copy is needed.
 */
#pragma once

#include <glib.h>
#include <sys/stat.h>

/**
 * SlFileStamp: tells files, and states of one file, apart without reading them.
 * @size: bytes
 * @written, @changed: last change of the content, and of content, name or permissions; nanoseconds
 * since 1970
 * @seen: when this was asked for
 */
typedef struct
{
  guint64 device, inode;
  gint64 size, written, changed, seen;
} SlFileStamp;

void sl_file_stamp_init (SlFileStamp *stamp, const struct stat *info);
/** sl_file_stamp_of: of an open file; FALSE when it has no state. */
gboolean sl_file_stamp_of (int fd, SlFileStamp *stamp);
/** sl_file_stamp_read: follows links; FALSE when there is no such file. */
gboolean sl_file_stamp_read (const char *path, SlFileStamp *stamp);
/** sl_file_stamp_same_content: the same file, and nothing was written to it; its name and
 * permissions may have changed. */
gboolean sl_file_stamp_same_content (const SlFileStamp *a, const SlFileStamp *b);

/** sl_file_stamp_is_fresh: whether the file had been written to a moment before, so that another
 * write may not show. */
gboolean sl_file_stamp_is_fresh (const SlFileStamp *stamp);

typedef struct _SlFileImage SlFileImage;

/**
 * sl_file_image_new:
 * @fd: (transfer full): a regular file, open for reading
 * @stamp: (out): the state of the file that was read
 *
 * Reads the whole file; twice when it is fresh, since its time of change cannot tell then whether
 * it was written to meanwhile.
 *
 * Returns: (transfer full): NULL with SL_ERROR_OPEN when the file was written to meanwhile (*@torn
 * is then TRUE) or cannot be
 *   read, and SL_ERROR_LIMIT when there is no memory
 */
SlFileImage *sl_file_image_new (int fd, SlFileStamp *stamp, gboolean *torn, GError **error);
SlFileImage *sl_file_image_ref (SlFileImage *image);
void sl_file_image_unref (SlFileImage *image);
/** sl_file_image_bytes: (transfer full): all bytes, as they have been multiplied; keeps the image
 * alive. SL_TENSOR_PADDING readable ones follow them. */
GBytes *sl_file_image_bytes (SlFileImage *image);

/** sl_file_image_holds: whether @data is a byte of the image. */
gboolean sl_file_image_holds (const SlFileImage *image, const void *data);
/**
 * sl_file_image_multiply:
 * @data: @n floats of the image
 * @by: @n_by factors, copied
 * @window: how many floats that follow each other have the same factor
 *
 * Multiplies float i by @by[i / @window % @n_by] where it is, and again whenever the bytes come
 * back from the file. One thread, while the graph is being made.
 *
 * Returns: FALSE, with nothing changed, when @data is not wholly in the image or not aligned
 */
gboolean sl_file_image_multiply (SlFileImage *image, const gfloat *data, gsize n, const gfloat *by,
                                 gsize n_by, gsize window);
/** sl_file_image_checksum: (transfer full): of the file that was read, in hexadecimal digits; any
 * thread. NULL with SL_ERROR_OPEN when it has changed since, or cannot be read. */
char *sl_file_image_checksum (SlFileImage *image, GChecksumType type, gsize *size, GError **error);

/** sl_file_image_use: bytes that are readable stay so until sl_file_image_done(), but for those
 * that this user spares and no other user is there; any thread, calls nest. */
void sl_file_image_use (SlFileImage *image);
/** sl_file_image_need: between these calls: makes the bytes readable until they are spared again.
 * Outside the image: ignored. FALSE with SL_ERROR_OPEN when pages were given back and the file has
 * changed since. */
gboolean sl_file_image_need (SlFileImage *image, const void *data, gsize bytes, GError **error);
/** sl_file_image_is_there: whether the bytes are readable; outside the image: TRUE. */
gboolean sl_file_image_is_there (SlFileImage *image, const void *data, gsize bytes);
/** sl_file_image_keep: between these calls: the bytes are read later, too. Outside the image:
 * ignored. */
void sl_file_image_keep (SlFileImage *image, const void *data, gsize bytes);
/** sl_file_image_spare: between these calls: nobody reads the bytes until the next
 * sl_file_image_need(). What has been asked to be kept is kept. Outside the image: ignored. */
void sl_file_image_spare (SlFileImage *image, const void *data, gsize bytes);
/** sl_file_image_spare_rest: the same of all bytes. */
void sl_file_image_spare_rest (SlFileImage *image);
void sl_file_image_done (SlFileImage *image);
/** sl_file_image_resident: bytes that are in memory. */
gsize sl_file_image_resident (SlFileImage *image);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlFileImage, sl_file_image_unref)
