/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Topics: PREFIX/person/PART/NUMBER has all that is known of a person, PREFIX/erased/PART/TOKEN
 * what was erased or merged, PREFIX/machine/NUMBER which file has that number; all are retained,
 * until rules would have erased it. Nothing is sent before all that is retained was heard: a
 * message to oneself comes behind it.
 *
 * All but statistics and trouble is the thread's of the broker.
 */
#include "pipelines/gallery/share.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/printable.h"
#include "core/base/redact.h"
#include "pipelines/remote/broker.h"

#define EXAMPLE "mqtt://localhost/people"
#define KEEP_ALIVE_S 20
#define RETRY_MIN_MS 500
#define RETRY_MAX_MS 30000
/* Messages that the broker has not confirmed, and those of it that are not confirmed. */
#define WINDOW 512
#define RECEIVE 64
/* Parts of all people and erasures. Brokers lose what does not fit into their queue for a client,
 * so a part is asked for when the one before it was heard. */
#define PARTS 16
/* How often the file is looked at. Comparing it with what others know takes at most a tenth of the
 * time. */
#define LOOK_MS 200
#define COMPARE_SHARE 10
/* How often what was erased is overwritten. */
#define WIPE_US (2 * G_USEC_PER_SEC)
/* After which the message to oneself is sent again. */
#define SYNC_US (10 * G_USEC_PER_SEC)
/* How long others are told what was erased. */
#define ERASED_S (10 * 365 * 86400u)
#define DAYS_MOST_S G_GINT64_CONSTANT (4000000000)

struct _SlIdentityShare
{
  SlIdentityStore *store;
  SlBroker *owned;  /* the owner's */
  SlBroker *broker; /* the same, once there was a connection */
  SlIdentityHello hello;
  guint machine, part;
  char *prefix, *place; /* what is told where trouble is */
  char sync[16];
  GHashTable *known;  /* prints that others have, by id */
  GHashTable *tokens; /* of erasures that others have */
  gint64 next_erased; /* behind which none were sent */
  gint64 next_compare, sync_sent;
  gboolean synced, dirty, stopped, greeted;
  SlIdentityState state;
  GMutex lock;
  /* Under the lock. */
  guint64 sent, received, refused;
  char *trouble; /* (nullable) */
  gboolean told_lost, told_refused;
};

static void
note_trouble (SlIdentityShare *self, const char *reason)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  g_free (self->trouble);
  self->trouble = g_strdup_printf ("%s: %s", self->place, reason);
}

/* A message that is not taken; the first one is told. */
static void
refuse (SlIdentityShare *self, const char *topic, const GError *error)
{
  g_mutex_lock (&self->lock);
  self->refused++;
  const gboolean told = self->told_refused;
  self->told_refused = TRUE;
  g_mutex_unlock (&self->lock);
  if (told)
    return;
  g_autofree char *shown = sl_printable (topic, SL_PRINTABLE_NAME);
  g_autofree char *reason = g_strdup_printf ("%s: got %s", shown, error->message);
  note_trouble (self, reason);
}

static SlIdentityWho
who (const SlIdentityShare *self)
{
  return (SlIdentityWho){ self->store->model, self->store->length };
}

/* FALSE: there is no connection, or it was told what is wrong. */
static gboolean
publish (SlIdentityShare *self, const char *topic, GBytes *bytes, guint expiry)
{
  g_autofree char *whole = g_strdup_printf ("%s/%s", self->prefix, topic);
  gsize n = 0;
  const void *data = bytes != NULL ? g_bytes_get_data (bytes, &n) : NULL;
  const SlBrokerSend message = {
    .topic = whole, .data = data, .size = n, .retain = expiry > 0 || bytes == NULL, .expiry = expiry
  };
  const gint id = sl_broker_send (self->broker, &message);
  if (id < 0) {
    g_autofree char *reason = sl_broker_explain (id, "message", n);
    note_trouble (self, reason);
  }
  g_mutex_lock (&self->lock);
  self->sent += id > 0;
  g_mutex_unlock (&self->lock);
  return id != 0;
}

static guint
expiry_of (const SlIdentityShare *self)
{
  const gint64 seconds = self->store->rules.keep / G_USEC_PER_SEC;
  return (guint) CLAMP (seconds, 1, DAYS_MOST_S);
}

static void
greet (SlIdentityShare *self)
{
  g_autoptr (GError) error = NULL;
  const SlIdentityWho mine = who (self);
  g_autofree char *topic = g_strdup_printf ("machine/%u", self->machine);
  g_autoptr (GBytes) bytes =
    sl_identity_hello_write (&mine, &self->hello, self->store->seal, topic, &error);
  if (bytes == NULL)
    note_trouble (self, error->message);
  else
    self->greeted = publish (self, topic, bytes, ERASED_S);
}

static void
ask_for_sync (SlIdentityShare *self)
{
  g_autofree char *topic = g_strdup_printf ("sync/%s", self->sync);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("sync", 4);
  self->sync_sent = g_get_monotonic_time ();
  publish (self, topic, bytes, 0);
}

static char *
person_topic (gint64 person)
{
  return g_strdup_printf ("person/%u/%" G_GINT64_FORMAT, (guint) (person % PARTS), person);
}

static char *
erased_topic (const char *token)
{
  return g_strdup_printf ("erased/%u/%s", g_str_hash (token) % PARTS, token);
}

/* The next part of what others have; behind the last one all was heard. */
static void
ask_for_part (SlIdentityShare *self)
{
  if (self->part == PARTS) {
    self->synced = self->dirty = TRUE;
    return;
  }
  g_autofree char *topic = g_strdup_printf ("%s/+/%u/+", self->prefix, self->part++);
  sl_broker_subscribe (self->broker, topic);
  ask_for_sync (self);
}

static void
on_connected (SlBroker *broker, gpointer user)
{
  SlIdentityShare *self = user;
  g_mutex_lock (&self->lock);
  self->told_lost = FALSE;
  g_mutex_unlock (&self->lock);
  self->broker = broker;
  g_hash_table_remove_all (self->known);
  g_hash_table_remove_all (self->tokens);
  self->next_erased = 0;
  self->part = 0;
  self->synced = self->greeted = FALSE;
  g_autofree char *machines = g_strdup_printf ("%s/machine/+", self->prefix),
                  *own = g_strdup_printf ("%s/sync/%s", self->prefix, self->sync);
  sl_broker_subscribe (broker, machines);
  sl_broker_subscribe (broker, own);
  ask_for_part (self);
}

static void
on_lost (gpointer user, const char *reason, guint retry_ms, gboolean denied)
{
  SlIdentityShare *self = user;
  self->synced = FALSE;
  g_mutex_lock (&self->lock);
  const gboolean told = self->told_lost;
  self->told_lost = TRUE;
  g_mutex_unlock (&self->lock);
  if (!told)
    note_trouble (self, reason);
}

static void
on_denied (gpointer user, const char *reason)
{
  note_trouble (user, reason);
}

static void
on_confirmed (gpointer user, gint id, SlBrokerSent sent, const char *reason)
{
  if (sent == SL_SENT_REFUSED) {
    g_autofree char *shown = g_strdup_printf (
      "the broker refuses messages: %s, expected that it takes them: check its access control",
      reason);
    note_trouble (user, shown);
  }
}

/* FALSE: @text is not a number that machines may share. */
static gboolean
read_number (const char *text, gint64 *person)
{
  guint64 number;
  if (!g_ascii_string_to_unsigned (text, 10, SL_IDENTITY_NUMBERS,
                                   (SL_IDENTITY_MACHINES + 1) * (guint64) SL_IDENTITY_NUMBERS - 1,
                                   &number, NULL))
    return FALSE;
  *person = (gint64) number;
  return TRUE;
}

static gboolean
hear_person (SlIdentityShare *self, const char *topic, const char *name, const void *data, gsize n,
             GError **error)
{
  const SlIdentityWho mine = who (self);
  gint64 person;
  guint64 print;
  gboolean is_gone;
  if (!read_number (name, &person))
    return sl_fail (error, SL_ERROR_FORMAT,
                    "a number of a person that no machine has, expected one from %" G_GINT64_FORMAT
                    " on: let nobody else write to this topic",
                    SL_IDENTITY_NUMBERS);
  if (n == 0)
    return TRUE; /* it is gone */
  if (!sl_identity_state_read (&mine, self->store->seal, topic, data, n, &self->state, error)
      || !sl_identity_shared_take (self->store, person, &self->state, g_get_real_time (), &print,
                                   &is_gone, error))
    return FALSE;
  self->dirty = TRUE;
  if (is_gone) /* who sent it did not know that yet */
    publish (self, topic, NULL, 0);
  else if (print != 0)
    g_hash_table_insert (self->known, g_memdup2 (&person, sizeof person),
                         g_memdup2 (&print, sizeof print));
  return TRUE;
}

static gboolean
hear_erased (SlIdentityShare *self, const char *topic, const char *name, const void *data, gsize n,
             GError **error)
{
  SlIdentityErasure erasure;
  const SlIdentityWho mine = who (self);
  if (strlen (name) >= SL_IDENTITY_TOKEN || !g_str_is_ascii (name))
    return sl_fail (error, SL_ERROR_FORMAT,
                    "a name that no erasure has, expected one of 32 letters and digits: let nobody "
                    "else write to this topic");
  if (n == 0)
    return TRUE;
  if (!sl_identity_erasure_read (&mine, self->store->seal, topic, data, n, &erasure, error)
      || !sl_identity_shared_erase (self->store, name, &erasure, error))
    return FALSE;
  if (g_hash_table_size (self->tokens) < SL_IDENTITY_ERASURES)
    g_hash_table_add (self->tokens, g_strdup (name));
  self->dirty = TRUE;
  return TRUE;
}

/* Of two files with one number the one that was shared first keeps it. */
static gboolean
hear_machine (SlIdentityShare *self, const char *topic, const char *name, const void *data, gsize n,
              GError **error)
{
  SlIdentityHello hello;
  guint64 number;
  const SlIdentityWho mine = who (self);
  if (n == 0)
    return TRUE;
  if (!sl_identity_hello_read (&mine, self->store->seal, topic, data, n, &hello, error))
    return FALSE;
  if (!g_ascii_string_to_unsigned (name, 10, 1, SL_IDENTITY_MACHINES, &number, NULL)
      || number != self->machine || strcmp (hello.origin, self->hello.origin) == 0)
    return TRUE;
  const gboolean first = self->hello.made != hello.made
                           ? self->hello.made < hello.made
                           : strcmp (self->hello.origin, hello.origin) < 0;
  if (first) {
    greet (self);
    return TRUE;
  }
  self->stopped = TRUE;
  g_autofree char *reason =
    g_strdup_printf ("another machine has number %u, and nothing is shared; expected a number that "
                     "no other machine has: state another machine= with a new file",
                     self->machine);
  note_trouble (self, reason);
  return TRUE;
}

static void
on_heard (gpointer user, const SlBrokerMessage *message)
{
  SlIdentityShare *self = user;
  g_autoptr (GError) error = NULL;
  const char *topic = message->topic + MIN (strlen (self->prefix) + 1, strlen (message->topic));
  const char *name = strrchr (topic, '/');
  gboolean good = TRUE;
  if (self->stopped || name == NULL)
    return;
  name++;
  if (g_str_has_prefix (topic, "person/"))
    good = hear_person (self, topic, name, message->data, message->size, &error);
  else if (g_str_has_prefix (topic, "erased/"))
    good = hear_erased (self, topic, name, message->data, message->size, &error);
  else if (g_str_has_prefix (topic, "machine/"))
    good = hear_machine (self, topic, name, message->data, message->size, &error);
  else if (g_str_has_prefix (topic, "sync/") && !self->synced)
    ask_for_part (self);
  if (!good) {
    refuse (self, topic, error);
    return;
  }
  g_mutex_lock (&self->lock);
  self->received++;
  g_mutex_unlock (&self->lock);
}

static gboolean
has_room (SlIdentityShare *self)
{
  return sl_broker_unconfirmed (self->broker) < WINDOW;
}

/* What was erased here. FALSE: some wait. */
static gboolean
send_erased (SlIdentityShare *self, GError **error)
{
  const SlIdentityWho mine = who (self);
  char token[SL_IDENTITY_TOKEN];
  SlIdentityErasure erasure;
  while (has_room (self)) {
    gint64 number = self->next_erased;
    if (!sl_identity_shared_next (self->store, &number, token, &erasure, error))
      return FALSE;
    if (number == 0)
      return TRUE;
    if (!g_hash_table_contains (self->tokens, token)) {
      g_autofree char *topic = erased_topic (token);
      g_autoptr (GBytes) bytes =
        sl_identity_erasure_write (&mine, &erasure, self->store->seal, topic, error);
      if (bytes == NULL || !publish (self, topic, bytes, ERASED_S))
        return FALSE;
    }
    self->next_erased = number;
  }
  return FALSE;
}

static gboolean
send_person (SlIdentityShare *self, gint64 person, GError **error)
{
  const SlIdentityWho mine = who (self);
  g_autofree char *topic = person_topic (person);
  if (!sl_identity_shared_read (self->store, person, &self->state, error))
    return FALSE;
  if (self->state.n_views == 0)
    return TRUE;
  g_autoptr (GBytes) bytes =
    sl_identity_state_write (&mine, &self->state, self->store->seal, topic, error);
  return bytes != NULL && publish (self, topic, bytes, expiry_of (self));
}

/* People whom others know, and who are not in the file any more. What rules erased stays with the
 * broker until its time. */
static gboolean
send_gone (SlIdentityShare *self, GHashTable *prints)
{
  GHashTableIter iter;
  gpointer id;
  g_hash_table_iter_init (&iter, self->known);
  while (g_hash_table_iter_next (&iter, &id, NULL)) {
    const gint64 person = *(const gint64 *) id;
    if (g_hash_table_contains (prints, id))
      continue;
    if (!has_room (self))
      return FALSE;
    if (sl_identity_shared_is_gone (self->store, person)) {
      g_autofree char *topic = person_topic (person);
      if (!publish (self, topic, NULL, 0))
        return FALSE;
    }
    g_hash_table_iter_remove (&iter);
  }
  return TRUE;
}

/* FALSE: some wait. */
static gboolean
send_people (SlIdentityShare *self, GError **error)
{
  g_autoptr (GHashTable) prints = sl_identity_shared_prints (self->store, error);
  GHashTableIter iter;
  gpointer id, print;
  if (prints == NULL || !send_gone (self, prints))
    return FALSE;
  g_hash_table_iter_init (&iter, prints);
  while (g_hash_table_iter_next (&iter, &id, &print)) {
    const guint64 *known = g_hash_table_lookup (self->known, id);
    if (known != NULL && *known == *(const guint64 *) print)
      continue;
    if (!has_room (self) || !send_person (self, *(const gint64 *) id, error))
      return FALSE;
    g_hash_table_insert (self->known, g_memdup2 (id, sizeof (gint64)),
                         g_memdup2 (print, sizeof (guint64)));
  }
  return TRUE;
}

static void
compare (SlIdentityShare *self, gint64 now)
{
  g_autoptr (GError) error = NULL;
  if (!self->greeted)
    greet (self);
  self->dirty = !send_erased (self, &error);
  if (error == NULL)
    self->dirty = !send_people (self, &error) || self->dirty;
  if (error != NULL)
    note_trouble (self, error->message);
  self->next_compare = now + COMPARE_SHARE * (g_get_monotonic_time () - now);
}

static guint
on_tick (gpointer user)
{
  SlIdentityShare *self = user;
  g_autoptr (GError) error = NULL;
  const gint64 now = g_get_monotonic_time ();
  SlIdentityStore *store = self->store;
  if (store->has_traces && (store->vacuumed == 0 || now - store->vacuumed > WIPE_US)) {
    store->has_traces = FALSE;
    if (!sl_identity_store_wipe (store, &error))
      note_trouble (self, error->message);
  }
  if (self->stopped)
    return LOOK_MS;
  self->dirty = sl_identity_store_has_changed (store) || self->dirty;
  if (!self->synced && self->broker != NULL && now - self->sync_sent > SYNC_US)
    ask_for_sync (self);
  if (self->synced && self->dirty && now >= self->next_compare)
    compare (self, now);
  return LOOK_MS;
}

static void
free_share (gpointer user)
{
  SlIdentityShare *self = user;
  sl_identity_store_free (self->store);
  g_hash_table_unref (self->known);
  g_hash_table_unref (self->tokens);
  g_mutex_clear (&self->lock);
  g_free (self->trouble);
  g_free (self->prefix);
  g_free (self->place);
  g_free (self);
}

gboolean
sl_identity_share_check (const SlIdentityUse *use, GError **error)
{
  SlMqttTarget target = { 0 };
  const SlMqttAccess access = { .location = use->share };
  if (use->share == NULL)
    return TRUE;
  gboolean good =
    sl_mqtt_target_parse (&target, &access, EXAMPLE, error) || sl_fail_prefix (error, "share: ");
  g_autofree char *shown = sl_redact_uri (use->share, NULL);
  if (good && strpbrk (target.topic, "+#") != NULL)
    good =
      sl_fail (error, SL_ERROR_ARGUMENT,
               "share: location=%s: expected a topic without + and #, such as " EXAMPLE, shown);
  if (good && (use->machine < 1 || use->machine > SL_IDENTITY_MACHINES))
    good = sl_fail (error, SL_ERROR_ARGUMENT,
                    "machine: missing; expected a number from 1 to %d that no other machine of %s "
                    "has, such as machine=1",
                    SL_IDENTITY_MACHINES, shown);
  sl_mqtt_target_clear (&target);
  return good;
}

SlIdentityShare *
sl_identity_share_new (const SlIdentityUse *use, const SlIdentityHello *hello, GError **error)
{
  static const SlBrokerCalls calls = { on_connected, on_lost, on_denied, on_heard,
                                       on_confirmed, on_tick, free_share };
  g_autofree char *client =
    g_strdup_printf ("sightline-%08x%08x", g_random_int (), g_random_int ());
  SlIdentityShare *self = g_new0 (SlIdentityShare, 1);
  SlMqttTarget target = { 0 };
  const SlBrokerSettings settings = {
    .access = { .location = use->share, .ca_file = use->ca_file },
    .example = EXAMPLE,
    .client_id = client,
    .receive_maximum = RECEIVE,
    .keep_alive = KEEP_ALIVE_S,
    .retry_min_ms = RETRY_MIN_MS,
    .retry_max_ms = RETRY_MAX_MS,
    .most_bytes = SL_IDENTITY_MESSAGE_BYTES,
  };
  g_mutex_init (&self->lock);
  self->hello = *hello;
  self->machine = use->machine;
  self->dirty = TRUE;
  self->place = sl_redact_uri (use->share, NULL);
  self->known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  self->tokens = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_snprintf (self->sync, sizeof self->sync, "%08x", g_random_int ());
  self->store = sl_identity_store_open (use->path, use->key_file, error);
  SlBroker *broker = NULL;
  if (self->store != NULL && sl_mqtt_target_parse (&target, &settings.access, EXAMPLE, error)) {
    self->prefix = g_steal_pointer (&target.topic);
    broker = sl_broker_new (&settings, &calls, self, error);
  }
  sl_mqtt_target_clear (&target);
  if (broker == NULL) {
    free_share (self);
    return NULL;
  }
  self->owned = broker;
  return self;
}

void
sl_identity_share_free (SlIdentityShare *self)
{
  if (self != NULL)
    sl_broker_free (self->owned); /* which frees @self, now or later */
}

void
sl_identity_share_stats (SlIdentityShare *self, SlIdentityStats *stats)
{
  if (self == NULL)
    return;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  stats->sent += self->sent;
  stats->received += self->received;
  stats->refused += self->refused;
}

char *
sl_identity_share_trouble (SlIdentityShare *self)
{
  if (self == NULL)
    return NULL;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return g_steal_pointer (&self->trouble);
}
