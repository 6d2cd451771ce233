/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every folder means by a picture: its limits, and what holds where nothing is stated. libc only.
 */
#ifndef SL_BASE_PICTURE_H
#define SL_BASE_PICTURE_H

/** SL_MAX_SIDE: most pixels of a side of a frame, a picture or a tensor made of one; the least is 1. */
#define SL_MAX_SIDE 32768
/** SL_MAX_SIDE_TEXT: the same number in messages. */
#define SL_MAX_SIDE_TEXT SL_PICTURE_TEXT (SL_MAX_SIDE)

#define SL_PICTURE_TEXT(number) SL_PICTURE_TEXT_OF (number)
#define SL_PICTURE_TEXT_OF(number) #number

/** Kr and Kb of the luma equation: BT.601 (0.299, 0.114), BT.709 (0.2126, 0.0722), BT.2020 (0.2627, 0.0593). */
typedef enum
{
  SL_MATRIX_BT601,
  SL_MATRIX_BT709,
  SL_MATRIX_BT2020
} SlMatrix;

/** sl_matrix_of_height: the matrix of a picture whose maker states none: BT.601 up to 576 rows, which is standard definition, BT.709 above,
 *  as players and GStreamer have it. */
SlMatrix sl_matrix_of_height (int height);

#endif
