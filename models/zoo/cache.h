/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Models of the zoo that are on this machine: FOLDER/NAME/ has the model, its key file, its labels
 * and the row that it was fetched by. A folder appears there as a whole.
 */
#pragma once

#include "models/zoo/row.h"

/** The row in a model's folder. */
#define SL_ZOO_CACHED_ROW "zoo.ini"

/** sl_zoo_cache: (transfer full): the folder of models: sightline/zoo in the user's cache. */
char *sl_zoo_cache (void);
/** sl_zoo_cached_row: (nullable): the row by which model @name was fetched; NULL where it is not
 * here. */
SlZooRow *sl_zoo_cached_row (const char *name);
/** sl_zoo_find: (transfer full): the path of the model "zoo:NAME", @model. Nothing is downloaded:
 * SL_ERROR_OPEN where it is not here, SL_ERROR_ARGUMENT where no row has that name. */
char *sl_zoo_find (const char *model, GError **error);
