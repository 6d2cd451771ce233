/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Elements say "Could not read from resource." and put what happened into their debug text, behind
 * a line with file and function; so that line is cut off and the rest is told too.
 */
#include "plugins/camera/messages.h"

#include <string.h>

#include "core/base/redact.h"
#include "core/base/printable.h"
#include "plugins/base/report.h"
#include "plugins/camera/source.h"

void
sl_camera_post_status (GstElement *camera, const SlCameraUri *uri, const SlCameraStatus *status)
{
  g_autofree char *reason = sl_printable_message (status->reason != NULL ? status->reason : "");
  GstStructure *structure = gst_structure_new (
    SL_CAMERA_MESSAGE, "state", G_TYPE_STRING, status->state, "uri", G_TYPE_STRING, uri->display,
    "attempt", G_TYPE_UINT, status->attempt, "reason", G_TYPE_STRING, reason, "next-delay-ms",
    G_TYPE_UINT, status->next_delay, "last-frame-age-ms", G_TYPE_INT64, status->age, NULL);
  if (status->caps != NULL)
    gst_structure_set (structure, "caps", GST_TYPE_CAPS, status->caps, NULL);
  sl_element_post (camera, structure);
}

void
sl_camera_post (GstElement *camera, GstMessageType type, const GError *error, const char *text)
{
  const gboolean known =
    error != NULL
    && (error->domain == GST_RESOURCE_ERROR || error->domain == GST_STREAM_ERROR
        || error->domain == GST_CORE_ERROR || error->domain == GST_LIBRARY_ERROR);
  gst_element_message_full (camera, type, known ? error->domain : GST_RESOURCE_ERROR,
                            known ? error->code : GST_RESOURCE_ERROR_READ,
                            sl_printable_message (text), NULL, __FILE__, GST_FUNCTION, __LINE__);
}

static gboolean
is_a (GstObject *object, const char *name)
{
  GstElementFactory *factory =
    GST_IS_ELEMENT (object) ? gst_element_get_factory (GST_ELEMENT (object)) : NULL;
  return factory != NULL && g_str_equal (GST_OBJECT_NAME (factory), name);
}

/* rtspsrc takes a stream that was not chosen for one whose transport or format it does not know. */
static gboolean
lacks_pictures (GstMessage *message, const GError *error)
{
  return GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR && error->domain == GST_STREAM_ERROR
         && is_a (GST_MESSAGE_SRC (message), "rtspsrc")
         && !sl_camera_has_chosen (GST_ELEMENT (GST_MESSAGE_SRC (message)));
}

/* What elements say in words of their own, where a better sentence is known. */
static const char *
sentence (GstMessage *message, const GError *error, const char *more)
{
  if (g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_AUTHORIZED))
    return "the camera refuses user name and password: set user= and password=";
  if (more != NULL && strstr (more, "not-negotiated") != NULL)
    return "the picture's format or size is not what the elements after slcamera take: put "
           "videoscale behind it, or take the size out of the caps there";
  if (g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_TYPE_NOT_FOUND))
    return SL_CAMERA_UNKNOWN_TYPE;
  if (lacks_pictures (message, error))
    return "the server offers no video stream";
  /* libsoup tells souphttpsrc what is wrong with the head of an answer, and that tells nobody. */
  if (more != NULL && strstr (more, "streaming stopped, reason error") != NULL
      && is_a (GST_MESSAGE_SRC (message), "souphttpsrc"))
    return "the server's answer is not HTTP, or its header is larger than 100 KiB, which no "
           "property raises";
  if (more != NULL && strstr (more, "streaming stopped, reason error") != NULL)
    return "what the server sends is not what its address promises";
  return NULL;
}

GError *
sl_camera_message_fault (GstMessage *message, const SlCameraUri *uri)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *debug = NULL;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, &debug);
  else
    gst_message_parse_warning (message, &error, &debug);
  g_autofree char *more = sl_message_detail (debug);
  const char *better = sentence (message, error, more);
  if (better != NULL)
    return g_error_new_literal (error->domain, error->code, better);
  g_autofree char *text =
    more != NULL ? g_strdup_printf ("%s (%s)", error->message, more) : g_strdup (error->message);
  g_autofree char *clean = sl_redact_secrets (text, uri->secrets);
  return g_error_new_literal (error->domain, error->code, clean);
}

/* Those of @tried that take @caps, as a list in a sentence. NULL if none of them does. */
static char *
elements_for (const GstCaps *caps, GPtrArray *tried)
{
  g_autoptr (GString) names = g_string_new (NULL);
  for (guint i = 0; i < tried->len; i++)
    if (gst_element_factory_can_sink_any_caps (tried->pdata[i], caps))
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "",
                              GST_OBJECT_NAME (tried->pdata[i]));
  return names->len > 0 ? g_string_free (g_steal_pointer (&names), FALSE) : NULL;
}

GError *
sl_camera_missing_fault (const GstStructure *structure, GPtrArray *tried)
{
  const char *stated = gst_structure_get_string (structure, "name"),
             *name = stated != NULL ? stated : "this stream";
  g_autoptr (GstCaps) caps = NULL;
  if (gst_structure_has_field_typed (structure, "detail", GST_TYPE_CAPS))
    gst_structure_get (structure, "detail", GST_TYPE_CAPS, &caps, NULL);
  g_autofree char *names = caps != NULL ? elements_for (caps, tried) : NULL;
  if (names != NULL)
    return g_error_new (GST_CORE_ERROR, GST_CORE_ERROR_STATE_CHANGE,
                        "no element for %s could start; tried: %s", name, names);
  return g_error_new (GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
                      "no element is installed for %s: install gstreamer1.0-libav (decoders) or "
                      "gstreamer1.0-plugins-good (RTP), by Debian's names",
                      name);
}

gboolean
sl_camera_fault_is_login (const GError *fault)
{
  return g_error_matches (fault, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_AUTHORIZED);
}

char *
sl_camera_early_text (guint64 n)
{
  return n > 0 ? g_strdup_printf (
           "%" G_GUINT64_FORMAT " frames left out: they came before the first key frame", n)
               : NULL;
}

char *
sl_camera_damaged_text (guint64 n, gint protocols)
{
  return n > 0 ? g_strdup_printf (
           "%" G_GUINT64_FORMAT
           " frames left out: they lack data, or follow one that does, up to the next key frame%s",
           n, protocols != SL_CAMERA_TCP ? "; protocols=tcp loses no packets" : "")
               : NULL;
}
