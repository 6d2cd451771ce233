/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The question as a structure "sightline-caps-probe" with the fields caps and, in the answer, code
 * and reason.
 */
#include "plugins/tensor/caps_probe.h"

#include "plugins/tensor/caps.h"
#include "core/base/fail.h"

#define NAME "sightline-caps-probe"

gboolean
sl_caps_probe (GstPad *pad, GstCaps *caps, GError **error)
{
  GstQuery *query = gst_query_new_custom (
    GST_QUERY_CUSTOM, gst_structure_new (NAME, "caps", GST_TYPE_CAPS, caps, NULL));
  const gboolean answered = gst_pad_peer_query (pad, query);
  const char *reason =
    answered ? gst_structure_get_string (gst_query_get_structure (query), "reason") : NULL;
  gint code = SL_ERROR_SHAPE;
  if (reason != NULL) {
    gst_structure_get_int (gst_query_get_structure (query), "code", &code);
    sl_fail (error, code, "%s", reason);
  }
  gst_query_unref (query);
  return reason == NULL;
}

GstCaps *
sl_caps_probe_asked (GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_CUSTOM
      || !gst_structure_has_name (gst_query_get_structure (query), NAME))
    return NULL;
  const GValue *value = gst_structure_get_value (gst_query_get_structure (query), "caps");
  return value != NULL ? g_value_get_boxed (value) : NULL;
}

void
sl_caps_probe_answer (GstQuery *query, const GError *error)
{
  if (error != NULL)
    gst_structure_set (gst_query_writable_structure (query), "code", G_TYPE_INT, error->code,
                       "reason", G_TYPE_STRING, error->message, NULL);
}

gboolean
sl_caps_probe_tensors (GstPad *pad, const SlTensorInfo *tensors, guint n, SlContract *contract,
                       GError **error)
{
  g_autoptr (GstCaps) caps = sl_tensor_caps_new (tensors, n, contract);
  g_autoptr (GstCaps) possible = gst_pad_peer_query_caps (pad, caps);
  if (gst_caps_is_empty (possible)) {
    g_autofree char *expected = sl_tensor_infos_describe (tensors, n);
    return sl_fail (
      error, SL_ERROR_SHAPE,
      "%s: it has tensors of %s, which the elements %s slinfer do not take: correct the caps there",
      contract->model, expected, GST_PAD_IS_SINK (pad) ? "before" : "after");
  }
  caps = gst_caps_fixate (g_steal_pointer (&caps));
  return sl_caps_probe (pad, caps, error);
}
