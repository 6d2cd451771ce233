/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Classes of characters that tokenizers name, by GLib's Unicode tables. */
#pragma once

#include <glib.h>

/** sl_is_white: the property White_Space. */
gboolean sl_is_white (gunichar c);
/** sl_is_punctuation: ASCII punctuation, and the categories P of Unicode. */
gboolean sl_is_punctuation (gunichar c);
/** sl_is_number: the categories N. */
gboolean sl_is_number (gunichar c);
/** sl_is_word: \w of regular expressions. */
gboolean sl_is_word (gunichar c);
/** sl_is_mark: the categories M; combining characters. */
gboolean sl_is_mark (gunichar c);
/** sl_is_extending: marks, joiners and modifiers, which belong to the character before. */
gboolean sl_is_extending (gunichar c);
/** sl_is_chinese: the blocks of ideographs that BERT separates. */
gboolean sl_is_chinese (gunichar c);
/** sl_is_dropped: control and format characters, which BERT drops; not tabs and line ends. */
gboolean sl_is_dropped (gunichar c);
