/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/remote/figures.h"

#include <string.h>

#include "plugins/base/properties.h"
#include "plugins/base/report.h"

/* In the order of their ids: counts, then what is not counted. */
static const struct
{
  const char *name, *nick, *help;
  gsize offset;
} counts[] = {
  { "answered", "Answered", "Frames that workers computed",
    G_STRUCT_OFFSET (SlRemoteFigures, counts.answered) },
  { "lost", "Lost", "Frames that no worker computed before their deadline",
    G_STRUCT_OFFSET (SlRemoteFigures, counts.lost) },
  { "dropped", "Dropped",
    "Frames of live input that newer ones replaced before they were sent, or that were dropped "
    "because downstream blocked",
    G_STRUCT_OFFSET (SlRemoteFigures, counts.dropped) },
  { "resent", "Sent again", "Messages that were sent again",
    G_STRUCT_OFFSET (SlRemoteFigures, counts.resent) },
  { "late", "Late", "Answers that came after their frame was given up",
    G_STRUCT_OFFSET (SlRemoteFigures, counts.late) },
  { "repeated", "Repeated", "Second answers for a frame, which are ignored",
    G_STRUCT_OFFSET (SlRemoteFigures, counts.repeated) },
  { "refused", "Refused",
    "Answers with an error, invalid messages, and frames that the broker refuses",
    G_STRUCT_OFFSET (SlRemoteFigures, counts.refused) },
  { "local", "Local", "Frames that the fallback computed",
    G_STRUCT_OFFSET (SlRemoteFigures, local) },
};

enum
{
  WORKERS = G_N_ELEMENTS (counts),
  CONNECTED,
  WORKER,
  SILENCE
};

void
sl_remote_figures_clear (SlRemoteFigures *figures)
{
  g_clear_pointer (&figures->worker, g_ref_string_release);
}

void
sl_remote_figures_set_worker (SlRemoteFigures *figures, const char *worker)
{
  if (figures->worker != NULL && strcmp (figures->worker, worker) == 0)
    return;
  sl_remote_figures_clear (figures);
  figures->worker = g_ref_string_new (worker);
}

void
sl_remote_figures_install (GObjectClass *klass, guint first)
{
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    g_object_class_install_property (
      klass, first + i, sl_property_count (counts[i].name, counts[i].nick, counts[i].help));
  g_object_class_install_property (klass, first + WORKERS,
                                   g_param_spec_uint ("workers", "Workers",
                                                      "Workers that report to the broker", 0,
                                                      G_MAXUINT, 0, flags));
  g_object_class_install_property (
    klass, first + CONNECTED,
    g_param_spec_boolean ("connected", "Connected", "Whether there is a connection to the broker",
                          FALSE, flags));
  g_object_class_install_property (
    klass, first + WORKER,
    g_param_spec_string ("worker", "Worker", "Name of the worker that computed the last frame",
                         NULL, flags));
  g_object_class_install_property (
    klass, first + SILENCE,
    sl_property_count (
      "silence", "Silence",
      "Milliseconds since the oldest frame without a result, if no later frame had one; 0 if the "
      "last frame had a result"));
}

void
sl_remote_figures_get (const SlRemoteFigures *figures, guint index, GValue *value)
{
  if (index == WORKERS)
    g_value_set_uint (value, figures->workers);
  else if (index == CONNECTED)
    g_value_set_boolean (value, figures->connected);
  else if (index == WORKER)
    g_value_set_string (value, figures->worker);
  else if (index == SILENCE)
    g_value_set_uint64 (value, figures->lost_since > 0
                                 ? (guint64) (g_get_monotonic_time () - figures->lost_since) / 1000
                                 : 0);
  else
    g_value_set_uint64 (value, G_STRUCT_MEMBER (guint64, figures, counts[index].offset));
}

G_DEFINE_ENUM_TYPE (SlRemoteEncoding, sl_remote_encoding,
                    { SL_REMOTE_ENCODING_NONE, "As they are", "none" },
                    { SL_REMOTE_ENCODING_LZ4, "LZ4, without loss", "lz4" },
                    { SL_REMOTE_ENCODING_JPEG, "JPEG, with loss", "jpeg" })

void
sl_remote_figures_post (const SlRemoteFigures *figures, GstElement *element, const char *state,
                        const char *reason)
{
  GstStructure *structure = gst_structure_new (
    "slremote", "state", G_TYPE_STRING, state, "reason", G_TYPE_STRING, reason, "answered",
    G_TYPE_UINT64, figures->counts.answered, "lost", G_TYPE_UINT64, figures->counts.lost, "dropped",
    G_TYPE_UINT64, figures->counts.dropped, NULL);
  sl_element_post (element, structure);
}
