/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pipelines/description/promises.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/suggest.h"
#include "pipelines/description/element_names.h"
#include "pipelines/description/find.h"
#include "predict/budget.h"
#include "predict/need.h"

/* (nullable): the group for @element. */
static const SlPromise *
find (const SlDescription *description, const char *element)
{
  for (guint i = 0; i < description->promises->len; i++) {
    const SlPromise *promise = &g_array_index (description->promises, SlPromise, i);
    if (strcmp (promise->element, element) == 0)
      return promise;
  }
  return NULL;
}

/* Each [budget NAME] is for a model that is there. */
static gboolean
check_names (const SlDescription *description, const GPtrArray *names, GError **error)
{
  for (guint i = 0; i < description->promises->len; i++) {
    const SlPromise *promise = &g_array_index (description->promises, SlPromise, i);
    if (*promise->element == '\0'
        || g_ptr_array_find_with_equal_func ((GPtrArray *) names, promise->element, g_str_equal,
                                             NULL))
      continue;
    g_autofree char *hint =
      sl_suggest_text (promise->element, (const char *const *) names->pdata, names->len);
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "%s:%u: [budget %s]: the launch line has no slpredict or slinfer of that name%s",
      promise->file, promise->line, promise->element, hint);
  }
  return TRUE;
}

/* (element-type utf8) (transfer full): the names of the zones of all slanalyze; wrong regions are
 * an error of these. */
static GPtrArray *
zone_names (GstElement *pipeline)
{
  GPtrArray *names = g_ptr_array_new ();
  g_autoptr (GPtrArray) analyzers = sl_find_elements (pipeline, "slanalyze");
  for (guint i = 0; i < analyzers->len; i++) {
    g_autofree char *text = NULL;
    g_object_get (analyzers->pdata[i], "regions", &text, NULL);
    g_autoptr (SlRegions) regions = text != NULL ? sl_regions_parse (text, NULL) : NULL;
    for (guint k = 0; regions != NULL && k < regions->list->len; k++) {
      const SlRegion *region = &g_array_index (regions->list, SlRegion, k);
      if (region->kind == SL_REGION_ZONE)
        g_ptr_array_add (names, (gpointer) region->name);
    }
  }
  return names;
}

static gboolean
check_zone (const SlPromise *promise, const GPtrArray *zones, GError **error)
{
  SlNeedKind kind;
  const char *zone;
  sl_need_parse (promise->need, &kind, &zone);
  if (kind != SL_NEED_ZONE
      || g_ptr_array_find_with_equal_func ((GPtrArray *) zones, zone, g_str_equal, NULL))
    return TRUE;
  g_autofree char *hint =
    zones->len > 0
      ? sl_suggest_text (zone, (const char *const *) zones->pdata, zones->len)
      : g_strdup_printf ("; expected a group [zone %s], and slanalyze in the launch line", zone);
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "%s:%u: [budget%s%s] need: the pipeline has no zone '%s'%s", promise->file,
                  promise->line, *promise->element != '\0' ? " " : "", promise->element, zone,
                  hint);
}

static gboolean
check_zones (GstElement *pipeline, const SlDescription *description, GError **error)
{
  g_autoptr (GPtrArray) zones = zone_names (pipeline);
  for (guint i = 0; i < description->promises->len; i++)
    if (!check_zone (&g_array_index (description->promises, SlPromise, i), zones, error))
      return FALSE;
  return TRUE;
}

static void
set_need (const SlPromise *own, const SlPromise *every, GstElement *model)
{
  const char *need = own != NULL && own->need != NULL ? own->need
                     : every != NULL                  ? every->need
                                                      : NULL;
  g_autofree char *stated = NULL;
  g_object_get (model, "need", &stated, NULL);
  if (need != NULL && stated == NULL)
    g_object_set (model, "need", need, NULL);
}

static gboolean
set_promise (const SlDescription *description, GstElement *model, const char *name, GError **error)
{
  const SlPromise *own = find (description, name), *every = find (description, "");
  const SlPromise *last = own != NULL ? own : every;
  const gdouble rate = own != NULL && own->rate > 0 ? own->rate : every != NULL ? every->rate : 0;
  const guint priority = own != NULL && own->priority > 0 ? own->priority
                         : every != NULL                  ? every->priority
                                                          : 0;
  gdouble stated = 0;
  gint weight = 1;
  g_object_get (model, "promised-rate", &stated, "priority", &weight, NULL);
  if (rate > 0 && stated <= 0)
    g_object_set (model, "promised-rate", rate, NULL);
  if (priority > 0 && weight == 1)
    g_object_set (model, "priority", (gint) priority, NULL);
  set_need (own, every, model);
  if (rate > 0 || stated > 0)
    return TRUE;
  if (last == NULL)
    last = &g_array_index (description->promises, SlPromise, 0);
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "%s:%u: [budget]: nothing is promised to the model of %s; expected rate=FRAMES a "
                  "second in [budget] or in [budget %s]",
                  last->file, last->line, name, name);
}

gboolean
sl_promises_apply (GstElement *pipeline, const SlDescription *description, GError **error)
{
  if (description->promises->len == 0)
    return TRUE;
  g_autoptr (GPtrArray) models = sl_find_elements (pipeline, "slinfer");
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const SlPromise *first = &g_array_index (description->promises, SlPromise, 0);
  for (guint i = 0; i < models->len; i++)
    g_ptr_array_add (names, sl_model_element_name (models->pdata[i]));
  if (models->len == 0)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s:%u: [budget]: the launch line has no slpredict or slinfer, whose models "
                    "share a budget",
                    first->file, first->line);
  gboolean good =
    check_names (description, names, error) && check_zones (pipeline, description, error);
  for (guint i = 0; good && i < models->len; i++)
    good = set_promise (description, models->pdata[i], names->pdata[i], error);
  if (good && description->cores > 0)
    sl_budget_set_cores (description->cores);
  return good;
}

gboolean
sl_promises_same (const SlDescription *a, const SlDescription *b)
{
  gboolean same = a->promises->len == b->promises->len;
  for (guint i = 0; same && i < a->promises->len; i++) {
    const SlPromise *x = &g_array_index (a->promises, SlPromise, i), *y = find (b, x->element);
    same = y != NULL && !(x->rate < y->rate || x->rate > y->rate) && x->priority == y->priority
           && g_strcmp0 (x->need, y->need) == 0;
  }
  return same;
}

char *
sl_promises_contradiction (const GPtrArray *descriptions)
{
  const SlDescription *first = NULL;
  for (guint i = 0; i < descriptions->len; i++) {
    const SlDescription *description = descriptions->pdata[i];
    if (description->cores > 0 && first == NULL)
      first = description;
    if (description->cores > 0
        && (description->cores < first->cores || description->cores > first->cores))
      return g_strdup_printf ("%s: [budget] cores is %g, %s has %g: expected one number for all "
                              "that run together",
                              description->path, description->cores, first->path, first->cores);
  }
  return NULL;
}
