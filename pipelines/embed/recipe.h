/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlRecipe: where an SlPipeline's description comes from, with the parameters that the application
 * gave; one thread at a time.
 */
#pragma once

#include "pipelines/description/description.h"

typedef struct _SlRecipe SlRecipe;

/** sl_recipe_new: reads the file @path, or @text when that is NULL: a description when it begins
 * with "[", else a launch line, whose parameters are those given. @parameters: (nullable)
 * (element-type utf8 utf8). */
SlRecipe *sl_recipe_new (const char *path, const char *text, GHashTable *parameters,
                         GError **error);
void sl_recipe_free (SlRecipe *recipe);
/** sl_recipe_set: reads it again with another value; FALSE with @error set, and nothing changed,
 * when that does not suit. */
gboolean sl_recipe_set (SlRecipe *recipe, const char *name, const char *value, GError **error);
/** sl_recipe_description: (transfer none): until the next change. */
const SlDescription *sl_recipe_description (const SlRecipe *recipe);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRecipe, sl_recipe_free)
