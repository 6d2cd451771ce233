/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a place in a long text begins with. g_str_has_prefix() of newer GLib measures all of the
 * text first, so a loop over the places of a text takes quadratic time.
 */
#pragma once

#include <glib.h>
#include <string.h>

/** sl_has_prefix: whether @text begins with @prefix. It reads no more of @text than that. */
static inline gboolean
sl_has_prefix (const char *text, const char *prefix)
{
  return strncmp (text, prefix, strlen (prefix)) == 0;
}
