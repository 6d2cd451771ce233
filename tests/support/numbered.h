/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures that say which one of a stream they are, so that a test can draw a decoded one again and
 * compare.
 */
#ifndef SL_TESTS_SUPPORT_NUMBERED_H
#define SL_TESTS_SUPPORT_NUMBERED_H

#include <glib.h>

/** Numbers are below that. */
#define NUMBERED_PICTURES 65536

/** NumberedPicture: planes Y, U and V of 4:2:0 with their strides; width and height are multiples
 * of 16. */
typedef struct
{
  guint8 *plane[3];
  gint stride[3];
  gint width, height;
} NumberedPicture;

/** numbered_paint: picture @number: its number as light and dark blocks, below them a pattern that
 * moves, in moving colours. */
void numbered_paint (const NumberedPicture *picture, guint number);
/** numbered_read: what the blocks say; any number for another picture. */
guint numbered_read (const NumberedPicture *picture);
/** numbered_psnr: dB, of all planes, between @picture and picture @number as it was painted. 100
 * where they are the same. */
double numbered_psnr (const NumberedPicture *picture, guint number);

#endif
