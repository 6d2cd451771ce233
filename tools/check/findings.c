/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of findings, and walks over pipelines that the checks share. */
#include "tools/check/findings.h"

#include <stdio.h>
#include <string.h>

#include "core/base/printable.h"
#include "core/base/json.h"
#include "plugins/base/report.h"
#include "tools/terminal.h"

static const char *const kinds[] = { "fact", "advice", "problem" };
/* In front of a line for people. */
static const char *const marks[] = { " ", "*", "!" };
static const SlStyle styles[] = { SL_STYLE_PLAIN, SL_STYLE_WARNING, SL_STYLE_BAD };

static void
finding_clear (gpointer data)
{
  SlFinding *finding = data;
  g_free (finding->about);
  g_free (finding->text);
}

GArray *
sl_findings_new (void)
{
  GArray *findings = g_array_new (FALSE, TRUE, sizeof (SlFinding));
  g_array_set_clear_func (findings, finding_clear);
  return findings;
}

void
sl_findings_add (GArray *findings, SlFindingKind kind, const char *about, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  SlFinding finding = { kind, sl_printable (about, SL_PRINTABLE_NAME),
                        sl_printable_message (text) };
  g_array_append_val (findings, finding);
}

gboolean
sl_findings_have_problems (const GArray *findings)
{
  for (guint i = 0; i < findings->len; i++)
    if (g_array_index (findings, SlFinding, i).kind == SL_FINDING_PROBLEM)
      return TRUE;
  return FALSE;
}

static void
print_json (const GArray *findings, const char *path)
{
  g_autoptr (GString) out = g_string_new ("{\"file\":");
  sl_json_append_string (out, path);
  g_string_append_printf (out, ",\"good\":%s,\"findings\":[",
                          sl_findings_have_problems (findings) ? "false" : "true");
  for (guint i = 0; i < findings->len; i++) {
    const SlFinding *finding = &g_array_index (findings, SlFinding, i);
    g_string_append_printf (out, "%s{\"kind\":\"%s\",\"about\":", i > 0 ? "," : "",
                            kinds[finding->kind]);
    sl_json_append_string (out, finding->about);
    sl_json_append_text (out, "text", finding->text);
    g_string_append_c (out, '}');
  }
  printf ("%s]}\n", out->str);
}

void
sl_findings_print (const GArray *findings, const char *path, gboolean json)
{
  guint counts[G_N_ELEMENTS (kinds)] = { 0 };
  if (json) {
    print_json (findings, path);
    return;
  }
  for (guint i = 0; i < findings->len; i++) {
    const SlFinding *finding = &g_array_index (findings, SlFinding, i);
    counts[finding->kind]++;
    printf ("%s%s %-12s%s %s\n", sl_terminal_style (stdout, styles[finding->kind]),
            marks[finding->kind], finding->about, sl_terminal_style (stdout, SL_STYLE_PLAIN),
            finding->text);
  }
  g_autofree char *shown = sl_printable_message (path);
  printf ("%s: %u problem%s (!), %u piece%s of advice (*)\n", shown, counts[SL_FINDING_PROBLEM],
          counts[SL_FINDING_PROBLEM] == 1 ? "" : "s", counts[SL_FINDING_ADVICE],
          counts[SL_FINDING_ADVICE] == 1 ? "" : "s");
}

gboolean
sl_check_is (GstElement *element, const char *factory)
{
  GstElementFactory *made_by = gst_element_get_factory (element);
  return made_by != NULL && strcmp (GST_OBJECT_NAME (made_by), factory) == 0;
}

static gboolean
only_passes (GstElement *element)
{
  return sl_check_is (element, "queue") || sl_check_is (element, "capsfilter")
         || sl_check_is (element, "identity") || sl_check_is (element, "tee");
}

/* (transfer full) (nullable): the element whose pad is linked to the first sink pad, looking
 * through ghost pads. slcamera itself is returned: it is empty until it starts. */
static GstElement *
before (GstElement *element)
{
  if (element->sinkpads == NULL)
    return NULL;
  GstPad *peer = gst_pad_get_peer (element->sinkpads->data);
  GstElement *found = peer != NULL ? gst_pad_get_parent_element (peer) : NULL;
  while (peer != NULL && GST_IS_PROXY_PAD (peer)
         && (found == NULL || !sl_check_is (found, "slcamera"))) {
    gst_clear_object (&found);
    peer = sl_pad_pass_bin (peer);
    found = peer != NULL ? gst_pad_get_parent_element (peer) : NULL;
  }
  gst_clear_object (&peer);
  return found;
}

GstElement *
sl_check_upstream (GstElement *element, gboolean skip)
{
  GstElement *found = before (element);
  while (skip && found != NULL && only_passes (found))
    sl_check_go_up (&found, FALSE);
  return found;
}

void
sl_check_go_up (GstElement **element, gboolean skip)
{
  g_autoptr (GstElement) from = *element;
  *element = sl_check_upstream (from, skip);
}

/* In the order of the stream as far as there is one, the elements of bins in place of these. */
static void
collect (GstBin *bin, GPtrArray *elements)
{
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func (gst_object_unref);
  GstIterator *sorted = gst_bin_iterate_sorted (bin);
  GValue item = G_VALUE_INIT;
  while (gst_iterator_next (sorted, &item) == GST_ITERATOR_OK) {
    g_ptr_array_insert (own, 0, g_value_dup_object (&item));
    g_value_reset (&item);
  }
  if (G_IS_VALUE (&item))
    g_value_unset (&item);
  gst_iterator_free (sorted);
  for (guint i = 0; i < own->len; i++) {
    if (!GST_IS_BIN (own->pdata[i]) || sl_check_is (own->pdata[i], "slcamera"))
      g_ptr_array_add (elements, gst_object_ref (own->pdata[i]));
    if (GST_IS_BIN (own->pdata[i]))
      collect (own->pdata[i], elements);
  }
}

GPtrArray *
sl_check_elements (GstElement *pipeline)
{
  GPtrArray *elements = g_ptr_array_new_with_free_func (gst_object_unref);
  collect (GST_BIN (pipeline), elements);
  return elements;
}

GstElement *
sl_check_predict (GstElement *element)
{
  GstObject *parent = GST_OBJECT_PARENT (element); /* nobody takes the pipeline apart meanwhile */
  return parent != NULL && GST_IS_ELEMENT (parent)
             && sl_check_is (GST_ELEMENT (parent), "slpredict")
           ? GST_ELEMENT (parent)
           : NULL;
}
