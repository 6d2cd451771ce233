/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A window (pipelines/remote/window.h) behind a lock, and a connection that fills and empties it.
 *
 * A frame goes out from the thread that pushes it where there is room, else from the connection's
 * when an answer makes some. The answer's topic and the correlation data have a number in them that
 * was drawn at the start, so no client takes another's answer.
 */
#include "pipelines/remote/client.h"

#include <string.h>

#include "core/base/printable.h"
#include "pipelines/remote/topics.h"
#include "core/base/fail.h"

#define KEEP_ALIVE_S 15
#define RETRY_MIN_MS 250
#define RETRY_MAX_MS 10000
#define PACKET_ROOM 65536
#define MAX_WORKERS 4096

/* Shared by its owner and the connection's thread. The thread may be inside a call when the owner
 * drops its reference. */
struct _SlRemoteClient
{
  gatomicrefcount refs;
  SlRemoteNotify notify;
  gpointer user;
  GDestroyNotify free_user;
  char *prefix, *model, *asker, *contract_topic, *workers_topic, *answers_topic;
  guint8 instance[8];
  gboolean impatient;
  SlRemoteEncoding encoding; /* asked for */
  gint quality;
  SlBroker *broker;
  GMutex lock;
  GCond changed;
  /* Under the lock: */
  SlRemoteWindow window;
  SlContract *contract; /* (nullable): at the broker */
  char hash[SL_REMOTE_HASH];
  guint encodings;     /* that its workers and this build read */
  gboolean told_plain; /* frames are not encoded as was asked for, and that was told */
  char *trouble;       /* (nullable): why there is no contract */
  char *untold;        /* (nullable): to be told by the connection's thread */
  GHashTable *workers; /* topics */
  gboolean connected, unlocked;
  gboolean in_hand; /* what was popped last is not done with */
  gboolean denied;  /* there will be no contract before a person does something */
};

static void
tell (SlRemoteClient *self, SlRemoteNews news, const char *text)
{
  g_autofree char *shown = text != NULL ? sl_printable_message (text) : NULL;
  self->notify (self->user, news, shown);
}

/* Under the lock: no broker will ever have @entry. */
static void
give_up (SlRemoteClient *self, SlRemoteEntry *entry, gint sent)
{
  if (self->untold == NULL)
    self->untold = sl_broker_explain (sent, "a request", entry->request_size);
  self->window.counts.refused++;
  sl_remote_window_lose (&self->window, entry);
}

/* Under the lock. FALSE: there is no connection. */
static gboolean
send_entry (SlRemoteClient *self, SlRemoteEntry *entry, gint64 now)
{
  guint8 correlation[SL_REMOTE_CORRELATION];
  const gint64 begun = entry->state == SL_REMOTE_SENT ? entry->begun : now;
  const gint64 left = MAX (begun + self->window.deadline_us - now, 1000);
  g_autofree char *topic =
    sl_remote_topic_work (self->prefix, self->model, entry->hash, self->asker);
  const guint64 big = GUINT64_TO_BE (entry->id);
  memcpy (correlation, self->instance, sizeof self->instance);
  memcpy (correlation + sizeof self->instance, &big, sizeof big);
  sl_remote_request_renew (entry->request, (guint) (left / 1000));
  const gint message =
    sl_broker_send (self->broker, &(SlBrokerSend){ .topic = topic,
                                                   .data = entry->request,
                                                   .size = entry->request_size,
                                                   .expiry = (guint) (left / G_USEC_PER_SEC) + 1,
                                                   .response = self->answers_topic,
                                                   .correlation = correlation,
                                                   .correlation_size = sizeof correlation });
  if (message > 0)
    sl_remote_window_sent (&self->window, entry, message, now);
  else if (message < 0)
    give_up (self, entry, message);
  return message != 0;
}

/* Under the lock: whether the broker takes another message: the connection queues what a slow
 * network does not take, frames that were given up meanwhile too, so that more of them would only
 * make the next later. */
static gboolean
may_send (SlRemoteClient *self)
{
  return self->connected && sl_broker_unconfirmed (self->broker) < self->window.most_sent;
}

/* Under the lock: what waits waits for the network, not for answers. */
static gboolean
is_stuck (SlRemoteClient *self)
{
  return !self->connected || (self->window.n_sent < self->window.most_sent && !may_send (self));
}

/* Under the lock: sends what is to be sent, gives up what is too old, and wakes those that wait. */
static void
advance (SlRemoteClient *self)
{
  const gint64 now = g_get_monotonic_time ();
  SlRemoteEntry *entry;
  sl_remote_window_expire (&self->window, now, is_stuck (self),
                           !self->connected && self->impatient);
  while (may_send (self) && (entry = sl_remote_window_next (&self->window, now)) != NULL)
    if (!send_entry (self, entry, now))
      break;
  g_cond_broadcast (&self->changed);
}

static void
on_connected (SlBroker *broker, gpointer user)
{
  SlRemoteClient *self = user;
  sl_broker_subscribe (broker, self->answers_topic);
  sl_broker_subscribe (broker, self->contract_topic);
  sl_broker_subscribe (broker, self->workers_topic);
  g_mutex_lock (&self->lock);
  self->broker = broker;
  self->connected = TRUE;
  self->denied = FALSE;
  g_clear_pointer (&self->trouble, g_free);
  sl_remote_window_reconnected (&self->window);
  advance (self);
  g_mutex_unlock (&self->lock);
  tell (self, SL_REMOTE_CONNECTED, NULL);
}

static void
on_lost (gpointer user, const char *reason, guint retry_ms, gboolean denied)
{
  SlRemoteClient *self = user;
  g_mutex_lock (&self->lock);
  const gboolean first = self->connected || self->trouble == NULL;
  self->connected = FALSE;
  self->denied = denied;
  g_hash_table_remove_all (self->workers);
  g_free (self->trouble);
  self->trouble = g_strdup (reason);
  advance (self);
  g_mutex_unlock (&self->lock);
  if (first)
    tell (self, SL_REMOTE_DISCONNECTED, reason);
}

static void
on_denied (gpointer user, const char *reason)
{
  SlRemoteClient *self = user;
  g_mutex_lock (&self->lock);
  g_free (self->trouble);
  self->trouble = g_strdup (reason);
  self->denied = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  tell (self, SL_REMOTE_TROUBLE, reason);
}

/* Under the lock: (nullable) (transfer full): why requests are not encoded as was asked for, told
 * once until they are again. */
static char *
explain_plain (SlRemoteClient *self)
{
  const gboolean read = (self->encodings & 1u << self->encoding) != 0;
  const SlTensorInfo *input = self->contract != NULL ? &self->contract->inputs[0] : NULL;
  const gboolean suits = input == NULL || sl_remote_encoding_suits (self->encoding, input),
                 told = self->told_plain;
  const char *name = sl_remote_encoding_name (self->encoding);
  self->told_plain = !read || !suits;
  if (told || !self->told_plain)
    return NULL;
  if (!read) {
    char list[SL_REMOTE_ENCODINGS_MOST];
    return g_strdup_printf (
      "encoding=%s: this build and the workers of %s/%s read %s: frames travel as they are", name,
      self->prefix, self->model, sl_remote_encodings_list (self->encodings, list));
  }
  g_autofree char *got = sl_tensor_infos_describe (input, 1);
  return g_strdup_printf (
    "encoding=%s: expected a model whose first input is a picture, uint8[1,rows,columns,3] or "
    "[...,1], got %s: frames travel as they are",
    name, got);
}

static void
heard_contract (SlRemoteClient *self, const SlBrokerMessage *message)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *plain = NULL;
  char hash[SL_REMOTE_HASH];
  guint encodings = 0;
  if (message->size == 0) /* it was taken away; workers may go on by it */
    return;
  SlContract *contract = sl_remote_contract_read (message->data, message->size, message->topic,
                                                  hash, &encodings, &error);
  g_mutex_lock (&self->lock);
  const gboolean other = contract != NULL && strcmp (hash, self->hash) != 0;
  if (contract != NULL)
    self->encodings = encodings & sl_remote_encodings_built ();
  if (other) {
    g_clear_pointer (&self->contract, sl_contract_unref);
    self->contract = g_steal_pointer (&contract);
    g_strlcpy (self->hash, hash, sizeof self->hash);
  } else if (error != NULL) {
    g_free (self->trouble);
    self->trouble = g_strdup (error->message);
  }
  if (error == NULL)
    plain = explain_plain (self);
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&contract, sl_contract_unref);
  if (plain != NULL)
    tell (self, SL_REMOTE_PLAIN, plain);
  if (other)
    tell (self, SL_REMOTE_CONTRACT, NULL);
  else if (error != NULL)
    tell (self, SL_REMOTE_TROUBLE, error->message);
}

/* A worker's report; none: it is gone, and may have had frames of ours. */
static void
heard_worker (SlRemoteClient *self, const SlBrokerMessage *message)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (message->size == 0 && g_hash_table_remove (self->workers, message->topic)) {
    sl_remote_window_again (&self->window, g_get_monotonic_time ());
    advance (self);
  } else if (message->size > 0 && g_hash_table_size (self->workers) < MAX_WORKERS) {
    g_hash_table_add (self->workers, g_strdup (message->topic));
  }
}

/* Under the lock: the answer's tensors as they were, in memory of ours. (nullable) (transfer full):
 * NULL with @error set. */
static guint8 *
read_answer (const SlRemoteEntry *entry, const SlBrokerMessage *message, SlRemoteAnswer *answer,
             GError **error)
{
  g_autofree guint8 *copy = g_memdup2 (message->data, message->size);
  if (!sl_remote_answer_read (copy, message->size, entry->contract, entry->encoding, answer, error))
    return NULL;
  return answer->outputs.encoding == SL_REMOTE_ENCODING_NONE
           ? g_steal_pointer (&copy)
           : sl_remote_answer_plain (answer, entry->contract, error);
}

/* Under the lock: a worker does not read the encoding of @entry, whatever the contract says; one
 * that does may answer the first message yet. FALSE: it has none. */
static gboolean
make_plain (SlRemoteClient *self, SlRemoteEntry *entry)
{
  gsize size;
  if (entry->plain || entry->encoding == SL_REMOTE_ENCODING_NONE)
    return FALSE;
  guint8 *plain = sl_remote_request_plain (entry->request, entry->request_size, entry->contract,
                                           entry->hash, &size);
  if (plain == NULL)
    return FALSE;
  self->encodings &= ~(1u << entry->encoding);
  g_free (entry->request);
  entry->request = plain;
  entry->request_size = size;
  entry->plain = TRUE;
  entry->again = g_get_monotonic_time ();
  return TRUE;
}

/* Under the lock: an answer with our correlation data. (nullable) (transfer full): what is wrong
 * with it. */
static char *
take_answer (SlRemoteClient *self, guint64 id, const SlBrokerMessage *message)
{
  SlRemoteAnswer answer;
  g_autoptr (GError) error = NULL;
  SlRemoteEntry *entry = sl_remote_window_by_id (&self->window, id);
  if (entry == NULL)
    return NULL;
  g_autofree guint8 *data = read_answer (entry, message, &answer, &error);
  if (data == NULL) {
    self->window.counts.refused++;
    return g_strdup (error->message);
  }
  if (answer.refusal == NULL) {
    sl_remote_window_answered (&self->window, entry, g_steal_pointer (&data), &answer);
    return NULL;
  }
  self->window.counts.refused++;
  if (answer.refuses_encoding && make_plain (self, entry))
    return NULL;
  sl_remote_window_put_off (&self->window, entry, g_get_monotonic_time ());
  return g_strdup_printf ("a worker refused a frame: %s", answer.refusal);
}

static void
heard_answer (SlRemoteClient *self, const SlBrokerMessage *message)
{
  guint64 big;
  g_autofree char *trouble = NULL, *plain = NULL;
  if (message->correlation_size == SL_REMOTE_CORRELATION
      && memcmp (message->correlation, self->instance, sizeof self->instance) == 0) {
    memcpy (&big, (const guint8 *) message->correlation + sizeof self->instance, sizeof big);
    g_mutex_lock (&self->lock);
    trouble = take_answer (self, GUINT64_FROM_BE (big), message);
    plain = explain_plain (self);
    advance (self);
    g_mutex_unlock (&self->lock);
  } else {
    trouble = g_strdup_printf (
      "answer: expected %d bytes of correlation data of this client, got %" G_GSIZE_FORMAT
      " of another",
      SL_REMOTE_CORRELATION, message->correlation_size);
    g_mutex_lock (&self->lock);
    self->window.counts.refused++;
    g_mutex_unlock (&self->lock);
  }
  if (plain != NULL)
    tell (self, SL_REMOTE_PLAIN, plain);
  if (trouble != NULL)
    tell (self, SL_REMOTE_TROUBLE, trouble);
}

static void
on_heard (gpointer user, const SlBrokerMessage *message)
{
  SlRemoteClient *self = user;
  if (strcmp (message->topic, self->answers_topic) == 0)
    heard_answer (self, message);
  else if (strcmp (message->topic, self->contract_topic) == 0)
    heard_contract (self, message);
  else
    heard_worker (self, message);
}

static void
on_confirmed (gpointer user, gint id, SlBrokerSent sent, const char *reason)
{
  SlRemoteClient *self = user;
  const gboolean heard = sent == SL_SENT_CONFIRMED;
  g_mutex_lock (&self->lock);
  SlRemoteEntry *entry = sl_remote_window_confirmed (&self->window, id, heard);
  if (entry != NULL && !heard && self->impatient)
    sl_remote_window_lose (&self->window, entry);
  else if (entry != NULL && !heard)
    sl_remote_window_put_off (&self->window, entry, g_get_monotonic_time ());
  self->window.counts.refused += sent == SL_SENT_REFUSED;
  advance (self);
  g_mutex_unlock (&self->lock);
  if (sent == SL_SENT_REFUSED) {
    g_autofree char *text = g_strdup_printf (
      "the broker does not let this user ask: %s: check its access control (docs/remote.md has "
      "one)",
      reason);
    tell (self, SL_REMOTE_TROUBLE, text);
  }
}

static guint
on_tick (gpointer user)
{
  SlRemoteClient *self = user;
  g_mutex_lock (&self->lock);
  advance (self);
  const gint64 due = sl_remote_window_due (&self->window, is_stuck (self));
  g_autofree char *untold = g_steal_pointer (&self->untold);
  g_mutex_unlock (&self->lock);
  if (untold != NULL)
    tell (self, SL_REMOTE_TROUBLE, untold);
  const gint64 left =
    due == G_MAXINT64 ? G_USEC_PER_SEC : CLAMP (due - g_get_monotonic_time (), 0, G_USEC_PER_SEC);
  return (guint) (left / 1000) + 1;
}

static gboolean
find_topics (SlRemoteClient *self, const SlMqttAccess *access, GError **error)
{
  SlMqttTarget target = { NULL };
  g_autofree char *client = g_strdup_printf ("%08x%08x", g_random_int (), g_random_int ());
  const gboolean found = sl_mqtt_target_parse (&target, access, SL_REMOTE_EXAMPLE, error)
                         && sl_remote_split (target.topic, &self->prefix, &self->model, error)
                         && sl_remote_check_user (target.user, error);
  if (found) {
    self->contract_topic = sl_remote_topic_contract (self->prefix, self->model);
    self->workers_topic = sl_remote_topic_worker (self->prefix, "+");
    self->asker = g_strdup (target.user);
    self->answers_topic = sl_remote_topic_answers (self->prefix, self->model, target.user, client);
  }
  sl_mqtt_target_clear (&target);
  return found;
}

static void
unref_client (gpointer data)
{
  SlRemoteClient *self = data;
  if (!g_atomic_ref_count_dec (&self->refs))
    return;
  sl_remote_window_clear (&self->window);
  g_clear_pointer (&self->contract, sl_contract_unref);
  g_hash_table_unref (self->workers);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self->prefix);
  g_free (self->model);
  g_free (self->asker);
  g_free (self->contract_topic);
  g_free (self->workers_topic);
  g_free (self->answers_topic);
  g_free (self->trouble);
  g_free (self->untold);
  if (self->free_user != NULL)
    self->free_user (self->user);
  g_free (self);
}

SlRemoteClient *
sl_remote_client_new (const SlRemoteClientSettings *settings, SlRemoteNotify notify, gpointer user,
                      GDestroyNotify free_user, GDestroyNotify free_data, GError **error)
{
  static const SlBrokerCalls calls = { on_connected, on_lost, on_denied,   on_heard,
                                       on_confirmed, on_tick, unref_client };
  SlRemoteClient *self = g_new0 (SlRemoteClient, 1);
  g_atomic_ref_count_init (&self->refs);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  self->notify = notify;
  self->user = user;
  self->impatient = settings->impatient;
  self->encoding = settings->encoding;
  self->quality = settings->quality;
  self->encodings = 1u << SL_REMOTE_ENCODING_NONE;
  self->workers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  sl_remote_window_init (&self->window, settings->window, settings->deadline_us, free_data);
  for (guint i = 0; i < sizeof self->instance; i++)
    self->instance[i] = (guint8) g_random_int_range (0, 256);
  g_autofree char *client_id =
    g_strdup_printf ("sightline-%08x%08x", g_random_int (), g_random_int ());
  const SlBrokerSettings broker = {
    .access = settings->access,
    .example = SL_REMOTE_EXAMPLE,
    .client_id = client_id,
    .keep_alive = KEEP_ALIVE_S,
    .retry_min_ms = RETRY_MIN_MS,
    .retry_max_ms = RETRY_MAX_MS,
    .most_bytes = SL_REMOTE_MAX_CONTRACT + SL_MAX_TENSOR_BYTES / 4 + PACKET_ROOM,
  };
  g_atomic_ref_count_inc (&self->refs);
  SlBroker *connection = find_topics (self, &settings->access, error)
                           ? sl_broker_new (&broker, &calls, self, error)
                           : NULL;
  if (connection == NULL) {
    unref_client (self);
    unref_client (self);
    return NULL;
  }
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->broker = connection;
  self->free_user = free_user;
  return self;
}

void
sl_remote_client_free (SlRemoteClient *self)
{
  if (self == NULL)
    return;
  sl_broker_free (self->broker);
  g_mutex_lock (&self->lock);
  sl_remote_window_clear (&self->window);
  g_mutex_unlock (&self->lock);
  unref_client (self);
}

SlContract *
sl_remote_client_wait (SlRemoteClient *self, gint64 timeout_us, char hash[SL_REMOTE_HASH],
                       GError **error)
{
  const gint64 until = g_get_monotonic_time () + timeout_us;
  g_mutex_lock (&self->lock);
  while (self->contract == NULL && !self->unlocked && !self->denied
         && g_cond_wait_until (&self->changed, &self->lock, until))
    continue;
  SlContract *contract = self->contract != NULL ? sl_contract_ref (self->contract) : NULL;
  g_strlcpy (hash, self->hash, SL_REMOTE_HASH);
  if (contract == NULL && self->unlocked)
    sl_fail (error, SL_ERROR_OPEN, "%s/%s: the wait for the model's contract was interrupted",
             self->prefix, self->model);
  else if (contract == NULL && self->trouble != NULL)
    sl_fail (error, SL_ERROR_OPEN, "%s/%s: %s", self->prefix, self->model, self->trouble);
  else if (contract == NULL && !self->connected) {
    const SlMqttTarget *target = sl_broker_target (self->broker);
    sl_fail (
      error, SL_ERROR_OPEN,
      "%s/%s: the broker at %s:%u does not answer: correct the location, or raise contract-timeout",
      self->prefix, self->model, target->host, target->port);
  } else if (contract == NULL) {
    g_autofree char *name = sl_remote_name (self->model); /* as serve calls it */
    sl_fail (
      error, SL_ERROR_OPEN,
      "%s/%s: the broker has no contract of this model: start a worker, sightline serve %s=FILE "
      "--location .../%s, or correct the location",
      self->prefix, self->model, name, self->prefix);
  }
  g_mutex_unlock (&self->lock);
  return contract;
}

SlContract *
sl_remote_client_offer (SlRemoteClient *self, char hash[SL_REMOTE_HASH])
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  SlContract *contract = self->contract != NULL ? sl_contract_ref (self->contract) : NULL;
  g_strlcpy (hash, self->hash, SL_REMOTE_HASH);
  return contract;
}

static SlRemoteEncoding
choose_encoding (SlRemoteClient *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  const gboolean read = (self->encodings & 1u << self->encoding) != 0;
  return read ? self->encoding : SL_REMOTE_ENCODING_NONE;
}

gboolean
sl_remote_client_push (SlRemoteClient *self, gpointer data, SlContract *contract, const char *hash,
                       const void *const *inputs, SlRemotePush how)
{
  const gboolean live = how == SL_REMOTE_LIVE;
  SlRemoteEntry *entry = g_new0 (SlRemoteEntry, 1);
  entry->data = data;
  entry->frame = how != SL_REMOTE_EVENT;
  entry->droppable = live;
  entry->state = contract != NULL ? SL_REMOTE_WAITING : SL_REMOTE_PASSES;
  entry->begun = g_get_monotonic_time ();
  if (contract != NULL) {
    entry->contract = sl_contract_ref (contract);
    g_strlcpy (entry->hash, hash, sizeof entry->hash);
    entry->encoding = choose_encoding (self);
    entry->request = sl_remote_request_new (contract, hash, 0, entry->encoding, self->quality,
                                            inputs, &entry->request_size);
  }
  g_mutex_lock (&self->lock);
  if (live)
    sl_remote_window_displace (&self->window, is_stuck (self));
  /* Live input waits for nobody who takes frames. */
  while (((contract != NULL && self->window.n_waiting > 0)
          || (how == SL_REMOTE_KEPT && !sl_remote_window_has_room (&self->window)))
         && !self->unlocked)
    g_cond_wait (&self->changed, &self->lock);
  const gboolean unlocked = self->unlocked,
                 taken = !unlocked && (!entry->frame || sl_remote_window_has_room (&self->window));
  if (taken)
    sl_remote_window_push (&self->window, entry);
  if (!unlocked)
    advance (self);
  self->window.counts.dropped += !unlocked && !taken;
  g_mutex_unlock (&self->lock);
  if (!taken)
    sl_remote_entry_free (&self->window, entry);
  return !unlocked;
}

SlRemoteEntry *
sl_remote_client_pop (SlRemoteClient *self)
{
  SlRemoteEntry *entry = NULL;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  while (!self->unlocked && (entry = sl_remote_window_pop (&self->window)) == NULL)
    g_cond_wait (&self->changed, &self->lock);
  self->in_hand = entry != NULL;
  g_cond_broadcast (&self->changed); /* there may be room */
  return entry;
}

SlRemoteEntry *
sl_remote_client_take (SlRemoteClient *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return sl_remote_window_take (&self->window);
}

void
sl_remote_client_done (SlRemoteClient *self, SlRemoteEntry *entry)
{
  sl_remote_entry_free (&self->window, entry);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->in_hand = FALSE;
  g_cond_broadcast (&self->changed);
}

void
sl_remote_client_drain (SlRemoteClient *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  while (!self->unlocked && (self->in_hand || !g_queue_is_empty (&self->window.entries)))
    g_cond_wait (&self->changed, &self->lock);
}

void
sl_remote_client_unlock (SlRemoteClient *self, gboolean unlocked)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (!unlocked)
    sl_remote_window_clear (&self->window);
  self->unlocked = unlocked;
  g_cond_broadcast (&self->changed);
}

void
sl_remote_client_counts (SlRemoteClient *self, SlRemoteCounts *counts, guint *workers,
                         gboolean *connected)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  *counts = self->window.counts;
  *workers = g_hash_table_size (self->workers);
  *connected = self->connected;
}
