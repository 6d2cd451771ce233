/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading by zxing-cpp. Formats are asked for by name, so that a library that knows one more reads
 * it, and one that lacks it is none the worse. The library throws; nothing leaves this file but
 * answers.
 */
#include <glib.h>

extern "C" {
#include "postprocess/read/zxing/protocol.h"
}

#define ZX_USE_UTF8 /* asks version 1 for texts as later ones give them */
#include <ZXing/ReadBarcode.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#if __has_include(<ZXing/ReaderOptions.h>)
#define HAVE_READER_OPTIONS
#endif

/* Lines that must agree on a linear code, and on one that nothing checks, and the least length of
 * that: parts of ITF pass for all of it. */
#define MIN_LINES 2
#define MIN_SURE_LINES 4
#define MIN_LENGTH 4
/* Codes of one picture that are looked for: those in the margin are others', and may come first. */
#define MAX_SYMBOLS 8

namespace {

const struct
{
  const char *format;
  guint kind;
  bool is_checked;
} symbologies[] = {
#define ROW(format, name, kind, is_checked) { format, kind, is_checked != FALSE },
  SL_ZXING_SYMBOLOGIES (ROW)
#undef ROW
};

/* Before version 2.2 options were hints, and a text was what later is a plain one. */
#ifdef HAVE_READER_OPTIONS
using Options = ZXing::ReaderOptions;
void
set_since_options (Options &options)
{
  options.setTryInvert (false);
  options.setTextMode (ZXing::TextMode::Plain);
}
#else
using Options = ZXing::DecodeHints;
void
set_since_options (Options &)
{
}
#endif

/* None of what the library does not know; some versions throw then. DataBar ends version 1 by an
 * assertion when it is on two lines of a picture. */
ZXing::BarcodeFormat
find_format (const std::string &name)
{
#ifndef HAVE_READER_OPTIONS
  if (name.find ("DataBar") == 0)
    return ZXing::BarcodeFormat::None;
#endif
  try {
    return ZXing::BarcodeFormatFromString (name);
  } catch (...) {
    return ZXing::BarcodeFormat::None;
  }
}

} // namespace

struct _SlZxing
{
  ZXing::BarcodeFormat formats[G_N_ELEMENTS (symbologies)];
  Options options;
};

namespace {

/* By their names, all of which the library knows; "" = none. */
std::string
choose_formats (const SlZxing &zxing, guint kinds)
{
  std::string names;
  for (guint i = 0; i < G_N_ELEMENTS (symbologies); i++)
    if ((symbologies[i].kind & kinds) != 0 && zxing.formats[i] != ZXing::BarcodeFormat::None)
      names.append (names.empty () ? "" : ",").append (symbologies[i].format);
  return names;
}

/* -1 of a format that was not asked for. */
gint
find_row (const SlZxing &zxing, ZXing::BarcodeFormat format)
{
  for (guint i = 0; i < G_N_ELEMENTS (symbologies); i++)
    if (zxing.formats[i] == format && format != ZXing::BarcodeFormat::None)
      return static_cast<gint> (i);
  return -1;
}

/* Bytes as they stand in the code, as of any reader; where the code itself says in what character
 * set, as UTF-8. */
template <typename Found>
std::string
take_bytes (const Found &found)
{
  const auto type = found.contentType ();
  if (found.hasECI () && type != ZXing::ContentType::Binary
      && type != ZXing::ContentType::UnknownECI)
    return found.text ();
  return std::string (found.bytes ().begin (), found.bytes ().end ());
}

/* Whether the code is the object's, by its middle; of bars by one of a few places across them,
 * since equal codes that lie near are one, with the lines of both. */
bool
is_in_box (const SlZxingAnswer &answer, const SlReadHow *how)
{
  const bool bars = symbologies[answer.row].kind == SL_READ_LINEAR;
  const auto &c = answer.corners;
  for (double at = bars ? 0.1 : 0.5; at < (bars ? 1 : 0.6); at += 0.2) {
    const double x = (c[0][0] + c[1][0]) / 2 * (1 - at) + (c[2][0] + c[3][0]) / 2 * at;
    const double y = (c[0][1] + c[1][1]) / 2 * (1 - at) + (c[2][1] + c[3][1]) / 2 * at;
    if (sl_read_is_inside (how, x, y))
      return true;
  }
  return false;
}

/* Whether it counts, and is the object's; then @answer is filled. */
template <typename Found>
bool
take_code (const SlZxing &zxing, const Found &found, const SlReadHow *how, SlZxingAnswer &answer,
           std::string &bytes)
{
  answer.row = found.isValid () ? find_row (zxing, found.format ()) : -1;
  if (answer.row < 0)
    return false;
  bytes = take_bytes (found);
  if (bytes.empty () || bytes.size () > SL_READ_MAX_BYTES)
    return false;
  if (!symbologies[answer.row].is_checked
      && (bytes.size () < MIN_LENGTH || found.lineCount () < MIN_SURE_LINES))
    return false;
  for (int i = 0; i < 4; i++) {
    answer.corners[i][0] = found.position ()[i].x;
    answer.corners[i][1] = found.position ()[i].y;
  }
  answer.quality = MAX (found.lineCount (), 1);
  answer.n_bytes = static_cast<guint> (bytes.size ());
  return is_in_box (answer, how);
}

bool
is_better (const SlZxingAnswer &answer, const SlZxingAnswer &best)
{
  const bool is_checked = symbologies[answer.row].is_checked,
             was_checked = symbologies[best.row].is_checked;
  return is_checked != was_checked ? is_checked : answer.quality > best.quality;
}

void
scan (SlZxing &zxing, const SlGray *picture, const SlReadHow *how, SlZxingAnswer &best,
      guint8 *best_bytes)
{
  const std::string formats = choose_formats (zxing, how->kinds);
  if (formats.empty ())
    return;
  zxing.options.setFormats (ZXing::BarcodeFormatsFromString (formats));
  zxing.options.setTryHarder (how->step == 1);
  zxing.options.setTryRotate (!how->upright);
  const ZXing::ImageView view (picture->pixels, picture->width, picture->height,
                               ZXing::ImageFormat::Lum);
  for (const auto &found : ZXing::ReadBarcodes (view, zxing.options)) {
    SlZxingAnswer answer = {};
    std::string bytes;
    if (!take_code (zxing, found, how, answer, bytes)
        || (best.row >= 0 && !is_better (answer, best)))
      continue;
    best = answer;
    memcpy (best_bytes, bytes.data (), bytes.size ());
  }
}

} // namespace

SlZxing *
sl_zxing_new (void)
{
  try {
    auto zxing = std::make_unique<SlZxing> ();
    for (guint i = 0; i < G_N_ELEMENTS (symbologies); i++)
      zxing->formats[i] = find_format (symbologies[i].format);
    zxing->options.setTryDownscale (false);
    zxing->options.setMinLineCount (MIN_LINES);
    zxing->options.setMaxNumberOfSymbols (MAX_SYMBOLS);
    set_since_options (zxing->options);
    return zxing.release ();
  } catch (...) {
    return nullptr;
  }
}

void
sl_zxing_free (SlZxing *zxing)
{
  delete zxing;
}

SlZxingAnswer
sl_zxing_scan (SlZxing *zxing, const SlGray *picture, const SlReadHow *how, guint8 *bytes)
{
  SlZxingAnswer best = {};
  best.row = -1;
  try {
    scan (*zxing, picture, how, best, bytes);
  } catch (...) {
    best.row = -1;
  }
  if (best.row < 0)
    best.n_bytes = 0;
  return best;
}
