/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What clients of the console may do. */
#pragma once

#include <glib.h>

/** SlRole: each includes those before it. */
typedef enum
{
  SL_ROLE_NONE,     /* sees the page for logging in */
  SL_ROLE_LOOK,     /* sees pictures, predictions, figures and events */
  SL_ROLE_REVIEW,   /* keeps and deletes events */
  SL_ROLE_CONFIGURE /* changes zones and settings, reads the audit log */
} SlRole;

/** sl_role_name: "none", "look", "review" or "configure". */
const char *sl_role_name (SlRole role);
/** sl_role_parse: FALSE when @name is none of "look", "review" and "configure". */
gboolean sl_role_parse (const char *name, SlRole *role);
