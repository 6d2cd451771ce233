/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The query is a structure "sightline-class-names" with the field names. Each element with class
 * names adds its own to it. */
#include "plugins/meta/class_names.h"

#include "plugins/base/report.h"

#define NAME "sightline-class-names"

static GQuark
names_quark (void)
{
  return g_quark_from_static_string ("sl-class-names");
}

static void
add_names (GPtrArray *all, const char *const *names)
{
  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    g_ptr_array_add (all, g_strdup (names[i]));
}

/* What @query has so far, and @more, become its answer. */
static void
answer (GstQuery *query, const char *const *more)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  const GValue *before = gst_structure_get_value (gst_query_get_structure (query), "names");
  add_names (all, before != NULL ? g_value_get_boxed (before) : NULL);
  add_names (all, more);
  g_ptr_array_add (all, NULL);
  g_auto (GStrv) names = (GStrv) g_ptr_array_free (g_steal_pointer (&all), FALSE);
  gst_structure_set (gst_query_writable_structure (query), "names", G_TYPE_STRV, names, NULL);
}

static gboolean
query_function (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_CUSTOM
      || !gst_structure_has_name (gst_query_get_structure (query), NAME))
    return gst_pad_query_default (pad, parent, query);
  GST_OBJECT_LOCK (pad);
  const char *const *names = g_object_get_qdata (G_OBJECT (pad), names_quark ());
  if (names != NULL)
    answer (query, names);
  else
    gst_structure_set (gst_query_writable_structure (query), "unknown", G_TYPE_BOOLEAN, TRUE, NULL);
  GST_OBJECT_UNLOCK (pad);
  gst_pad_query_default (pad, parent, query);
  return TRUE;
}

void
sl_class_names_install (GstPad *pad)
{
  gst_pad_set_query_function (pad, query_function);
}

static guint n_offers; /* atomic */

guint
sl_class_names_offers (void)
{
  return (guint) g_atomic_int_get ((gint *) &n_offers);
}

void
sl_class_names_offer (GstPad *pad, const GPtrArray *names)
{
  GStrv copy = names->len > 0 ? g_new0 (char *, names->len + 1) : NULL;
  for (guint i = 0; i < names->len; i++)
    copy[i] = names->pdata[i] != NULL ? g_strdup (names->pdata[i]) : g_strdup_printf ("%u", i);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (pad));
  g_object_set_qdata_full (G_OBJECT (pad), names_quark (), copy, (GDestroyNotify) g_strfreev);
  g_atomic_int_inc ((gint *) &n_offers);
}

GStrv
sl_class_names_ask (GstPad *pad)
{
  GstQuery *query = gst_query_new_custom (GST_QUERY_CUSTOM, gst_structure_new_empty (NAME));
  GStrv names = NULL;
  const gboolean answered =
    GST_PAD_IS_SRC (pad) ? gst_pad_query (pad, query) : gst_pad_peer_query (pad, query);
  if (answered && !gst_structure_has_field (gst_query_get_structure (query), "unknown"))
    gst_structure_get (gst_query_get_structure (query), "names", G_TYPE_STRV, &names, NULL);
  gst_query_unref (query);
  return names;
}

gboolean
sl_class_names_check (GstPad *pad, const SlClassFilter *filter, GError **error)
{
  g_auto (GStrv) names = filter != NULL ? sl_class_names_ask (pad) : NULL;
  return names == NULL
         || sl_class_filter_check (filter, (const char *const *) names, g_strv_length (names),
                                   "the model before", error);
}

gboolean
sl_class_choice_is (const SlClassChoice *choice, const char *text)
{
  return g_strcmp0 (choice->text, text) == 0;
}

gboolean
sl_class_choice_set (SlClassChoice *choice, const char *text, GstPad *pad, GError **error)
{
  sl_class_choice_clear (choice);
  if (!sl_class_filter_parse (text, &choice->filter, error))
    return FALSE;
  choice->text = g_strdup (text);
  if (sl_class_names_check (pad, choice->filter, error))
    return TRUE;
  sl_class_choice_clear (choice);
  return FALSE;
}

gboolean
sl_class_choice_follow (SlClassChoice *choice, GstElement *element, char *const *classes,
                        GstPad *pad)
{
  g_autoptr (GError) error = NULL;
  GST_OBJECT_LOCK (element);
  const gboolean same = sl_class_choice_is (choice, *classes);
  g_autofree char *text = same ? NULL : g_strdup (*classes);
  GST_OBJECT_UNLOCK (element);
  if (same || sl_class_choice_set (choice, text, pad, &error))
    return TRUE;
  return sl_element_report (element, error);
}

void
sl_class_choice_clear (SlClassChoice *choice)
{
  g_clear_pointer (&choice->text, g_free);
  g_clear_pointer (&choice->filter, sl_class_filter_free);
}
