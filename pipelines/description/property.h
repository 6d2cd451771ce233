/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties from text. */
#pragma once

#include <glib-object.h>

/** sl_property_from_text: sets the property @name of @object from @text, as gst-launch reads it.
 * "a::b" is the property b of its child a. Values out of range are refused. Strings are used as
 * they are. FALSE with SL_ERROR_ARGUMENT; the message has type, range and text. */
gboolean sl_property_from_text (GObject *object, const char *name, const char *text,
                                GError **error);
/** sl_property_describe: (transfer full): the values that the property takes, such as "a number in
 * 0..1". */
char *sl_property_describe (GParamSpec *pspec);
