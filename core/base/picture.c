/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words for pictures, and conventions. Words are compared as ASCII, in any locale. */
#include "core/base/picture.h"

#include <stddef.h>

#define STANDARD_DEFINITION_ROWS 576

const SlPictureWord sl_colour_words[SL_N_COLOURS] = {
  [SL_COLOUR_RGB] = { "RGB", "Red, green, blue" },
  [SL_COLOUR_BGR] = { "BGR", "Blue, green, red" },
  [SL_COLOUR_GRAY] = { "GRAY", "One channel of luma" },
};

const SlPictureWord sl_layout_words[SL_N_LAYOUTS] = {
  [SL_LAYOUT_NHWC] = { "NHWC", "Channels of a pixel together (TensorFlow)" },
  [SL_LAYOUT_NCHW] = { "NCHW", "One plane a channel (PyTorch)" },
};

const SlPictureWord sl_fit_words[SL_N_FITS] = {
  [SL_FIT_STRETCH] = { "stretch", "The whole frame, aspect ratio not kept" },
  [SL_FIT_LETTERBOX] = { "letterbox", "The whole frame, aspect ratio kept, borders added" },
  [SL_FIT_CROP] = { "crop", "The largest centred part with the aspect ratio of the result" },
};

static char
lower (char c)
{
  return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

static bool
same_word (const char *a, const char *b)
{
  while (*a != '\0' && lower (*a) == lower (*b)) {
    a++;
    b++;
  }
  return *a == '\0' && *b == '\0';
}

static const char *
name_of (const SlPictureWord *words, unsigned int n, unsigned int value)
{
  return value < n ? words[value].name : "unknown";
}

/* -1 when there is none. */
static int
value_of (const SlPictureWord *words, int n, const char *name)
{
  for (int i = 0; i < n && name != NULL; i++)
    if (same_word (words[i].name, name))
      return i;
  return -1;
}

const char *
sl_colour_name (SlColour colour)
{
  return name_of (sl_colour_words, SL_N_COLOURS, colour);
}

const char *
sl_layout_name (SlLayout layout)
{
  return name_of (sl_layout_words, SL_N_LAYOUTS, layout);
}

const char *
sl_fit_name (SlFit fit)
{
  return name_of (sl_fit_words, SL_N_FITS, fit);
}

bool
sl_colour_from_name (const char *name, SlColour *colour)
{
  const int found = value_of (sl_colour_words, SL_N_COLOURS, name);
  if (found >= 0)
    *colour = (SlColour) found;
  return found >= 0;
}

bool
sl_layout_from_name (const char *name, SlLayout *layout)
{
  const int found = value_of (sl_layout_words, SL_N_LAYOUTS, name);
  if (found >= 0)
    *layout = (SlLayout) found;
  return found >= 0;
}

bool
sl_fit_from_name (const char *name, SlFit *fit)
{
  const int found = value_of (sl_fit_words, SL_N_FITS, name);
  if (found >= 0)
    *fit = (SlFit) found;
  return found >= 0;
}

SlMatrix
sl_matrix_of_height (int height)
{
  return height <= STANDARD_DEFINITION_ROWS ? SL_MATRIX_BT601 : SL_MATRIX_BT709;
}
