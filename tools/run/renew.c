/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/renew.h"

#include <string.h>

#include "models/settings.h"
#include "pipelines/description/build.h"
#include "pipelines/description/promises.h"
#include "pipelines/supervise/elements.h"
#include "postprocess/analyze/regions.h"

static const SlElementOverride *
override_at (const SlDescription *description, guint i)
{
  return &g_array_index (description->overrides, SlElementOverride, i);
}

static gboolean
differ (const SlDescription *a, const SlDescription *b, guint i)
{
  return strcmp (override_at (a, i)->value, override_at (b, i)->value) != 0;
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
  *changed = FALSE;
  if (a->overrides->len != b->overrides->len)
    return FALSE;
  for (guint i = 0; i < a->overrides->len; i++) {
    const SlElementOverride *x = override_at (a, i), *y = override_at (b, i);
    if (strcmp (x->element, y->element) != 0 || strcmp (x->property, y->property) != 0
        || (differ (a, b, i) && !is_of_words (x)))
      return FALSE;
    *changed |= differ (a, b, i);
  }
  return TRUE;
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
  for (guint i = 0; i < after->overrides->len; i++) {
    const SlElementOverride *override = override_at (after, i);
    GstElement *element = differ (before, after, i)
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
