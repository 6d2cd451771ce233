/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that depend on the launch line alone. */
#include "pipelines/description/element_names.h"

#include <string.h>

/* (transfer full): what GStreamer's own names of @element begin with. */
static char *
stem_of (GstElement *element)
{
  const char *type = G_OBJECT_TYPE_NAME (element);
  char *stem = g_ascii_strdown (g_str_has_prefix (type, "Gst") ? type + 3 : type, -1);
  if (*stem == '\0' || !g_ascii_isdigit (stem[strlen (stem) - 1]))
    return stem;
  char *apart = g_strconcat (stem, "-", NULL);
  g_free (stem);
  return apart;
}

static gboolean
is_word_part (char c)
{
  return g_ascii_isalnum (c) || c == '_' || c == '-';
}

static gboolean
mentions (const char *launch, const char *name)
{
  const gsize length = strlen (name);
  for (const char *at = strstr (launch, name); at != NULL; at = strstr (at + 1, name))
    if ((at == launch || !is_word_part (at[-1])) && !is_word_part (at[length]))
      return TRUE;
  return FALSE;
}

static gboolean
is_numbered (const char *name, const char *stem)
{
  const gsize length = strlen (stem);
  return g_str_has_prefix (name, stem) && name[length] != '\0'
         && strspn (name + length, "0123456789") == strlen (name + length);
}

/* Elements of the launch line in its order; what is inside elements has names of its own. */
static void
collect (GstBin *bin, GPtrArray *elements)
{
  for (GList *link = g_list_last (bin->children); link != NULL; link = link->prev) {
    g_ptr_array_add (elements, link->data);
    if (G_OBJECT_TYPE (link->data) == GST_TYPE_BIN)
      collect (link->data, elements);
  }
}

/* GStreamer renames no object that has a parent; the name itself is guarded by the object lock. */
static void
rename_element (GstElement *element, char *name)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED =
    g_mutex_locker_new (GST_OBJECT_GET_LOCK (element));
  g_free (GST_OBJECT_NAME (element));
  GST_OBJECT_NAME (element) = name;
}

void
sl_number_elements (GstElement *pipeline, const char *launch)
{
  g_autoptr (GPtrArray) elements = g_ptr_array_new (), unnamed = g_ptr_array_new ();
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  collect (GST_BIN (pipeline), elements);
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = g_ptr_array_index (elements, i);
    g_autofree char *stem = stem_of (element);
    if (is_numbered (GST_OBJECT_NAME (element), stem)
        && !mentions (launch, GST_OBJECT_NAME (element)))
      g_ptr_array_add (unnamed, element);
    else
      g_hash_table_add (taken, g_strdup (GST_OBJECT_NAME (element)));
  }
  for (guint i = 0; i < unnamed->len; i++) {
    GstElement *element = g_ptr_array_index (unnamed, i);
    g_autofree char *stem = stem_of (element);
    char *name = NULL;
    for (guint n = 0; name == NULL || g_hash_table_contains (taken, name); n++) {
      g_free (name);
      name = g_strdup_printf ("%s%u", stem, n);
    }
    g_hash_table_add (taken, g_strdup (name));
    rename_element (element, name);
  }
}

char *
sl_model_element_name (GstElement *element)
{
  GstObject *parent = gst_object_get_parent (GST_OBJECT (element));
  const gboolean inside = parent != NULL && strcmp (G_OBJECT_TYPE_NAME (parent), "SlPredict") == 0;
  char *name = gst_object_get_name (inside ? parent : GST_OBJECT (element));
  gst_clear_object (&parent);
  return name;
}
