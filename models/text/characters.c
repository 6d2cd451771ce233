/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Neighbouring categories of GLib's enumeration are compared as ranges. */
#include "models/text/characters.h"

typedef struct
{
  gunichar first, last;
} Range;

static gboolean
is_in (gunichar c, const Range *ranges, guint n)
{
  for (guint i = 0; i < n; i++)
    if (c >= ranges[i].first && c <= ranges[i].last)
      return TRUE;
  return FALSE;
}

static gboolean
is_type (gunichar c, GUnicodeType first, GUnicodeType last)
{
  const GUnicodeType type = g_unichar_type (c);
  return type >= first && type <= last;
}

gboolean
sl_is_white (gunichar c)
{
  static const Range ranges[] = { { 0x09, 0x0d },     { 0x20, 0x20 },     { 0x85, 0x85 },
                                  { 0xa0, 0xa0 },     { 0x1680, 0x1680 }, { 0x2000, 0x200a },
                                  { 0x2028, 0x2029 }, { 0x202f, 0x202f }, { 0x205f, 0x205f },
                                  { 0x3000, 0x3000 } };
  return is_in (c, ranges, G_N_ELEMENTS (ranges));
}

gboolean
sl_is_punctuation (gunichar c)
{
  if (c < 128)
    return g_ascii_ispunct ((char) c);
  return is_type (c, G_UNICODE_CONNECT_PUNCTUATION, G_UNICODE_OPEN_PUNCTUATION);
}

gboolean
sl_is_number (gunichar c)
{
  return is_type (c, G_UNICODE_DECIMAL_NUMBER, G_UNICODE_OTHER_NUMBER);
}

gboolean
sl_is_word (gunichar c)
{
  /* Circled and squared letters are symbols with the property Alphabetic. */
  static const Range others[] = { { 0x200c, 0x200d },
                                  { 0x24b6, 0x24e9 },
                                  { 0x1f130, 0x1f149 },
                                  { 0x1f150, 0x1f169 },
                                  { 0x1f170, 0x1f189 } };
  return is_type (c, G_UNICODE_LOWERCASE_LETTER, G_UNICODE_LETTER_NUMBER)
         || g_unichar_type (c) == G_UNICODE_CONNECT_PUNCTUATION
         || is_in (c, others, G_N_ELEMENTS (others));
}

gboolean
sl_is_mark (gunichar c)
{
  return is_type (c, G_UNICODE_SPACING_MARK, G_UNICODE_NON_SPACING_MARK);
}

gboolean
sl_is_extending (gunichar c)
{
  static const Range others[] = {
    { 0x200c, 0x200d }, { 0xff9e, 0xff9f }, { 0x1f3fb, 0x1f3ff }, { 0xe0020, 0xe007f }
  };
  return sl_is_mark (c) || is_in (c, others, G_N_ELEMENTS (others));
}

gboolean
sl_is_chinese (gunichar c)
{
  static const Range ranges[] = { { 0x4e00, 0x9fff },   { 0x3400, 0x4dbf },   { 0x20000, 0x2a6df },
                                  { 0x2a700, 0x2b73f }, { 0x2b740, 0x2b81f }, { 0x2b920, 0x2ceaf },
                                  { 0xf900, 0xfaff },   { 0x2f800, 0x2fa1f } };
  return is_in (c, ranges, G_N_ELEMENTS (ranges));
}

gboolean
sl_is_dropped (gunichar c)
{
  if (c == '\t' || c == '\n' || c == '\r')
    return FALSE;
  const GUnicodeType type = g_unichar_type (c);
  return c == 0xfffd || type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT
         || type == G_UNICODE_PRIVATE_USE;
}
