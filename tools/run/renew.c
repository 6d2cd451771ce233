/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/renew.h"

#include <string.h>

#include "models/settings.h"
#include "pipelines/description/build.h"
#include "pipelines/description/promises.h"
#include "pipelines/supervise/elements.h"
#include "postprocess/analyze/regions.h"

/* (transfer container) (element-type SlElementOverride): settings of elements, or of [search]. */
static GPtrArray *
list_settings (const SlDescription *description, gboolean search)
{
  GPtrArray *list = g_ptr_array_new ();
  for (guint i = 0; i < description->overrides->len; i++) {
    SlElementOverride *override = &g_array_index (description->overrides, SlElementOverride, i);
    if ((strcmp (override->element, SL_SEARCHER) == 0) == search)
      g_ptr_array_add (list, override);
  }
  return list;
}

static gboolean
is_same (const SlElementOverride *x, const SlElementOverride *y)
{
  return strcmp (x->element, y->element) == 0 && strcmp (x->property, y->property) == 0;
}

static gboolean
is_of_words (const SlElementOverride *override)
{
  const SlSetting *setting = sl_setting_find (override->property);
  return setting != NULL && setting->group == SL_SETTINGS_WORDS;
}

/* Whether the groups of elements are the same. @changed: (out): but for values of prompts,
 * templates, embeddings and their files, of which some differ. */
static gboolean
same_but_words (const SlDescription *a, const SlDescription *b, gboolean *changed)
{
  g_autoptr (GPtrArray) first = list_settings (a, FALSE), second = list_settings (b, FALSE);
  *changed = FALSE;
  if (first->len != second->len)
    return FALSE;
  for (guint i = 0; i < first->len; i++) {
    const SlElementOverride *x = first->pdata[i], *y = second->pdata[i];
    const gboolean differ = strcmp (x->value, y->value) != 0;
    if (!is_same (x, y) || (differ && !is_of_words (x)))
      return FALSE;
    *changed |= differ;
  }
  return TRUE;
}

gboolean
sl_renew_same_search (const SlDescription *before, const SlDescription *after)
{
  g_autoptr (GPtrArray) first = list_settings (before, TRUE), second = list_settings (after, TRUE);
  gboolean same = first->len == second->len;
  for (guint i = 0; i < first->len && same; i++) {
    const SlElementOverride *x = first->pdata[i], *y = second->pdata[i];
    same = is_same (x, y) && strcmp (x->value, y->value) == 0;
  }
  return same;
}

gboolean
sl_renew_same_push (const SlDescription *before, const SlDescription *after)
{
  static const char *const keys[] = { SL_PUSH_SUBSCRIPTIONS, SL_PUSH_KEY, SL_PUSH_HOSTS };
  gboolean same = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    same = same
           && g_strcmp0 (sl_description_setting (before, SL_PUSHER, keys[i]),
                         sl_description_setting (after, SL_PUSHER, keys[i]))
                == 0;
  return same;
}

/* (transfer full): masks as text, which slmotion takes at its start. */
static char *
masks_of (const SlDescription *description)
{
  GString *text = g_string_new (NULL);
  g_autoptr (SlRegions) regions =
    sl_regions_parse (description->regions != NULL ? description->regions : "", NULL);
  for (guint i = 0; regions != NULL && i < regions->masks->len; i++)
    sl_region_append (text, SL_REGION_MASK, &g_array_index (regions->masks, SlRegion, i));
  return g_string_free (text, FALSE);
}

static gboolean
takes_regions (GstElement *pipeline, const SlDescription *before, const SlDescription *after)
{
  g_autofree char *old = masks_of (before), *masks = masks_of (after);
  g_autoptr (GPtrArray) motions = sl_find_elements (pipeline, "slmotion");
  g_autoptr (GPtrArray) analyzers = sl_find_elements (pipeline, "slanalyze");
  return analyzers->len == 1 && (motions->len == 0 || strcmp (old, masks) == 0);
}

gboolean
sl_renew_can (GstElement *pipeline, gboolean running, const SlDescription *before,
              const SlDescription *after)
{
  gboolean words;
  if (strcmp (after->launch, before->launch) != 0
      || g_strcmp0 (after->black_box, before->black_box) != 0
      || after->privacy_strict != before->privacy_strict || !sl_promises_same (before, after)
      || !same_but_words (before, after, &words) || (words && !running))
    return FALSE;
  return pipeline == NULL || g_strcmp0 (after->regions, before->regions) == 0
         || takes_regions (pipeline, before, after);
}

static void
set_words (GstElement *pipeline, const SlDescription *before, const SlDescription *after)
{
  g_autoptr (GPtrArray) elements = g_ptr_array_new_with_free_func (gst_object_unref);
  g_autoptr (GPtrArray) old = list_settings (before, FALSE), new = list_settings (after, FALSE);
  for (guint i = 0; i < new->len; i++) {
    const SlElementOverride *override = new->pdata[i], *former = old->pdata[i];
    GstElement *element = strcmp (override->value, former->value) != 0
                            ? gst_bin_get_by_name (GST_BIN (pipeline), override->element)
                            : NULL;
    if (element == NULL)
      continue;
    g_object_freeze_notify (G_OBJECT (element));
    g_ptr_array_add (elements, element);
    sl_property_from_text (G_OBJECT (element), override->property, override->value, NULL);
  }
  for (guint i = 0; i < elements->len; i++)
    g_object_thaw_notify (elements->pdata[i]);
}

char *
sl_renew (GstElement *pipeline, const SlDescription *before, const SlDescription *after)
{
  gboolean words;
  const gboolean regions = pipeline != NULL && g_strcmp0 (after->regions, before->regions) != 0;
  same_but_words (before, after, &words);
  if (words)
    set_words (pipeline, before, after);
  if (regions) {
    g_autoptr (GPtrArray) analyzers = sl_find_elements (pipeline, "slanalyze");
    g_object_set (analyzers->pdata[0], "regions", after->regions, NULL);
  }
  return g_strconcat (words ? ", with new prompts" : "",
                      regions ? ", with new zones, lines and masks" : "", NULL);
}
