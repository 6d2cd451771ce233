/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What models need of a build, for core/base/build_selection.h: a line is a kind and a name, such
 * as "operator CONV_2D". The models are loaded here, so the list is what reading, rewriting and
 * decoding them took, and not a guess from their bytes.
 */
#include "tools/needs.h"

#include <stdio.h>

#include "config.h"
#include "core/backends/backend.h"
#include "core/base/fail.h"
#include "core/passes/prepare.h"
#include "core/runtime/session.h"
#include "tools/command.h"
#include "tools/contract_preview.h"

static void
need (GHashTable *needs, const char *kind, const char *name)
{
  g_hash_table_add (needs, g_strdup_printf ("%s %s", kind, name));
}

static gboolean
add_model (GHashTable *needs, const char *path, const SlModelOptions *options, GError **error)
{
  const SlModelLoadOptions how = sl_model_options_load (options, TRUE);
  g_autoptr (SlModel) model = sl_model_load_with (path, &options->settings, &how, error);
  if (model == NULL)
    return FALSE;
  SlGraph *graph = sl_model_graph (model);
  g_autoptr (SlSession) session = sl_session_new (
    graph, 1, error); /* starts the backends, which say what they support only then */
  if (session == NULL)
    return sl_fail_prefix (error, "%s: ", path);
  g_autofree const char **imports = sl_graph_imports (graph);
  need (needs, "reader", sl_model_format (model));
  for (guint i = 0; imports[i] != NULL; i++)
    need (needs, "onnx", imports[i]);
  for (guint i = 1; i < SL_OP_COUNT; i++)
    if (sl_graph_may_need (graph, (SlOpType) i) != NULL)
      need (needs, "operator", sl_graph_may_need (graph, (SlOpType) i));
  g_autofree const char **backends = sl_backends_for (graph);
  for (guint i = 0; backends[i] != NULL; i++)
    need (needs, "backend", backends[i]);
  g_autoptr (SlDecoding) decoding = sl_contract_open_decoding (sl_model_contract (model), NULL);
  if (decoding != NULL)
    need (needs, "decoder", sl_decoding_decoder (decoding)->name);
  return TRUE;
}

int
sl_print_needs (char **models, const SlModelOptions *options)
{
  g_autoptr (GHashTable) needs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; models[i] != NULL; i++) {
    g_autoptr (GError) error = NULL;
    if (!add_model (needs, models[i], options, &error))
      return sl_complain ("inspect", "%s", error->message);
  }
  need (needs, "version", SL_VERSION);
  g_autoptr (GList) lines = g_list_sort (g_hash_table_get_keys (needs), (GCompareFunc) g_strcmp0);
  for (const GList *line = lines; line != NULL; line = line->next)
    printf ("%s\n", (const char *) line->data);
  return SL_EXIT_OK;
}
