/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every folder means by a picture: its limits. libc only.
 */
#ifndef SL_BASE_PICTURE_H
#define SL_BASE_PICTURE_H

/** SL_MAX_SIDE: most pixels of a side of a frame, a picture or a tensor made of one; the least is 1. */
#define SL_MAX_SIDE 32768
/** SL_MAX_SIDE_TEXT: the same number in messages. */
#define SL_MAX_SIDE_TEXT SL_PICTURE_TEXT (SL_MAX_SIDE)

#define SL_PICTURE_TEXT(number) SL_PICTURE_TEXT_OF (number)
#define SL_PICTURE_TEXT_OF(number) #number

#endif
