/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which GStreamer error each SlError is, as a table, and the functions that post them. */
#include "plugins/base/report.h"

#include <string.h>

#include "core/base/error_stays.h"
#include "core/base/printable.h"
#include "sightline/error.h"

typedef enum
{
  DOMAIN_RESOURCE,
  DOMAIN_STREAM,
  DOMAIN_LIBRARY
} Domain;

/* @stays: a start with the same settings and the same files fails again. What cannot be opened or
 * is damaged may be there, or whole, later. */
static const struct
{
  Domain domain;
  gint code;
  gboolean stays;
} gst_errors[] = {
  [SL_ERROR_OPEN] = { DOMAIN_RESOURCE, GST_RESOURCE_ERROR_OPEN_READ, FALSE },
  [SL_ERROR_FORMAT] = { DOMAIN_RESOURCE, GST_RESOURCE_ERROR_READ, FALSE },
  [SL_ERROR_UNSUPPORTED] = { DOMAIN_STREAM, GST_STREAM_ERROR_NOT_IMPLEMENTED, TRUE },
  [SL_ERROR_SHAPE] = { DOMAIN_STREAM, GST_STREAM_ERROR_FORMAT, FALSE },
  [SL_ERROR_LIMIT] = { DOMAIN_RESOURCE, GST_RESOURCE_ERROR_NO_SPACE_LEFT, FALSE },
  [SL_ERROR_CONTRACT] = { DOMAIN_STREAM, GST_STREAM_ERROR_FORMAT, TRUE },
  [SL_ERROR_LABELS] = { DOMAIN_RESOURCE, GST_RESOURCE_ERROR_SETTINGS, TRUE },
  [SL_ERROR_ARGUMENT] = { DOMAIN_RESOURCE, GST_RESOURCE_ERROR_SETTINGS, TRUE },
  [SL_ERROR_BACKEND] = { DOMAIN_LIBRARY, GST_LIBRARY_ERROR_FAILED, FALSE },
};

static GQuark
domain_quark (Domain domain)
{
  switch (domain) {
    case DOMAIN_RESOURCE:
      return GST_RESOURCE_ERROR;
    case DOMAIN_STREAM:
      return GST_STREAM_ERROR;
    default:
      return GST_LIBRARY_ERROR;
  }
}

static gboolean
report (GstElement *element, const GError *error, gboolean settings)
{
  Domain domain = DOMAIN_LIBRARY;
  gint code = GST_LIBRARY_ERROR_FAILED;
  gboolean stays = FALSE;
  if (error->domain == SL_ERROR && error->code >= 0
      && (gsize) error->code < G_N_ELEMENTS (gst_errors)) {
    domain = gst_errors[error->code].domain;
    code = gst_errors[error->code].code;
    stays = settings && gst_errors[error->code].stays;
  }
  gst_element_message_full_with_details (element, GST_MESSAGE_ERROR, domain_quark (domain), code,
                                         sl_printable_message (error->message), NULL, __FILE__,
                                         GST_FUNCTION, __LINE__,
                                         stays ? gst_structure_new_empty (SL_ERROR_STAYS) : NULL);
  return FALSE;
}

gboolean
sl_element_report (GstElement *element, const GError *error)
{
  return report (element, error, FALSE);
}

gboolean
sl_element_report_settings (GstElement *element, const GError *error)
{
  return report (element, error, TRUE);
}

void
sl_element_post (GstElement *element, GstStructure *structure)
{
  gst_element_post_message (element, gst_message_new_element (GST_OBJECT (element), structure));
}

gboolean
sl_element_is_inside (GstElement *element, const char *type)
{
  GstObject *parent = gst_object_get_parent (GST_OBJECT (element));
  const gboolean inside = parent != NULL && g_str_equal (G_OBJECT_TYPE_NAME (parent), type);
  gst_clear_object (&parent);
  return inside;
}

gboolean
sl_element_has_class (GstElement *element, const char *word)
{
  const char *klass = gst_element_get_metadata (element, GST_ELEMENT_METADATA_KLASS);
  return klass != NULL && strstr (klass, word) != NULL;
}

GstPad *
sl_pad_pass_bin (GstPad *pad)
{
  GstPad *next = NULL;
  if (GST_IS_GHOST_PAD (pad)) {
    next = gst_ghost_pad_get_target (GST_GHOST_PAD (pad)); /* into a bin */
  } else {
    GstProxyPad *outside = gst_proxy_pad_get_internal (GST_PROXY_PAD (pad)); /* out of one */
    next = outside != NULL ? gst_pad_get_peer (GST_PAD (outside)) : NULL;
    gst_clear_object (&outside);
  }
  gst_object_unref (pad);
  return next;
}

GstPad *
sl_pad_get_source (GstPad *sink)
{
  GstPad *peer = gst_pad_get_peer (sink);
  while (peer != NULL && GST_IS_PROXY_PAD (peer))
    peer = sl_pad_pass_bin (peer);
  return peer;
}

GstPad *
sl_element_get_only_sink (GstElement *element)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED =
    g_mutex_locker_new (GST_OBJECT_GET_LOCK (element));
  return element->numsinkpads == 1 ? gst_object_ref (element->sinkpads->data) : NULL;
}

const char *
sl_element_shown_name (GstElement *element)
{
  return sl_element_is_inside (element, "SlPredict")
           ? "slpredict"
           : GST_OBJECT_NAME (gst_element_get_factory (element));
}

gboolean
sl_element_has_format (GstElement *element, GstPad *pad)
{
  if (gst_pad_has_current_caps (pad))
    return TRUE;
  g_autoptr (GError) error = g_error_new (
    SL_ERROR, SL_ERROR_ARGUMENT,
    "got bytes that nothing states the format of (no caps), expected raw video: put decodebin "
    "before %s",
    sl_element_shown_name (element));
  return sl_element_report (element, error);
}

gboolean
sl_element_refuse (GstElement *element, gboolean *refused, GError *error)
{
  if (!*refused)
    sl_element_report (element, error);
  *refused = TRUE;
  g_error_free (error);
  return FALSE;
}
