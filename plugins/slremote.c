/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slremote: runs a model on other machines. It takes input tensors and gives output tensors as
 * slinfer does. The workers publish the contract at the broker.
 *
 * The upstream thread pushes tensors into a client (pipelines/remote/client.h). A task on the
 * source pad pops the results in the same order. Serialised events keep their places. Invariant:
 * the contract exists from READY on, and a frame is decoded by the contract that it was made for.
 *
 * A new contract at the broker is offered upstream next to the current one, as slinfer does with a
 * new model. The CAPS event that accepts the offer is the switch.
 *
 * A frame that no worker computes in time is computed here, where there is a fallback. Else it
 * passes as an empty frame without a model result. The last tensor of a frame's regions then passes
 * as the end of the regions; the other tensors of regions are left out.
 */
#include "plugins/elements.h"

#include <string.h>

#include "core/base/redact.h"
#include "plugins/base/describe.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/base/password.h"
#include "plugins/base/properties.h"
#include "plugins/remote/figures.h"
#include "plugins/remote/local.h"
#include "plugins/remote/source_pad.h"
#include "plugins/base/report.h"
#include "plugins/tensor/buffer_pool.h"
#include "plugins/tensor/caps.h"
#include "plugins/tensor/mapping.h"
#include "plugins/tensor/model_caps.h"
#include "plugins/tensor/stage_latency.h"
#include "pipelines/remote/client.h"
#include "core/base/fail.h"

GST_DEBUG_CATEGORY_STATIC (sl_remote_debug);
#define GST_CAT_DEFAULT sl_remote_debug

typedef struct
{
  char *location, *username, *password, *password_file, *ca_file, *certificate, *key, *fallback;
  gint window, deadline, contract_timeout, encoding, jpeg_quality;
} Settings;

typedef struct
{
  GstElement parent;
  GstPad *sinkpad, *srcpad;
  Settings settings; /* object lock */
  SlRemoteClient *client;
  SlContract *contract;      /* object lock */
  char hash[SL_REMOTE_HASH]; /* object lock */
  SlRemoteFigures figures;   /* object lock: of the client that was stopped last */
  GstFlowReturn flow; /* object lock: downstream's last answer for the stream that comes in */
  guint stream_in, stream_out; /* object lock: numbers of the streams that come in and go out */
  SlTensorMapping inputs;      /* streaming thread */
  gboolean refused, live, asked_live;
  gboolean interrupted;   /* object lock: it is to stop: the start waits for nobody */
  SlStageLatency latency; /* task */
  gint64 frame_begun;     /* task: when a frame's first tensor was sent, if more follow; else 0 */
  GstEvent *unsent;       /* task (nullable): met a pad that flushes */
  SlRemoteLocal *fallback;
  gboolean told_lost, told_trouble, fallback_failed; /* task, and connection's thread */
} SlRemote;

typedef GstElementClass SlRemoteClass;

G_DEFINE_TYPE (SlRemote, sl_remote, GST_TYPE_ELEMENT)

#define AT(member) G_STRUCT_OFFSET (SlRemote, settings.member)

static const SlProperty properties[] = {
  { "location", "Location",
    "The broker, the workers' prefix and the model's name: mqtt[s]://[user[:password]@]host[:port]/"
    "PREFIX/MODEL, such as mqtts://door@broker/models/ssd. Reads back without the password",
    SL_PROPERTY_STRING, AT (location) },
  { "username", "User name", "User name; replaces the location's", SL_PROPERTY_STRING,
    AT (username) },
  { "password", "Password", "Password; replaces the location's. Never shown: reads back as unset",
    SL_PROPERTY_STRING, AT (password) },
  { "password-file", "Password file",
    "File with the password in one line, read at each start; replaces password and the location's",
    SL_PROPERTY_STRING, AT (password_file) },
  { "ca-file", "Certificate authorities",
    "PEM file of the authorities that sign the broker's certificate; unset = the system's",
    SL_PROPERTY_STRING, AT (ca_file) },
  { "certificate", "Certificate", "PEM file of this client's certificate", SL_PROPERTY_STRING,
    AT (certificate) },
  { "private-key", "Private key", "PEM file of this client's key", SL_PROPERTY_STRING, AT (key) },
  { "fallback", "Fallback",
    "Path of the same model's file, for frames that no worker computes; loaded when it is first "
    "needed; unset = such frames pass without predictions",
    SL_PROPERTY_STRING, AT (fallback) },
  { "window", "Window", "Most frames in flight to workers", SL_PROPERTY_INT, AT (window), 1, 1024,
    4 },
  { "deadline", "Deadline",
    "Milliseconds until a frame without an answer is given up; it is sent again once at half of "
    "that time, and when a worker dies",
    SL_PROPERTY_INT, AT (deadline), 10, 600000, 2000 },
  { "contract-timeout", "Contract timeout",
    "Milliseconds that the start waits for the broker and the model's contract, before the "
    "fallback's contract is taken, or the start fails",
    SL_PROPERTY_INT, AT (contract_timeout), 0, 600000, 5000 },
  { "encoding", "Encoding",
    "Encoding of tensors: none; lz4: compressed without loss; jpeg: uint8 pictures, much smaller, "
    "with loss. If the workers do not support it, a warning says so, and tensors are not encoded",
    SL_PROPERTY_CHOICE, AT (encoding), 0, 0, SL_REMOTE_ENCODING_NONE, sl_remote_encoding_get_type },
  { "jpeg-quality", "JPEG quality", "Quality for encoding=jpeg, from 1 (smallest) to 100",
    SL_PROPERTY_INT, AT (jpeg_quality), 1, 100, 95 },
};

#define FIRST_FIGURE (G_N_ELEMENTS (properties) + 1)

/* The caller holds the object lock. */
static void
update_figures (SlRemote *self)
{
  if (self->client != NULL)
    sl_remote_client_counts (self->client, &self->figures.counts, &self->figures.workers,
                             &self->figures.connected);
}

/* Of the client that runs, else of the last one. */
static void
read_figures (SlRemote *self, SlRemoteFigures *figures)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  self->figures.workers = 0;
  self->figures.connected = FALSE;
  update_figures (self);
  *figures = self->figures;
  figures->worker = figures->worker != NULL ? g_ref_string_acquire (figures->worker) : NULL;
}

static SlContract *
get_contract (SlRemote *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->contract != NULL ? sl_contract_ref (self->contract) : NULL;
}

/* (transfer full) (nullable): what the broker has and is not used yet. */
static SlContract *
get_offer (SlRemote *self, char hash[SL_REMOTE_HASH])
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  SlContract *offer = self->client != NULL ? sl_remote_client_offer (self->client, hash) : NULL;
  if (offer != NULL && g_str_equal (hash, self->hash))
    g_clear_pointer (&offer, sl_contract_unref);
  return offer;
}

/* Takes @contract. */
static void
use_contract (SlRemote *self, SlContract *contract, const char *hash)
{
  sl_tensor_mapping_clear (&self->inputs);
  sl_tensor_mapping_init (&self->inputs, contract->inputs, contract->n_inputs, 0);
  GST_OBJECT_LOCK (self);
  SlContract *before = self->contract;
  self->contract = contract;
  g_strlcpy (self->hash, hash, sizeof self->hash);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&before, sl_contract_unref);
  g_autofree char *summary = sl_contract_summary (contract);
  GST_INFO_OBJECT (self, "%s: %s (%s)", contract->model, summary, hash);
}

static void
post_state (SlRemote *self, const char *state, const char *reason)
{
  g_auto (SlRemoteFigures) figures = { .worker = NULL };
  read_figures (self, &figures);
  sl_remote_figures_post (&figures, GST_ELEMENT (self), state, reason);
}

/* Connection's thread. */
static void
notify (gpointer user, SlRemoteNews news, const char *text)
{
  SlRemote *self = user;
  GST_OBJECT_LOCK (self);
  const gboolean started = self->contract != NULL, told = self->told_trouble;
  self->told_trouble |= news == SL_REMOTE_TROUBLE;
  GST_OBJECT_UNLOCK (self);
  GST_INFO_OBJECT (self, "news %d: %s", news, text != NULL ? text : "");
  if (news == SL_REMOTE_CONTRACT && started) {
    gst_pad_push_event (self->sinkpad, gst_event_new_reconfigure ());
  } else if (news == SL_REMOTE_CONNECTED || news == SL_REMOTE_DISCONNECTED) {
    post_state (self, news == SL_REMOTE_CONNECTED ? "connected" : "disconnected", text);
    if (news == SL_REMOTE_DISCONNECTED)
      GST_ELEMENT_WARNING (self, RESOURCE, READ, ("%s; trying again", text), (NULL));
  } else if (news == SL_REMOTE_PLAIN) {
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("%s", text), (NULL));
  } else if (news == SL_REMOTE_TROUBLE && !told) {
    GST_ELEMENT_WARNING (self, RESOURCE, READ, ("%s; further ones are counted in refused", text),
                         (NULL));
  }
}

static SlRemoteClient *
open_client (SlRemote *self, char **warning, GError **error)
{
  const Settings *s = &self->settings;
  g_autofree char *password = NULL;
  SlRemoteClient *client = NULL;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  if (s->location == NULL)
    sl_fail (error, SL_ERROR_ARGUMENT, "%s",
             "location is not set: expected one such as " SL_REMOTE_EXAMPLE);
  else if (sl_password_choose (s->password, s->password_file, &password, warning, error)) {
    const SlRemoteClientSettings settings = { { s->location, s->username, password, s->ca_file,
                                                s->certificate, s->key },
                                              (guint) s->window,
                                              s->deadline * G_TIME_SPAN_MILLISECOND,
                                              (SlRemoteEncoding) s->encoding,
                                              s->jpeg_quality,
                                              s->fallback != NULL };
    client = sl_remote_client_new (&settings, notify, gst_object_ref (self), gst_object_unref,
                                   (GDestroyNotify) gst_mini_object_unref, error);
    if (client == NULL)
      gst_object_unref (self);
  }
  return client;
}

/* The pipeline is to stop: what waits here wakes. Any thread. */
static void
interrupt (SlRemote *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  self->interrupted = TRUE;
  if (self->client != NULL)
    sl_remote_client_unlock (self->client, TRUE);
}

static gboolean
is_interrupted (SlRemote *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->interrupted;
}

/* The contract of the broker, else of the fallback. */
static gboolean
find_contract (SlRemote *self, GError **error)
{
  g_autoptr (GError) reason = NULL;
  char hash[SL_REMOTE_HASH];
  GST_OBJECT_LOCK (self);
  const gint64 timeout = self->settings.contract_timeout * G_TIME_SPAN_MILLISECOND;
  g_autofree char *path = g_strdup (self->settings.fallback);
  GST_OBJECT_UNLOCK (self);
  SlContract *contract = sl_remote_client_wait (self->client, timeout, hash, &reason);
  if (contract == NULL && path != NULL && !is_interrupted (self)) {
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
                         ("%s; frames are computed here by %s", reason->message, path), (NULL));
    self->fallback = sl_remote_local_new (path, NULL, NULL, error);
    if (self->fallback == NULL)
      return FALSE;
    contract = sl_contract_ref (sl_remote_local_contract (self->fallback, hash));
  }
  if (contract == NULL) {
    g_propagate_error (error, g_steal_pointer (&reason));
    return FALSE;
  }
  use_contract (self, contract, hash);
  return TRUE;
}

static void
close_client (SlRemote *self)
{
  GST_OBJECT_LOCK (self);
  update_figures (self);
  SlRemoteClient *client = g_steal_pointer (&self->client);
  self->interrupted = FALSE;
  SlContract *contract = g_steal_pointer (&self->contract);
  self->hash[0] = '\0';
  GST_OBJECT_UNLOCK (self);
  sl_remote_client_free (client);
  g_clear_pointer (&contract, sl_contract_unref);
  g_clear_pointer (&self->fallback, sl_remote_local_free);
  sl_tensor_mapping_clear (&self->inputs);
}

static gboolean
start (SlRemote *self)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *warning = NULL;
  self->told_lost = self->told_trouble = self->fallback_failed = FALSE;
  SlRemoteClient *client = open_client (self, &warning, &error);
  if (warning != NULL)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("password-file=%s", warning), (NULL));
  GST_OBJECT_LOCK (self);
  self->client = client;
  if (client != NULL && self->interrupted)
    sl_remote_client_unlock (client, TRUE);
  self->figures.local = 0;
  self->figures.lost_since = 0;
  GST_OBJECT_UNLOCK (self);
  if (client != NULL && find_contract (self, &error))
    return TRUE;
  close_client (self);
  return sl_element_report (GST_ELEMENT (self), error);
}

/* Caps. */

static gboolean
answer_caps (SlRemote *self, GstPad *pad, GstQuery *query)
{
  char hash[SL_REMOTE_HASH];
  GstCaps *filter;
  g_autoptr (SlContract) offer = get_offer (self, hash);
  g_autoptr (SlContract) contract = get_contract (self);
  SlContract *contracts[] = { offer, contract };
  gst_query_parse_caps (query, &filter);
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (self->sinkpad);
  g_autoptr (GstCaps) caps =
    pad == self->sinkpad ? sl_remote_query_sink_caps (self->srcpad, filter, contracts)
                         : sl_model_caps_transform (GST_PAD_SINK, template, filter, contracts);
  gst_query_set_caps_result (query, caps);
  if (pad == self->sinkpad)
    sl_model_caps_answer (query, contracts);
  return TRUE;
}

/* A CAPS event: @tensors must be what the contract asks for, or the offered one, which is used from
 * here on. */
static gboolean
take_tensors (SlRemote *self, const GstCaps *caps, const SlTensorInfo *tensors, guint n,
              GError **error)
{
  char hash[SL_REMOTE_HASH];
  SlContract *offer = get_offer (self, hash), *made_for = sl_tensor_caps_contract (caps);
  if (offer != NULL && made_for != NULL && sl_contracts_equal (offer, made_for))
    use_contract (self, offer, hash);
  else
    g_clear_pointer (&offer, sl_contract_unref);
  if (sl_tensors_same (self->contract->inputs, self->contract->n_inputs, tensors, n))
    return TRUE;
  return sl_model_caps_refuse (self->contract, tensors, n, "slremote", error);
}

static gboolean
take_caps (SlRemote *self, GstEvent *event)
{
  SlTensorInfo tensors[SL_MAX_IO];
  GError *error = NULL;
  GstCaps *caps;
  g_autoptr (GstCaps) out = NULL;
  gst_event_parse_caps (event, &caps);
  const guint n = sl_tensor_caps_parse (caps, tensors, &error);
  if (n > 0 && take_tensors (self, caps, tensors, n, &error))
    out = sl_remote_choose_output (self->srcpad, caps, self->contract, &error);
  sl_tensor_infos_clear (tensors, n);
  gst_event_unref (event);
  if (out == NULL)
    return sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
  self->refused = FALSE;
  return sl_remote_client_push (self->client, gst_event_new_caps (out), NULL, NULL, NULL,
                                SL_REMOTE_EVENT);
}

static gboolean
sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  SlRemote *self = (SlRemote *) parent;
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      return answer_caps (self, pad, query);
    case GST_QUERY_ACCEPT_CAPS:
      /* take_caps() says what was expected and got. */
      return sl_remote_accept_tensors (pad, query);
    case GST_QUERY_ALLOCATION: {
      g_autoptr (SlContract) contract = get_contract (self);
      if (contract != NULL)
        sl_tensor_pool_offer (query, contract->inputs, contract->n_inputs, 2);
      return contract != NULL;
    }
    default:
      if (GST_QUERY_IS_SERIALIZED (query))
        sl_remote_client_drain (self->client);
      return gst_pad_query_default (pad, parent, query);
  }
}

static gboolean
src_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  SlRemote *self = (SlRemote *) parent;
  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS)
    return answer_caps (self, pad, query);
  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  if (!gst_pad_peer_query (self->sinkpad, query))
    return FALSE;
  sl_stage_latency_add (&self->latency, GST_ELEMENT (self), 0, query);
  return TRUE;
}

/* Frames in. */

static void
set_flow (SlRemote *self, GstFlowReturn flow)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  self->flow = flow;
}

/* Task: what downstream answers about an earlier stream than the one that comes in already is no
 * matter of that one. */
static void
set_stream_flow (SlRemote *self, GstFlowReturn flow)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  if (self->stream_in == self->stream_out)
    self->flow = flow;
}

static GstFlowReturn
get_flow (SlRemote *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->flow;
}

/* Whether frames come at their own pace, which is known when the first one comes. */
static gboolean
is_live (SlRemote *self)
{
  if (self->asked_live)
    return self->live;
  self->asked_live = TRUE;
  return self->live = sl_remote_peer_is_live (self->sinkpad);
}

/* Takes @buffer, whose tensors go to a worker; what remains is what its answer will be put into. */
static GstFlowReturn
push_tensors (SlRemote *self, GstBuffer *buffer)
{
  const SlTensorMappingStatus status = sl_tensor_mapping_read (&self->inputs, buffer);
  if (status != SL_TENSOR_MAPPING_OK) {
    g_autofree char *text = sl_tensor_mapping_complaint (&self->inputs, buffer, status);
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s: %s", self->contract->model, text), (NULL));
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  const gboolean live = is_live (self) && (meta == NULL || meta->content == SL_FRAME_WHOLE);
  GstBuffer *rest = gst_buffer_new ();
  gst_buffer_copy_into (rest, buffer, GST_BUFFER_COPY_METADATA, 0, -1);
  GST_BUFFER_OFFSET (rest) = GST_BUFFER_OFFSET (buffer);
  GST_BUFFER_OFFSET_END (rest) = GST_BUFFER_OFFSET_END (buffer);
  const gboolean taken =
    sl_remote_client_push (self->client, rest, self->contract, self->hash, self->inputs.data,
                           live ? SL_REMOTE_LIVE : SL_REMOTE_KEPT);
  sl_tensor_mapping_done (&self->inputs);
  gst_buffer_unref (buffer);
  return taken ? GST_FLOW_OK : GST_FLOW_FLUSHING;
}

static GstFlowReturn
sink_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  SlRemote *self = (SlRemote *) parent;
  const GstFlowReturn flow = get_flow (self);
  if (flow != GST_FLOW_OK || !sl_element_has_format (GST_ELEMENT (self), pad)) {
    gst_buffer_unref (buffer);
    return flow != GST_FLOW_OK ? flow : GST_FLOW_NOT_NEGOTIATED;
  }
  if (!sl_buffer_is_empty_frame (buffer))
    return push_tensors (self, buffer);
  return sl_remote_client_push (self->client, buffer, NULL, NULL, NULL, SL_REMOTE_KEPT)
           ? GST_FLOW_OK
           : GST_FLOW_FLUSHING;
}

/* Results out. */

/* The fallback, loaded on need. */
static gboolean
compute_here (SlRemote *self, const SlRemoteEntry *entry, void *const *outputs, GError **error)
{
  GST_OBJECT_LOCK (self);
  g_autofree char *path = g_strdup (self->settings.fallback);
  GST_OBJECT_UNLOCK (self);
  if (self->fallback != NULL && !sl_remote_local_suits (self->fallback, entry->hash))
    g_clear_pointer (&self->fallback, sl_remote_local_free);
  if (self->fallback == NULL)
    self->fallback = sl_remote_local_new (path, entry->contract, entry->hash, error);
  return self->fallback != NULL && sl_remote_local_run (self->fallback, entry, outputs, error);
}

static gboolean
has_fallback (SlRemote *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->settings.fallback != NULL && !self->fallback_failed;
}

static void
warn_lost (SlRemote *self, const SlRemoteEntry *entry)
{
  if (self->told_lost)
    return;
  self->told_lost = TRUE;
  post_state (self, "lost", NULL);
  GST_ELEMENT_WARNING (self, RESOURCE, READ,
                       ("no worker answers for %s: frames %s from now on, and are counted in lost",
                        entry->contract->model,
                        has_fallback (self) ? "are computed here" : "pass without predictions"),
                       (NULL));
}

/* Fills @buffer with the outputs of @entry, which a worker or this machine computed. */
static gboolean
fill (SlRemote *self, GstBuffer *buffer, const SlRemoteEntry *entry)
{
  GstMapInfo maps[SL_MAX_IO];
  void *outputs[SL_MAX_IO];
  g_autoptr (GError) error = NULL;
  const SlContract *contract = entry->contract;
  if (!sl_remote_append_outputs (buffer, contract, maps, outputs))
    return FALSE;
  gboolean filled = entry->state == SL_REMOTE_ANSWERED;
  if (!filled)
    filled = compute_here (self, entry, outputs, &error);
  for (guint i = 0; i < contract->n_outputs; i++) {
    if (entry->state == SL_REMOTE_ANSWERED)
      memcpy (outputs[i], entry->result.outputs.data[i], contract->outputs[i].bytes);
    gst_memory_unmap (maps[i].memory, &maps[i]);
  }
  if (filled)
    return TRUE;
  gst_buffer_remove_all_memory (buffer);
  GST_OBJECT_LOCK (self);
  self->fallback_failed = TRUE;
  GST_OBJECT_UNLOCK (self);
  GST_ELEMENT_WARNING (self, RESOURCE, READ, ("fallback: %s", error->message), (NULL));
  return FALSE;
}

/* Neither a worker nor this machine computed it. */
static void
note_loss (SlRemote *self, const SlRemoteEntry *entry)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  if (self->figures.lost_since == 0)
    self->figures.lost_since = entry->begun;
}

static void
note_result (SlRemote *self, GstBuffer *buffer, const SlRemoteEntry *entry)
{
  const gint64 now = g_get_monotonic_time ();
  const gboolean remote = entry->state == SL_REMOTE_ANSWERED;
  SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  GST_OBJECT_LOCK (self);
  self->figures.local += !remote;
  self->figures.lost_since = 0;
  if (remote)
    sl_remote_figures_set_worker (&self->figures, entry->result.worker);
  if (meta != NULL) {
    meta->inferred = now;
    sl_frame_meta_set_worker (meta, remote ? self->figures.worker : NULL);
  }
  GST_OBJECT_UNLOCK (self);
  if (remote)
    self->told_lost = FALSE;
  if (!sl_buffer_is_part (buffer))
    sl_stage_latency_note (&self->latency, GST_ELEMENT (self), now - self->frame_begun);
}

static GstFlowReturn
push_result (SlRemote *self, const SlRemoteEntry *entry, GstBuffer *buffer)
{
  const gboolean part = sl_buffer_is_part (buffer);
  if (self->frame_begun == 0)
    self->frame_begun = entry->begun;
  if (entry->state == SL_REMOTE_LOST)
    warn_lost (self, entry);
  const gboolean lost = entry->state == SL_REMOTE_LOST;
  if ((entry->state == SL_REMOTE_ANSWERED || (lost && has_fallback (self)))
      && fill (self, buffer, entry)) {
    note_result (self, buffer, entry);
  } else if (lost || entry->state == SL_REMOTE_ANSWERED) {
    note_loss (self, entry);
    buffer = sl_remote_make_empty (buffer);
  }
  if (!part)
    self->frame_begun = 0;
  return buffer != NULL ? gst_pad_push (self->srcpad, buffer) : GST_FLOW_OK;
}

/* Takes @event. */
static void
push_event (SlRemote *self, GstEvent *event)
{
  const GstEventType type = GST_EVENT_TYPE (event);
  GST_OBJECT_LOCK (self);
  self->stream_out += type == GST_EVENT_STREAM_START;
  GST_OBJECT_UNLOCK (self);
  if (!gst_pad_push_event (self->srcpad, gst_event_ref (event))
      && GST_PAD_IS_FLUSHING (self->srcpad))
    gst_event_replace (&self->unsent, event);
  gst_event_unref (event);
  if (type == GST_EVENT_EOS)
    set_stream_flow (self, GST_FLOW_EOS);
}

static void
src_task (gpointer data)
{
  SlRemote *self = data;
  SlRemoteEntry *entry = sl_remote_client_pop (self->client);
  if (entry == NULL) {
    gst_pad_pause_task (self->srcpad);
    return;
  }
  gpointer object = g_steal_pointer (&entry->data);
  if (GST_IS_EVENT (object)) {
    push_event (self, object);
  } else {
    const GstFlowReturn flow = push_result (self, entry, object);
    if (flow != GST_FLOW_OK)
      set_stream_flow (self, flow);
  }
  sl_remote_client_done (self->client, entry);
}

/* @keeps: sticky events that did not go out yet still do, when the next frame does. */
static void
start_task (SlRemote *self, gboolean keeps)
{
  SlRemoteEntry *entry;
  if (keeps && self->unsent != NULL)
    sl_remote_keep_event (self->srcpad, self->unsent);
  gst_event_replace (&self->unsent, NULL);
  while ((entry = sl_remote_client_take (self->client)) != NULL) {
    if (keeps)
      sl_remote_keep_event (self->srcpad, entry->data);
    sl_remote_client_done (self->client, entry);
  }
  GST_OBJECT_LOCK (self);
  self->stream_out = self->stream_in;
  self->flow = GST_FLOW_OK;
  GST_OBJECT_UNLOCK (self);
  self->frame_begun = 0;
  sl_remote_client_unlock (self->client, FALSE);
  gst_pad_start_task (self->srcpad, src_task, self, NULL);
}

static gboolean
sink_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  SlRemote *self = (SlRemote *) parent;
  gboolean done;
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      return take_caps (self, event);
    case GST_EVENT_FLUSH_START:
      set_flow (self, GST_FLOW_FLUSHING);
      sl_remote_client_unlock (self->client, TRUE);
      done = gst_pad_push_event (self->srcpad, event);
      gst_pad_pause_task (self->srcpad);
      return done;
    case GST_EVENT_FLUSH_STOP:
      done = gst_pad_push_event (self->srcpad, event);
      start_task (self, TRUE);
      return done;
    default:
      if (!GST_EVENT_IS_SERIALIZED (event))
        return gst_pad_push_event (self->srcpad, event);
      if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START) {
        self->asked_live = FALSE;
        GST_OBJECT_LOCK (self);
        self->stream_in++;
        self->flow = GST_FLOW_OK;
        GST_OBJECT_UNLOCK (self);
      }
      return sl_remote_client_push (self->client, event, NULL, NULL, NULL, SL_REMOTE_EVENT);
  }
}

static gboolean
src_activate (GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  SlRemote *self = (SlRemote *) parent;
  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  if (active) {
    sl_stage_latency_start (&self->latency, GST_ELEMENT (self));
    start_task (self, FALSE);
    return TRUE;
  }
  set_flow (self, GST_FLOW_FLUSHING);
  sl_remote_client_unlock (self->client, TRUE);
  return gst_pad_stop_task (pad);
}

static GstStateChangeReturn
sl_remote_change_state (GstElement *element, GstStateChange transition)
{
  SlRemote *self = (SlRemote *) element;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  self->refused &= transition != GST_STATE_CHANGE_READY_TO_PAUSED;
  const GstStateChangeReturn result =
    GST_ELEMENT_CLASS (sl_remote_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    close_client (self);
  return result;
}

static void
sl_remote_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  SlRemote *self = (SlRemote *) object;
  if (id >= FIRST_FIGURE) {
    g_auto (SlRemoteFigures) figures = { .worker = NULL };
    read_figures (self, &figures);
    sl_remote_figures_get (&figures, id - FIRST_FIGURE, value);
    return;
  }
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  if (g_str_equal (pspec->name, "password"))
    g_value_set_string (value, NULL);
  else if (g_str_equal (pspec->name, "location"))
    g_value_take_string (value, self->settings.location != NULL
                                  ? sl_redact_uri (self->settings.location, NULL)
                                  : NULL);
  else
    sl_property_get (self, &properties[id - 1], value);
}

static void
sl_remote_finalize (GObject *object)
{
  SlRemote *self = (SlRemote *) object;
  close_client (self);
  gst_event_replace (&self->unsent, NULL);
  sl_remote_figures_clear (&self->figures);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_remote_parent_class)->finalize (object);
}

static void
sl_remote_class_init (SlRemoteClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_remote_debug, "slremote", 0, "has a model run on other machines");
  object_class->finalize = sl_remote_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  object_class->get_property = sl_remote_get_property;
  sl_remote_figures_install (object_class, FIRST_FIGURE);
  g_signal_new_class_handler ("interrupt", G_TYPE_FROM_CLASS (klass),
                              G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (interrupt), NULL,
                              NULL, NULL, G_TYPE_NONE, 0);
  sl_element_class_pads (element_class, SL_TENSOR_TEMPLATE_CAPS, SL_TENSOR_TEMPLATE_CAPS);
  sl_element_class_describe (
    element_class, "Sightline remote inference", "Filter/Analyzer/Tensor",
    "Runs a model on other machines: an MQTT 5 broker passes tensors to workers (sightline serve). "
    "It replaces slinfer and needs no model file: the broker has the model's contract.",
    "gst-launch-1.0 v4l2src ! videoconvert ! slnormalize ! slremote "
    "location=mqtt://localhost/models/ssd ! slpostprocess ! text/x-raw ! fdsink",
    "remote.md");
  element_class->change_state = sl_remote_change_state;
}

static void
sl_remote_init (SlRemote *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  self->sinkpad =
    gst_pad_new_from_template (gst_element_get_pad_template (GST_ELEMENT (self), "sink"), "sink");
  gst_pad_set_chain_function (self->sinkpad, sink_chain);
  gst_pad_set_event_function (self->sinkpad, sink_event);
  gst_pad_set_query_function (self->sinkpad, sink_query);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  self->srcpad =
    gst_pad_new_from_template (gst_element_get_pad_template (GST_ELEMENT (self), "src"), "src");
  gst_pad_set_activatemode_function (self->srcpad, src_activate);
  gst_pad_set_query_function (self->srcpad, src_query);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
