/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files, texts and launch lines as descriptions. Invariant: @description was made with the current
 * @parameters. */
#include "pipelines/embed/recipe.h"

#include "pipelines/description/substitute.h"

struct _SlRecipe
{
  char *path, *text; /* one of them */
  GHashTable *parameters;
  SlDescription *description;
};

/* A launch line as a description; parameters that are set are declared. */
static char *
describe_line (const SlRecipe *recipe)
{
  GString *text = g_string_new ("[pipeline]\nlaunch=");
  GHashTableIter names;
  gpointer name;
  for (const char *c = recipe->text; *c != '\0'; c++)
    g_string_append_c (text, *c == '\n' || *c == '\r' ? ' ' : *c);
  g_string_append (text, "\n[parameters]\n");
  g_hash_table_iter_init (&names, recipe->parameters);
  while (g_hash_table_iter_next (&names, &name, NULL))
    if (sl_parameter_name_valid (name))
      g_string_append_printf (text, "%s=\n", (const char *) name);
  return g_string_free (text, FALSE);
}

static gboolean
read_description (SlRecipe *recipe, GError **error)
{
  SlDescription *description;
  if (recipe->path != NULL) {
    description = sl_description_load (recipe->path, recipe->parameters, error);
  } else {
    const gboolean whole = recipe->text[0] == '[';
    g_autofree char *text = whole ? g_strdup (recipe->text) : describe_line (recipe);
    description = sl_description_new_from_string (text, -1, whole ? "description" : "launch line",
                                                  recipe->parameters, error);
  }
  if (description == NULL)
    return FALSE;
  g_clear_pointer (&recipe->description, sl_description_free);
  recipe->description = description;
  return TRUE;
}

SlRecipe *
sl_recipe_new (const char *path, const char *text, GHashTable *parameters, GError **error)
{
  g_autoptr (SlRecipe) recipe = g_new0 (SlRecipe, 1);
  GHashTableIter entries;
  gpointer name, value;
  recipe->path = g_strdup (path);
  recipe->text = g_strdup (text);
  recipe->parameters = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (parameters != NULL) {
    g_hash_table_iter_init (&entries, parameters);
    while (g_hash_table_iter_next (&entries, &name, &value))
      g_hash_table_replace (recipe->parameters, g_strdup (name), g_strdup (value));
  }
  return read_description (recipe, error) ? g_steal_pointer (&recipe) : NULL;
}

void
sl_recipe_free (SlRecipe *recipe)
{
  if (recipe == NULL)
    return;
  g_clear_pointer (&recipe->description, sl_description_free);
  g_hash_table_unref (recipe->parameters);
  g_free (recipe->path);
  g_free (recipe->text);
  g_free (recipe);
}

gboolean
sl_recipe_set (SlRecipe *recipe, const char *name, const char *value, GError **error)
{
  char *before = g_strdup (g_hash_table_lookup (recipe->parameters, name));
  g_hash_table_replace (recipe->parameters, g_strdup (name), g_strdup (value));
  if (read_description (recipe, error)) {
    g_free (before);
    return TRUE;
  }
  if (before != NULL)
    g_hash_table_replace (recipe->parameters, g_strdup (name), before);
  else
    g_hash_table_remove (recipe->parameters, name);
  return FALSE;
}

const SlDescription *
sl_recipe_description (const SlRecipe *recipe)
{
  return recipe->description;
}
