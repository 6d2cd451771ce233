/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Definitions of a picture for every folder: its limits, its layout in a tensor, and defaults. libc
 * only.
 */
#pragma once

#include <stdbool.h>

/** SL_MAX_SIDE: most pixels of a side of a frame, a picture or a tensor made of one; the least
 * is 1. */
#define SL_MAX_SIDE 32768
/** SL_MAX_SIDE_TEXT: the same number in messages. */
#define SL_MAX_SIDE_TEXT SL_PICTURE_TEXT (SL_MAX_SIDE)

#define SL_PICTURE_TEXT(number) SL_PICTURE_TEXT_OF (number)
#define SL_PICTURE_TEXT_OF(number) #number

/** SlColour: the channels of a tensor that is made of a picture, and their order. */
typedef enum
{
  SL_COLOUR_RGB,
  SL_COLOUR_BGR,
  SL_COLOUR_GRAY
} SlColour;
#define SL_N_COLOURS 3
#define SL_COLOUR_NAMES "RGB, BGR or GRAY"

/** SlLayout: the order of its dimensions. */
typedef enum
{
  SL_LAYOUT_NHWC,
  SL_LAYOUT_NCHW
} SlLayout;
#define SL_N_LAYOUTS 2
#define SL_LAYOUT_NAMES "NHWC or NCHW"

/** SlFit: how a frame fills it. */
typedef enum
{
  SL_FIT_STRETCH,   /* the whole frame, aspect ratio not kept */
  SL_FIT_LETTERBOX, /* the whole frame, aspect ratio kept, with borders */
  SL_FIT_CROP       /* the largest centred part of the frame with the tensor's aspect ratio */
} SlFit;
#define SL_N_FITS 3
#define SL_FIT_NAMES "stretch, letterbox or crop"

/** SL_LEAST_SHARE: the least share of a side that a crop may keep. */
#define SL_LEAST_SHARE 0.01

/** SlPictureWord: name of a value of an enumeration above, in properties, options and files, and
 * its description. */
typedef struct
{
  const char *name, *meaning;
} SlPictureWord;

extern const SlPictureWord sl_colour_words[SL_N_COLOURS];
extern const SlPictureWord sl_layout_words[SL_N_LAYOUTS];
extern const SlPictureWord sl_fit_words[SL_N_FITS];

/** sl_*_name: "unknown" for a value outside of the enumeration. */
const char *sl_colour_name (SlColour colour);
const char *sl_layout_name (SlLayout layout);
const char *sl_fit_name (SlFit fit);
/** sl_*_from_name: false when @name (nullable) is none of the names above, in whatever case. */
bool sl_colour_from_name (const char *name, SlColour *colour);
bool sl_layout_from_name (const char *name, SlLayout *layout);
bool sl_fit_from_name (const char *name, SlFit *fit);

/** Kr and Kb of the luma equation: BT.601 (0.299, 0.114), BT.709 (0.2126, 0.0722), BT.2020 (0.2627,
 * 0.0593). */
typedef enum
{
  SL_MATRIX_BT601,
  SL_MATRIX_BT709,
  SL_MATRIX_BT2020
} SlMatrix;

/** sl_matrix_of_height: the default matrix of a picture: BT.601 up to 576 rows, which is standard
 * definition, BT.709 above, as in players and GStreamer. */
SlMatrix sl_matrix_of_height (int height);
