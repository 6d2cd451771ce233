/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/promises.h"

#include "pipelines/description/build.h"
#include "pipelines/description/element_names.h"
#include "tools/run/log.h"

/* The part of a promised rate that keeps the promise. */
#define KEPT 0.95
/* Microseconds between two looks. */
#define LOOK (5 * G_USEC_PER_SEC)
/* Looks in a row after which a promise counts as broken. */
#define LOOKS 2

struct _SlRunPromises
{
  gint64 next;
  GHashTable *broken; /* name of a model -> looks in a row at which its promise was broken */
};

gboolean
sl_promise_read (GstElement *infer, SlTurnFigures *figures)
{
  g_autoptr (GstStructure) budget = NULL;
  g_object_get (infer, "budget", &budget, NULL);
  return budget != NULL
         && gst_structure_get (budget, "promised", G_TYPE_DOUBLE, &figures->promised, "offered",
                               G_TYPE_DOUBLE, &figures->offered, "delivered", G_TYPE_DOUBLE,
                               &figures->delivered, "frames", G_TYPE_UINT64, &figures->frames,
                               "skipped", G_TYPE_UINT64, &figures->skipped, "cost", G_TYPE_INT64,
                               &figures->cost, "waited-p50", G_TYPE_INT64, &figures->waited_p50,
                               "waited-p99", G_TYPE_INT64, &figures->waited_p99, NULL);
}

char *
sl_promise_words (const SlTurnFigures *figures)
{
  const gdouble wanted = KEPT * figures->promised;
  if (figures->frames == 0 || figures->delivered >= wanted)
    return NULL;
  const gboolean camera =
    figures->offered < wanted && figures->delivered >= KEPT * figures->offered;
  return g_strdup_printf ("%s%.1f of %g frames a second",
                          camera ? "the camera sends less than is promised, " : "",
                          figures->delivered, figures->promised);
}

SlRunPromises *
sl_run_promises_new (void)
{
  SlRunPromises *promises = g_new0 (SlRunPromises, 1);
  promises->broken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return promises;
}

void
sl_run_promises_free (SlRunPromises *promises)
{
  g_hash_table_unref (promises->broken);
  g_free (promises);
}

/* @words: (nullable): what is broken */
static void
note (SlRunPromises *promises, const char *model, const char *words, const char *name)
{
  const guint before = GPOINTER_TO_UINT (g_hash_table_lookup (promises->broken, model));
  const guint looks = words != NULL ? MIN (before + 1, LOOKS) : 0;
  g_hash_table_replace (promises->broken, g_strdup (model), GUINT_TO_POINTER (looks));
  if (looks == LOOKS && before < LOOKS)
    sl_run_log (SL_LOG_WARNING, name, "promise", "%s: %s", model, words);
  else if (looks == 0 && before == LOOKS)
    sl_run_log (SL_LOG_INFO, name, "promise", "%s: the promised rate is kept again", model);
}

void
sl_run_promises_tick (SlRunPromises *promises, GstElement *pipeline, const char *name, gint64 since,
                      gint64 now)
{
  if (now < MAX (promises->next, since + LOOK))
    return;
  promises->next = now + LOOK;
  g_autoptr (GPtrArray) models = sl_find_elements (pipeline, "slinfer");
  for (guint i = 0; i < models->len; i++) {
    SlTurnFigures figures;
    if (!sl_promise_read (models->pdata[i], &figures))
      continue;
    g_autofree char *model = sl_model_element_name (models->pdata[i]),
                    *words = sl_promise_words (&figures);
    note (promises, model, words, name);
  }
}
