/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares pictures of bars with the bars of texts, and reads the add-ons of EAN and UPC codes. */
#pragma once

#include "postprocess/read/reader.h"

/** sl_bars_fit: whether the bars in @part of @gray, which are upright, are those of the EAN-13 or
 * UPC-A code @text: no other digit fits better in the place of any of its digits. FALSE where @text
 * is not twelve or thirteen digits. */
gboolean sl_bars_fit (const SlGray *gray, const SlRect *part, const char *text);

/** sl_bars_add_on_room: how much of the width of a box must be visible on both sides of it, so that
 * an add-on is. */
double sl_bars_add_on_room (const char *symbology);
/** sl_bars_add_on: reads the two or five digits beside the EAN or UPC code @text.
 * @gray: upright bars, a box in the middle with sl_bars_add_on_room() on both sides
 * @symbology: "ean-13", "upc-a", "ean-8" or "upc-e"
 * @add_on: (out): digits; undefined where FALSE is returned
 *
 * FALSE where there is no add-on, or where rows do not agree on one. */
gboolean sl_bars_add_on (const SlGray *gray, const char *symbology, const char *text,
                         char add_on[SL_READ_MAX_ADD_ON + 1]);
