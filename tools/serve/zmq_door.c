/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The door for clients of ZeroMQ, which send pictures and get objects: Frigate's detector of type
 * zmq. Each wake-up of a thread costs as much as a copy of the picture. So a computing thread that
 * has nothing to do reads a client itself, makes a tensor of its picture, and sends the answer.
 * While all of them compute, the door's thread takes pictures, and they wait in the queue. A
 * picture whose client has given up is not computed; so a model that is too slow does not fall
 * behind further.
 *
 * Invariant: while a computing thread waits at the server and the queue has something that no other
 * one is about to take, the server is nudged.
 */
#include <string.h>

#include <glib/gstdio.h>

#include "core/base/fail.h"
#include "core/base/printable.h"
#include "core/runtime/session.h"
#include "predict/contractspec.h"
#include "predict/opendecoding.h"
#include "tools/run/log.h"
#include "tools/serve/serving.h"
#include "tools/serve/zmq_endpoint.h"
#include "tools/serve/zmq_message.h"
#include "tools/serve/zmtp_server.h"

/* A picture may have this many times the model's width and height; a message as many bytes as such
 * a picture of uint8, and those of a header. */
#define MAX_ENLARGED 4
#define MIN_MESSAGE (1 << 20)
#define HEADER_BYTES (64 << 10)
/* Memory that clients have for larger pictures than the model's, all together; one such picture has
 * room in any case. */
#define LARGE_BYTES (64 << 20)
#define MAX_CLIENTS 64
/* A greeting or a picture may take this long, or as long as a client waits, if that is longer. */
#define STALL_US (10 * G_TIME_SPAN_SECOND)
/* A longer header is read anew each time. */
#define MAX_KNOWN_HEADER 512
/* Runs at the start that tell the time of a frame. */
#define N_TIMED 5
/* Lines about models that clients ask for. */
#define MAX_TOLD 20
/* Classes without a number of the client's that a message names. */
#define MAX_NAMED 5

typedef gfloat Rows[SL_ZMQ_ROWS][SL_ZMQ_COLUMNS];

struct _SlZmqDoor
{
  SlServeWorker *worker;
  SlServedModel *served;
  SlZmtpServer *server;
  gboolean bound;
  GThread *thread; /* under the worker's lock */
  gint closing;    /* atomic */
  gint64 patience_us;
  /* Under the lock of what takes messages: */
  GMutex take_lock;
  GThread *taker; /* atomic: the thread that takes a message */
  SlNormalizeSpec spec;
  SlNormalizer *normalizer; /* (nullable): for pictures like @image */
  SlImageInfo image;
  GByteArray *scratch;
  GByteArray *known_text; /* the header of the last picture: clients send the same one each time */
  SlZmqHeader known;      /* without a name */
  guint64 client;         /* of the last picture, and what it is called where clients are counted */
  char client_name[24];
  char *told; /* (nullable): the model's name of the last client's request */
  guint n_told;
  /* Under the lock: */
  GMutex lock;
  SlDecoding *decoding;
  SlLabels *labels; /* (nullable) */
  SlPredictionMapper *mapper;
  gint32 *ids; /* (nullable): the clients' class of each class */
  guint n_ids;
};

/* Sends @text (nullable), or @rows (nullable), without them rows without an object. Any thread. */
static void
send_reply (SlZmqDoor *door, guint64 client, const char *text, const Rows *rows)
{
  static const Rows none = { { 0 } };
  const char *header = text != NULL ? text : SL_ZMQ_ANSWER_HEADER;
  const SlZmtpPart parts[] = { { NULL, 0 },
                               { (const guint8 *) header, strlen (header) },
                               { (const guint8 *) (rows != NULL ? rows : &none), sizeof none } };
  sl_zmtp_server_send (door->server, client, parts, text != NULL ? 2 : 3);
}

static gboolean
ensure_normalizer (SlZmqDoor *door, const SlImageInfo *info, GError **error)
{
  if (door->normalizer != NULL && sl_image_info_same (&door->image, info))
    return TRUE;
  g_clear_pointer (&door->normalizer, sl_normalizer_free);
  const SlNormalizeStatus status = sl_normalizer_new (&door->normalizer, info, &door->spec);
  door->image = *info;
  return status == SL_NORMALIZE_OK
         || sl_fail (error, SL_ERROR_BACKEND, "request: pictures of %dx%d: %s", info->width,
                     info->height, sl_normalize_status_text (status));
}

/* (transfer full) */
static char *
client_name (SlZmqDoor *door, guint64 client)
{
  if (door->client != client)
    g_snprintf (door->client_name, sizeof door->client_name, "%" G_GUINT64_FORMAT, client);
  door->client = client;
  return g_strdup (door->client_name);
}

/* (transfer full): the picture of @part as a request; NULL with @error set. */
static SlWork *
take_picture (SlZmqDoor *door, const SlZmqHeader *header, const SlZmtpPart *part, guint64 client,
              GError **error)
{
  SlImageInfo info;
  SlImage image;
  const gsize expected = sl_zmq_picture_bytes (header);
  if (part->size != expected)
    return sl_fail_null (error, SL_ERROR_FORMAT,
                         "request: expected %" G_GSIZE_FORMAT
                         " bytes for the shape, got %" G_GSIZE_FORMAT,
                         expected, part->size);
  if (header->is_float)
    g_byte_array_set_size (door->scratch, (guint) (expected / sizeof (gfloat)));
  sl_zmq_picture_image (header, part->data, door->scratch->data, &info, &image);
  SlWork *work =
    ensure_normalizer (door, &info, error)
      ? sl_work_new (door->served, client_name (door, client), door->patience_us, error)
      : NULL;
  if (work == NULL)
    return NULL;
  if (part->own != NULL && !header->is_float && expected == door->served->contract->inputs[0].bytes
      && sl_normalizer_copies (door->normalizer)) {
    void *picture = *part->own;
    *part->own = work->inputs[0];
    work->inputs[0] = picture;
  } else
    sl_normalizer_run (door->normalizer, &image, work->inputs[0]);
  work->reply.zmq.client = client;
  work->reply.zmq.geometry = (SlFrameGeometry){ .affine = *sl_normalizer_map (door->normalizer),
                                                .tensor_width = door->spec.width,
                                                .tensor_height = door->spec.height,
                                                .frame_width = info.width,
                                                .frame_height = info.height };
  return work;
}

static gboolean
has_room (SlServeWorker *worker)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&worker->lock);
  return worker->queue.length < worker->queue_length;
}

/* An answer without objects, and a line in the log. */
static void
refuse (SlZmqDoor *door, guint64 client, const char *sentence)
{
  g_mutex_lock (&door->worker->lock);
  door->served->figures.refused++;
  g_mutex_unlock (&door->worker->lock);
  sl_serve_complain_some (door->worker, door->served->name, sentence);
  send_reply (door, client, NULL, NULL);
}

static void
answer_about_model (SlZmqDoor *door, const SlZmqHeader *header, guint64 client)
{
  const char *name = header->name != NULL ? header->name : "";
  if (g_strcmp0 (door->told, name) != 0 && door->n_told++ < MAX_TOLD) {
    g_autofree char *shown = sl_printable (name, SL_PRINTABLE_NAME);
    if (header->kind == SL_ZMQ_MODEL_REQUEST)
      sl_run_log (SL_LOG_INFO, door->served->name, "asked",
                  "a client asks for the model %s: %s answers", shown, door->served->file);
    else
      sl_run_log (SL_LOG_WARNING, door->served->name, "asked",
                  "a client sends the model %s: refused, since %s is served", shown,
                  door->served->file);
    g_free (door->told);
    door->told = g_strdup (name);
  }
  g_autofree char *text = sl_zmq_model_answer (header->kind, header->name, door->served->file);
  send_reply (door, client, text, NULL);
}

static gboolean
read_header (SlZmqDoor *door, const SlZmtpPart *part, SlZmqHeader *header, GError **error)
{
  GByteArray *text = door->known_text;
  const gsize size = part->size;
  if (size > HEADER_BYTES)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "request: expected a header of at most %d bytes, got %" G_GSIZE_FORMAT,
                    HEADER_BYTES, size);
  if (size > 0 && size == text->len && memcmp (text->data, part->data, size) == 0) {
    *header = door->known;
    return TRUE;
  }
  if (!sl_zmq_header_read ((const char *) part->data, size, header, error))
    return FALSE;
  if (header->kind == SL_ZMQ_PICTURE && header->name == NULL && size <= MAX_KNOWN_HEADER) {
    g_byte_array_set_size (text, 0);
    g_byte_array_append (text, part->data, (guint) size);
    door->known = *header;
  }
  return TRUE;
}

/* @parts: delimiter, header, picture, and others that nobody needs. */
static void
take_message (SlZmqDoor *door, guint64 client, const SlZmtpPart *parts, guint n)
{
  g_auto (SlZmqHeader) header = { 0 };
  g_autoptr (GError) error = NULL;
  if (parts[0].size > 0)
    sl_serve_complain_some (
      door->worker, door->served->name,
      "request: expected an empty part in front, as sockets of type REQ send it without "
      "ZMQ_REQ_CORRELATE");
  else if (n < 2)
    refuse (door, client, "request: expected a header and a picture, got neither");
  else if (!read_header (door, &parts[1], &header, &error))
    refuse (door, client, error->message);
  else if (header.kind != SL_ZMQ_PICTURE)
    answer_about_model (door, &header, client);
  else if (n < 3)
    refuse (door, client, "request: expected a picture after the header, got none");
  else if (!has_room (door->worker))
    refuse (door, client, "request: too many wait here: take a faster model, or more --jobs");
  else {
    SlWork *work = take_picture (door, &header, &parts[2], client, &error);
    if (work != NULL)
      sl_serve_worker_take (door->worker, work);
    else
      refuse (door, client, error->message);
  }
}

static void
take (guint64 client, const SlZmtpPart *parts, guint n_parts, gpointer data)
{
  SlZmqDoor *door = data;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&door->take_lock);
  g_atomic_pointer_set (&door->taker, g_thread_self ());
  take_message (door, client, parts, n_parts);
  g_atomic_pointer_set (&door->taker, NULL);
}

static void
tell_trouble (const char *sentence, gpointer data)
{
  const SlZmqDoor *door = data;
  sl_serve_complain_some (door->worker, door->served->name, sentence);
}

/* Under the lock of the worker. */
static void
nudge_idle (SlServeWorker *worker)
{
  if (worker->queue.length > 0 && worker->idle > 0)
    sl_zmtp_server_nudge (worker->zmq->server);
}

static void
await (SlServeWorker *worker)
{
  SlZmqDoor *door = worker->zmq;
  sl_zmtp_server_step (door->server);
  if (g_atomic_int_get (&door->closing))
    sl_zmtp_server_nudge (door->server); /* the next one that waits */
}

/* A nudge that it gets was for a computing thread. */
static gpointer
door_thread (gpointer data)
{
  SlZmqDoor *door = data;
  while (!g_atomic_int_get (&door->closing))
    if (sl_zmtp_server_step (door->server)) {
      g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&door->worker->lock);
      nudge_idle (door->worker);
    }
  sl_zmtp_server_nudge (door->server);
  return NULL;
}

static void
interrupt (SlServeWorker *worker)
{
  SlZmqDoor *door = worker->zmq;
  if (door == NULL || door->server == NULL)
    return;
  g_atomic_int_set (&door->closing, TRUE);
  sl_zmtp_server_nudge (door->server);
}

/* Under the door's lock: FALSE where the values contradict the decoder. */
static gboolean
decode (SlZmqDoor *door, const SlWork *work, void *const *outputs, Rows *rows, GError **error)
{
  SlPredictionView prediction = { .source = NULL };
  const SlResult *result = sl_decoding_run (door->decoding, (const void *const *) outputs);
  if (!sl_decoding_agrees (door->decoding, door->served->contract->model, error))
    return FALSE;
  sl_prediction_mapper_fill (door->mapper, result, door->labels,
                             sl_decoding_names (door->decoding, NULL), &work->reply.zmq.geometry, 1,
                             &prediction);
  sl_zmq_rows (&prediction, door->ids, door->n_ids, *rows);
  return TRUE;
}

static gboolean
answer (SlServeWorker *worker, SlWork *work, void *const *outputs, const char *refusal,
        gint64 start, gint64 end)
{
  SlZmqDoor *door = worker->zmq;
  g_autoptr (GError) error = NULL;
  Rows rows = { { 0 } };
  gboolean good = refusal == NULL;
  if (good) {
    g_mutex_lock (&door->lock);
    good = decode (door, work, outputs, &rows, &error);
    g_mutex_unlock (&door->lock);
  }
  if (!good)
    sl_serve_complain_some (worker, work->served->name, refusal != NULL ? refusal : error->message);
  send_reply (door, work->reply.zmq.client, NULL, good ? &rows : NULL);
  return good;
}

/* A computing thread that takes a picture from a client computes it itself. */
static void
settle (SlServeWorker *worker)
{
  SlZmqDoor *door = worker->zmq;
  if (door != NULL
      && (g_thread_self () == door->thread
          || g_thread_self () != g_atomic_pointer_get (&door->taker)))
    nudge_idle (worker);
}

static gboolean
open_server (SlZmqDoor *door, const char *endpoint, GError **error)
{
  static const SlZmtpHandlers handlers = { take, tell_trouble };
  const gsize picture = (gsize) door->spec.width * door->spec.height * 3;
  const SlZmtpLimits limits = {
    .clients = MAX_CLIENTS,
    .most = MAX (picture * MAX_ENLARGED * MAX_ENLARGED, MIN_MESSAGE) + HEADER_BYTES,
    .keep = picture * sizeof (gfloat) + HEADER_BYTES,
    .large = MAX (picture * MAX_ENLARGED * MAX_ENLARGED + HEADER_BYTES, LARGE_BYTES),
    .stall_us = MAX (STALL_US, door->patience_us),
  };
  const int listener = sl_zmq_endpoint_listen (endpoint, error);
  door->bound = listener >= 0;
  if (!door->bound)
    return FALSE;
  door->server = sl_zmtp_server_new (listener, &limits, &handlers, door, error);
  return door->server != NULL || sl_fail_prefix (error, "--zmq %s: ", endpoint);
}

/* The clients' class of each of ours, by its name in the file @path. */
static gboolean
read_label_map (SlZmqDoor *door, const char *path, GError **error)
{
  g_autoptr (GPtrArray) names = sl_decoding_class_names (door->decoding, door->labels);
  g_autoptr (SlLabels) theirs = sl_labels_load (path, error);
  g_autoptr (GString) missing = g_string_new (NULL);
  guint n_missing = 0;
  if (theirs == NULL)
    return sl_fail_prefix (error, "--label-map: ");
  door->n_ids = names->len;
  door->ids = g_new (gint32, MAX (names->len, 1));
  for (guint i = 0; i < names->len; i++) {
    const char *name = names->pdata[i];
    door->ids[i] = -1;
    for (guint k = 0; name != NULL && door->ids[i] < 0 && k < sl_labels_count (theirs); k++)
      if (sl_labels_get (theirs, k) != NULL
          && g_ascii_strcasecmp (sl_labels_get (theirs, k), name) == 0)
        door->ids[i] = (gint32) k;
    if (name != NULL && door->ids[i] < 0 && n_missing++ < MAX_NAMED) {
      g_autofree char *shown = sl_printable (name, SL_PRINTABLE_NAME);
      g_string_append_printf (missing, "%s%s", missing->len > 0 ? ", " : "", shown);
    }
  }
  if (n_missing == names->len)
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "--label-map %s: expected names of the model's classes, such as %s, got %s",
                    path, names->len > 0 ? missing->str : "none, since the model names none",
                    sl_labels_get (theirs, 0) != NULL ? sl_labels_get (theirs, 0) : "others");
  if (n_missing > 0)
    sl_run_log (SL_LOG_INFO, door->served->name, "labels",
                "%u of %u classes are not in %s, so their objects are left out: %s%s", n_missing,
                names->len, path, missing->str, n_missing > MAX_NAMED ? ", ..." : "");
  return TRUE;
}

static gboolean
open_decoding (SlZmqDoor *door, const SlServeSettings *settings, GError **error)
{
  SlContract *contract = door->served->contract;
  const SlDecodingSettings how = { .threshold = settings->threshold,
                                   .max_results = SL_ZMQ_ROWS * 2 };
  door->decoding =
    sl_decoding_open (contract, contract->outputs, contract->n_outputs, &how, &door->labels, error);
  if (door->decoding == NULL)
    return sl_fail_prefix (error, "%s: ", contract->model);
  door->mapper = sl_prediction_mapper_new ();
  sl_prediction_mapper_choose (door->mapper, NULL, SL_ZMQ_ROWS * 2);
  return settings->label_map == NULL || read_label_map (door, settings->label_map, error);
}

/* Whether the model finds objects, and in time. */
static gboolean
try_model (SlZmqDoor *door, const SlServeSettings *settings, const SlWork *work,
           void *const *outputs, GError **error)
{
  const SlContract *contract = door->served->contract;
  gint64 least = G_MAXINT64;
  g_autoptr (SlSession) session =
    sl_session_new (sl_model_graph (door->served->model), settings->threads, error);
  if (session == NULL)
    return FALSE;
  for (guint i = 0; i < N_TIMED; i++) {
    const gint64 start = g_get_monotonic_time ();
    const SlStatus status = sl_session_run (session, (const void *const *) work->inputs, outputs);
    if (status != SL_STATUS_OK)
      return sl_fail (error, SL_ERROR_BACKEND, "%s: %s", contract->model,
                      sl_session_status_text (session, status));
    least = MIN (least, g_get_monotonic_time () - start);
  }
  const SlResult *result = sl_decoding_run (door->decoding, (const void *const *) outputs);
  if (result->n_classes > 0 || result->mask.width > 0 || result->vector.n > 0
      || result->picture.width > 0 || result->outputs.n > 0)
    return sl_fail (error, SL_ERROR_CONTRACT,
                    "--zmq: %s: expected a model that finds objects, got decoder %s",
                    contract->model, sl_decoding_decoder (door->decoding)->name);
  const double ms = (double) least / G_TIME_SPAN_MILLISECOND,
               patience = (double) door->patience_us / G_TIME_SPAN_MILLISECOND;
  const gboolean slow = ms > patience;
  sl_run_log (slow ? SL_LOG_WARNING : SL_LOG_INFO, door->served->name, "speed",
              slow
                ? "a frame takes %.1f ms, and clients wait %.0f ms, so they get no objects: take "
                  "a smaller or an 8-bit model, more --threads, or a longer request_timeout_ms in "
                  "Frigate with --zmq-timeout here"
                : "a frame takes %.1f ms, of the %.0f ms that clients wait",
              ms, patience);
  return TRUE;
}

static gboolean
try_door (SlZmqDoor *door, const SlServeSettings *settings, GError **error)
{
  const SlContract *contract = door->served->contract;
  void *outputs[SL_MAX_IO] = { NULL };
  SlWork *work = sl_work_new (door->served, NULL, 0, error);
  gboolean good = work != NULL;
  for (guint i = 0; good && i < contract->n_outputs; i++)
    if ((outputs[i] = sl_tensor_buffer_new (contract->outputs[i].bytes)) == NULL)
      good =
        sl_fail (error, SL_ERROR_LIMIT, "%s: there is no memory for its outputs", contract->model);
  if (good)
    memset (work->inputs[0], 0, contract->inputs[0].bytes);
  good = good && try_model (door, settings, work, outputs, error);
  for (guint i = 0; i < contract->n_outputs; i++)
    sl_tensor_buffer_free (outputs[i]);
  sl_work_free (work);
  return good;
}

/* The pictures that the model takes. */
static gboolean
choose_spec (SlZmqDoor *door, GError **error)
{
  const SlContract *contract = door->served->contract;
  door->spec.filter = SL_FILTER_AUTO;
  if (sl_contract_spec (contract, &door->spec))
    return sl_contract_require_one_input (contract, error);
  g_autofree char *summary = sl_contract_summary (contract);
  return sl_fail (error, SL_ERROR_CONTRACT,
                  "--zmq: %s: expected a model whose input is a picture, got %s", contract->model,
                  summary);
}

static gboolean
open_door (SlServeWorker *worker, const SlServeSettings *settings, GError **error)
{
  SlZmqDoor *door = worker->zmq = g_new0 (SlZmqDoor, 1);
  door->worker = worker;
  door->served = g_ptr_array_index (worker->models, 0);
  door->patience_us = settings->patience_ms * G_TIME_SPAN_MILLISECOND;
  door->scratch = g_byte_array_new ();
  door->known_text = g_byte_array_new ();
  g_mutex_init (&door->lock);
  worker->address = g_strdup (settings->endpoint);
  g_mutex_init (&door->take_lock);
  if (!choose_spec (door, error) || !open_server (door, settings->endpoint, error)
      || !open_decoding (door, settings, error) || !try_door (door, settings, error))
    return FALSE;
  if (settings->label_map == NULL)
    sl_run_log (SL_LOG_INFO, door->served->name, "labels",
                "answers have the model's own class numbers: state --label-map FILE, the label map "
                "of Frigate, where that has others");
  g_mutex_lock (&worker->lock);
  worker->connected = worker->receives = TRUE;
  worker->state = SL_SERVE_SERVING;
  door->thread = g_thread_new ("sl-zmq", door_thread, door);
  g_cond_broadcast (&worker->changed); /* computing threads wait at the socket from now on */
  g_mutex_unlock (&worker->lock);
  sl_run_log (SL_LOG_INFO, NULL, "listening", "listening at %s", settings->endpoint);
  return TRUE;
}

static gboolean
has_answered (SlServeWorker *worker)
{
  return worker->queue.length == 0 && worker->busy == 0;
}

static gboolean
drain (SlServeWorker *worker, gint64 until)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&worker->lock);
  worker->draining = TRUE;
  worker->receives = FALSE;
  worker->state = SL_SERVE_LEAVING;
  interrupt (worker);
  return sl_serve_worker_wait (worker, has_answered, until);
}

static void
close_door (SlServeWorker *worker)
{
  SlZmqDoor *door = g_steal_pointer (&worker->zmq);
  if (door == NULL)
    return;
  if (door->thread != NULL)
    g_thread_join (door->thread); /* it was interrupted with the computing threads */
  g_clear_pointer (&door->server, sl_zmtp_server_free);
  if (door->bound && sl_zmq_endpoint_path (worker->address) != NULL)
    g_unlink (sl_zmq_endpoint_path (worker->address));
  g_byte_array_unref (door->scratch);
  g_byte_array_unref (door->known_text);
  g_clear_pointer (&door->normalizer, sl_normalizer_free);
  g_clear_pointer (&door->decoding, sl_decoding_free);
  g_clear_pointer (&door->labels, sl_labels_unref);
  g_clear_pointer (&door->mapper, sl_prediction_mapper_free);
  g_mutex_clear (&door->lock);
  g_mutex_clear (&door->take_lock);
  g_free (door->ids);
  g_free (door->told);
  g_free (door);
}

const SlServeDoor sl_serve_zmq_door = { open_door,  answer, settle,   drain,
                                        close_door, await,  interrupt };
