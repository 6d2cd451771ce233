/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The running background of a camera that does not move: which small pixels of a frame differ from
 * it. A small pixel is the mean luma of 4x4 pixels. Each has a mean and a mean deviation, which
 * follow the picture; a change of exposure is taken out first.
 */
#pragma once

#include <glib.h>

/** Pixels of a small pixel's side. */
#define SL_BACKGROUND_SCALE 4

/** One component of a mapped frame. @step: bytes from pixel to pixel; @stride: from row to row */
typedef struct
{
  const guint8 *data;
  gint width, height, step, stride;
} SlLuma;

/** @threshold: least difference in levels, 1..255; @learn: seconds until something that stands
 * still belongs to the background; @shadows: whether shadows count as changes */
typedef struct
{
  gdouble threshold, learn;
  gboolean shadows;
} SlBackgroundSettings;

/** Values of SlBackground.changed. */
enum
{
  SL_PIXEL_SAME,
  SL_PIXEL_CHANGED,
  SL_PIXEL_SHADOW, /* darker, with the texture of the background */
  SL_PIXEL_EDGE    /* of a shadow */
};

typedef enum
{
  SL_BACKGROUND_LEARNT, /* a first frame, or one of another size: nothing to compare with */
  SL_BACKGROUND_COMPARED,
  SL_BACKGROUND_RELEARNT /* most of the picture changed at once, as when a light is switched on */
} SlBackgroundResult;

/** Zeroed at first. @width, @height: in small pixels; @changed: one byte each, row by row */
typedef struct
{
  gint width, height;
  guint8 *changed;
  /*< private >*/
  guint8 *now;
  gint16 *mean, *deviation; /* in 1/128 of a level */
  gboolean learnt;
} SlBackground;

void sl_background_clear (SlBackground *background);
/** sl_background_forget: the next frame is a first one. */
void sl_background_forget (SlBackground *background);
/** sl_background_see: compares @luma with the background and then learns from it. @seconds: since
 * the last frame. With less than 4x4 pixels there are no small ones. No memory is allocated unless
 * the size changes. */
SlBackgroundResult sl_background_see (SlBackground *background, const SlLuma *luma,
                                      const SlBackgroundSettings *settings, gdouble seconds);
