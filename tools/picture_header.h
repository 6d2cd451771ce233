/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the kind and the size of a picture from the first bytes of its file, before a decoder
 * allocates memory for it.
 */
#pragma once

#include <glib.h>

typedef enum
{
  SL_PICTURE_OTHER, /* no picture, or of a kind that is not looked into */
  SL_PICTURE_PNG,
  SL_PICTURE_JPEG,
  SL_PICTURE_GIF,
  SL_PICTURE_TIFF,
  SL_PICTURE_WEBP,
  SL_PICTURE_BMP,
  SL_PICTURE_PNM
} SlPictureKind;

/**
 * SlPictureHeader:
 * @width, @height: in pixels; 0 = not stated where this looks; GIF: of the screen or of the largest
 * frame
 * @frames: GIF: how many there are
 * @bits: of a sample
 * @channels: of PNG and JPEG
 * @is_adobe: JPEG: Adobe's marker stands before the frame header
 * @moves: WebP: it has several frames
 * @is_float: TIFF: samples are floating-point or complex numbers
 */
typedef struct
{
  SlPictureKind kind;
  guint64 width, height;
  guint frames, bits, channels;
  gboolean is_adobe, moves, is_float;
} SlPictureHeader;

/** Pixels of a picture that is decoded; the cameras of phones make up to 200 million. */
#define SL_PICTURE_MAX_PIXELS 200000000

/** sl_picture_header_read: of the file @bytes, or its beginning; nothing that it says need be true.
 */
SlPictureHeader sl_picture_header_read (const guint8 *bytes, gsize n);
/** sl_picture_header_check: FALSE with @error set for a picture that is too large, or of a kind
 * that nothing here decodes. */
gboolean sl_picture_header_check (const SlPictureHeader *header, GError **error);
