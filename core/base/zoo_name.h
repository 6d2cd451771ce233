/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* "zoo:NAME" in place of a model's path: a model of the table in models/zoo/. */
#pragma once

#include <glib.h>

#define SL_ZOO_PREFIX "zoo:"

/** sl_zoo_name: (transfer none) (nullable): NAME of "zoo:NAME"; NULL where @model (nullable) is
 * a path. */
static inline const char *
sl_zoo_name (const char *model)
{
  return model != NULL && g_str_has_prefix (model, SL_ZOO_PREFIX) ? model + sizeof SL_ZOO_PREFIX - 1
                                                                  : NULL;
}
