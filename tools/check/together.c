/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/check/together.h"

#include "pipelines/description/promises.h"
#include "plugins/base/settings.h"
#include "tools/check/findings.h"
#include "tools/check/promises.h"
#include "tools/run/http/choose.h"
#include "tools/search/describe.h"

void
sl_together_init (SlTogether *together)
{
  together->descriptions = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_description_free);
  together->pipelines = g_ptr_array_new_with_free_func (gst_object_unref);
  together->names = g_ptr_array_new ();
  together->promises = sl_check_promises_new ();
}

void
sl_together_clear (SlTogether *together)
{
  g_ptr_array_unref (together->descriptions);
  g_ptr_array_unref (together->pipelines);
  g_ptr_array_unref (together->names);
  g_array_unref (together->promises);
}

void
sl_together_add (SlTogether *together, SlDescription *description, GstElement *pipeline)
{
  g_ptr_array_add (together->descriptions, description);
  if (pipeline == NULL)
    return;
  g_ptr_array_add (together->pipelines, pipeline);
  g_ptr_array_add (together->names, description->name);
}

/* @before: elements that start earlier; @name: (nullable): of the pipeline of @element */
static void
check_element (GstElement *element, const GPtrArray *before, guint n, const char *name,
               GArray *findings)
{
  for (guint i = 0; i < n; i++) {
    g_autoptr (GError) error = NULL;
    if (sl_element_check_meeting (element, before->pdata[i], &error))
      continue;
    g_autofree char *about = name != NULL
                               ? g_strdup_printf ("%s/%s", name, GST_OBJECT_NAME (element))
                               : g_strdup (GST_OBJECT_NAME (element));
    sl_findings_add (findings, SL_FINDING_PROBLEM, about, "%s", error->message);
    return;
  }
}

void
sl_check_meetings (GstElement *pipeline, GArray *findings)
{
  g_autoptr (GPtrArray) elements = sl_check_elements (pipeline);
  for (guint i = 0; i < elements->len; i++)
    check_element (elements->pdata[i], elements, i, NULL, findings);
}

static void
check_pipelines (const SlTogether *together, GArray *findings)
{
  g_autoptr (GPtrArray) before = g_ptr_array_new_with_free_func (gst_object_unref);
  for (guint i = 0; i < together->pipelines->len; i++) {
    g_autoptr (GPtrArray) elements = sl_check_elements (together->pipelines->pdata[i]);
    for (guint k = 0; k < elements->len; k++)
      check_element (elements->pdata[k], before, before->len, together->names->pdata[i], findings);
    for (guint k = 0; k < elements->len; k++)
      g_ptr_array_add (before, gst_object_ref (elements->pdata[k]));
  }
}

/* A group [search] that is wrong by itself was told with its description. */
static gboolean
are_searches_good (const GPtrArray *descriptions)
{
  for (guint i = 0; i < descriptions->len; i++) {
    g_auto (SlModelSettings) search = { NULL };
    if (!sl_search_describe (descriptions->pdata[i], &search, NULL))
      return FALSE;
  }
  return TRUE;
}

static void
check_services (const GPtrArray *descriptions, GArray *findings)
{
  g_auto (SlModelSettings) search = { NULL };
  g_autoptr (GError) bad_http = NULL, bad_search = NULL;
  if (!sl_http_agree (descriptions, &bad_http))
    sl_findings_add (findings, SL_FINDING_PROBLEM, "http", "%s", bad_http->message);
  if (are_searches_good (descriptions) && !sl_search_choose (descriptions, &search, &bad_search))
    sl_findings_add (findings, SL_FINDING_PROBLEM, "search", "%s", bad_search->message);
}

void
sl_check_together (const SlTogether *together, GArray *findings)
{
  g_autofree char *contradiction = sl_promises_contradiction (together->descriptions);
  check_pipelines (together, findings);
  if (together->descriptions->len > 0)
    check_services (together->descriptions, findings);
  if (contradiction != NULL)
    sl_findings_add (findings, SL_FINDING_PROBLEM, "budget", "%s", contradiction);
  else if (together->promises->len > 0)
    sl_check_promises_together (together->promises, findings);
}
