/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One epoll for all. A socket's event is switched off when a thread gets it (EPOLLONESHOT), and on
 * again when that thread has read the socket, so one thread at a time reads a client, and a picture
 * that comes in pieces wakes no other one. Sending needs no thread either: what a client does not
 * take at once waits, and the next event of its socket sends it.
 *
 * A thread reads one client until a message is there, and what is behind it waits for the next
 * event; so clients take turns.
 */
#include "tools/serve/zmtp_server.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/base/fail.h"

/* Bytes of answers that wait for a client; later answers are dropped. */
#define MAX_WAITING (64 << 10)
/* Receptions at one event, so that commands without an end leave others their turn. */
#define MAX_RECEIVED 32
/* Clients that are accepted at one event. */
#define ACCEPTED 16
#define LINGER_MS 500
/* A picture comes in pieces, and a thread that has begun to read it waits a moment for the next
 * one: each event would cost more. A client that is slower is not waited for with this many
 * messages. */
#define AWAITED_MS 3
#define SLOW_MESSAGES 8
/* A client of TCP whose machine is gone: seconds until it is asked, between questions, and their
 * number. */
#define KEEP_IDLE_S 60
#define KEEP_INTERVAL_S 10
#define KEEP_COUNT 3

/* What epoll calls the files; clients have numbers from 1 << SLOT_BITS on. */
enum
{
  LISTENER,
  NUDGE,
  TIMER
};

#define SLOT_BITS 16

/* @refs: of the table of clients, and of threads that use it */
typedef struct
{
  gatomicrefcount refs;
  int fd;
  guint64 id;
  GMutex in; /* may be locked for long by the thread that reads */
  SlZmtpReader reader;
  gsize large;  /* of the server's */
  gint64 since; /* when what is not whole yet began, 0 = nothing */
  gboolean gone;
  guint slow; /* messages that are not waited for */
  GMutex out;
  GByteArray *waiting;
} Client;

struct _SlZmtpServer
{
  SlZmtpLimits limits;
  SlZmtpHandlers handlers;
  gpointer data;
  int listener, poller, nudge, timer;
  gint timed; /* atomic: the timer runs */
  gint full;  /* atomic: new clients wait until the timer, since there are no files for them */
  GMutex lock;
  Client **clients; /* under the lock; by slot */
  guint64 generation;
  gsize large; /* under the lock: of all clients, beyond limits.keep */
};

static void
unref (Client *client)
{
  if (!g_atomic_ref_count_dec (&client->refs))
    return;
  close (client->fd);
  sl_zmtp_reader_clear (&client->reader);
  g_byte_array_unref (client->waiting);
  g_mutex_clear (&client->in);
  g_mutex_clear (&client->out);
  g_free (client);
}

static guint64
slot_of (guint64 id)
{
  return id & ((1 << SLOT_BITS) - 1);
}

/* (transfer full) (nullable) */
static Client *
find (SlZmtpServer *server, guint64 id)
{
  const guint64 slot = slot_of (id);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&server->lock);
  Client *client = slot < server->limits.clients ? server->clients[slot] : NULL;
  if (client == NULL || client->id != id)
    return NULL;
  g_atomic_ref_count_inc (&client->refs);
  return client;
}

static void
complain (SlZmtpServer *server, int fd, const char *text)
{
  struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
  struct ucred process;
  socklen_t length = sizeof address, size = sizeof process;
  char host[NI_MAXHOST], port[NI_MAXSERV];
  g_autofree char *sentence = NULL;
  getpeername (fd, (struct sockaddr *) &address, &length);
  if (address.ss_family == AF_UNIX
      && getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &process, &size) == 0)
    sentence = g_strdup_printf ("client (process %d): %s", (int) process.pid, text);
  else if (getnameinfo ((const struct sockaddr *) &address, length, host, sizeof host, port,
                        sizeof port, NI_NUMERICHOST | NI_NUMERICSERV)
           == 0)
    sentence = g_strdup_printf ("client (%s port %s): %s", host, port, text);
  else
    sentence = g_strdup_printf ("client: %s", text);
  server->handlers.trouble (sentence, server->data);
}

/* Under the lock of what the client gets. */
static void
arm (SlZmtpServer *server, Client *client)
{
  struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.u64 = client->id };
  if (client->waiting->len > 0)
    event.events |= EPOLLOUT;
  epoll_ctl (server->poller, EPOLL_CTL_MOD, client->fd, &event);
}

/* Under the same lock. Where it fails, reading the client fails, too. */
static void
flush (Client *client)
{
  const gssize n =
    send (client->fd, client->waiting->data, client->waiting->len, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n >= 0)
    g_byte_array_remove_range (client->waiting, 0, (guint) n);
  else if (errno != EAGAIN && errno != EINTR)
    g_byte_array_set_size (client->waiting, 0);
}

static void
send_parts (SlZmtpServer *server, Client *client, const SlZmtpPart *parts, guint n_parts)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&client->out);
  if (client->waiting->len > MAX_WAITING)
    return;
  for (guint i = 0; i < n_parts; i++)
    sl_zmtp_append_part (client->waiting, parts[i].data, parts[i].size, i + 1 < n_parts);
  flush (client);
  if (client->waiting->len > 0)
    arm (server, client);
}

void
sl_zmtp_server_send (SlZmtpServer *server, guint64 id, const SlZmtpPart *parts, guint n_parts)
{
  Client *client = find (server, id);
  if (client == NULL)
    return;
  send_parts (server, client, parts, n_parts);
  unref (client);
}

/* Answers @step of the client. A client that does not read its answers gets no further ones. */
static void
reply (Client *client, SlZmtpStep step)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&client->out);
  if (client->waiting->len > MAX_WAITING)
    return;
  if (step == SL_ZMTP_PING)
    sl_zmtp_append_pong (client->waiting, &client->reader);
  else
    sl_zmtp_append_ready (client->waiting);
  flush (client);
}

static void
start_timer (SlZmtpServer *server)
{
  const gint64 us = MAX (server->limits.stall_us / 2, 1);
  const struct itimerspec when = { .it_value = { .tv_sec = us / G_USEC_PER_SEC,
                                                 .tv_nsec = us % G_USEC_PER_SEC * 1000 } };
  if (g_atomic_int_compare_and_exchange (&server->timed, FALSE, TRUE))
    timerfd_settime (server->timer, 0, &when, NULL);
}

/* Ends a connection: the client gets no event and no message any more. */
static void
drop (SlZmtpServer *server, Client *client)
{
  const guint64 slot = slot_of (client->id);
  g_mutex_lock (&server->lock);
  const gboolean there = server->clients[slot] == client;
  if (there) {
    server->clients[slot] = NULL;
    server->large -= client->large;
    epoll_ctl (server->poller, EPOLL_CTL_DEL, client->fd, NULL);
    shutdown (client->fd, SHUT_RDWR); /* a thread that sends may still have it */
  }
  g_mutex_unlock (&server->lock);
  if (there)
    unref (client);
}

/* Whether all clients together have room for what @client has taken. */
static gboolean
count_memory (SlZmtpServer *server, Client *client)
{
  const gsize large = sl_zmtp_reader_memory (&client->reader);
  if (large == client->large)
    return TRUE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&server->lock);
  server->large += large - client->large;
  client->large = large;
  return server->large <= server->limits.large;
}

/* Whether to go on. @empty: the socket had less than there was room for. */
static gboolean
receive (SlZmtpServer *server, Client *client, gboolean *empty)
{
  gsize room;
  guint8 *at = sl_zmtp_reader_room (&client->reader, &room);
  if (!count_memory (server, client)) {
    complain (server, client->fd,
              "expected smaller messages, since those of other clients fill the memory");
    client->gone = TRUE;
    return FALSE;
  }
  const gboolean wait = client->reader.large_flags != 0 && client->slow == 0;
  const gssize n = recv (client->fd, at, room, wait ? MSG_WAITALL : MSG_DONTWAIT);
  if (n > 0)
    sl_zmtp_reader_add (&client->reader, (gsize) n);
  if (wait && n < (gssize) room)
    client->slow = SLOW_MESSAGES;
  *empty = n < (gssize) room;
  client->gone = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
  return n > 0;
}

/* Under the client's lock of reading. */
static void
read_client (SlZmtpServer *server, Client *client)
{
  gboolean going = !client->gone, served = FALSE, empty = FALSE;
  guint n_received = 0;
  g_autoptr (GError) error = NULL;
  while (going) {
    const SlZmtpStep step = sl_zmtp_reader_next (&client->reader, &error);
    if (step == SL_ZMTP_WANTS)
      going = !served && !empty && n_received++ < MAX_RECEIVED && receive (server, client, &empty);
    else if (step == SL_ZMTP_MESSAGE) {
      server->handlers.message (client->id, client->reader.parts, client->reader.n_parts,
                                server->data);
      client->since = 0;
      client->slow -= client->slow > 0;
      served = TRUE;
    } else if (step == SL_ZMTP_BROKEN) {
      complain (server, client->fd, error->message);
      client->gone = TRUE;
      going = FALSE;
    } else
      reply (client, step);
  }
  count_memory (server, client); /* what was given back */
  if (!sl_zmtp_reader_pending (&client->reader))
    client->since = 0;
  else if (client->since == 0) {
    client->since = g_get_monotonic_time ();
    start_timer (server);
  }
}

static void
handle_client (SlZmtpServer *server, Client *client, guint32 events)
{
  if ((events & EPOLLOUT) != 0) {
    g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&client->out);
    flush (client);
  }
  g_mutex_lock (&client->in);
  read_client (server, client);
  const gboolean gone = client->gone;
  g_mutex_unlock (&client->in);
  if (gone)
    drop (server, client);
  else {
    g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&client->out);
    arm (server, client);
  }
}

/* Under the lock: where a new client goes; the number of clients where there is no room. */
static guint
find_slot (const SlZmtpServer *server)
{
  guint slot = 0;
  while (slot < server->limits.clients && server->clients[slot] != NULL)
    slot++;
  return slot;
}

/* (transfer full): of @fd, which it takes. */
static Client *
new_client (const SlZmtpServer *server, int fd)
{
  Client *client = g_new0 (Client, 1);
  g_atomic_ref_count_init (&client->refs);
  client->fd = fd;
  client->since = g_get_monotonic_time ();
  client->waiting = g_byte_array_new ();
  g_mutex_init (&client->in);
  g_mutex_init (&client->out);
  sl_zmtp_reader_init (&client->reader, server->limits.most, server->limits.keep);
  sl_zmtp_append_greeting (client->waiting);
  return client;
}

/* Those of TCP fail for sockets that are files, which need none of them. */
static void
tune (int fd)
{
  static const struct timeval wait = { .tv_usec = AWAITED_MS * 1000 };
  static const struct
  {
    int level, name, value;
  } options[] = { { IPPROTO_TCP, TCP_NODELAY, 1 },
                  { SOL_SOCKET, SO_KEEPALIVE, 1 },
                  { IPPROTO_TCP, TCP_KEEPIDLE, KEEP_IDLE_S },
                  { IPPROTO_TCP, TCP_KEEPINTVL, KEEP_INTERVAL_S },
                  { IPPROTO_TCP, TCP_KEEPCNT, KEEP_COUNT } };
  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    setsockopt (fd, options[i].level, options[i].name, &options[i].value, sizeof options[i].value);
  setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
}

static void
add_client (SlZmtpServer *server, int fd)
{
  Client *client = new_client (server, fd);
  struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT };
  tune (fd);
  flush (client);
  g_mutex_lock (&server->lock);
  const guint slot = find_slot (server);
  gboolean good = slot < server->limits.clients;
  const gboolean full = !good;
  if (good) {
    event.data.u64 = client->id = ++server->generation << SLOT_BITS | slot;
    server->clients[slot] = client;
    good = epoll_ctl (server->poller, EPOLL_CTL_ADD, fd, &event) == 0;
    if (!good)
      server->clients[slot] = NULL;
  }
  g_mutex_unlock (&server->lock);
  if (good) {
    start_timer (server);
    return;
  }
  g_autofree char *text =
    full ? g_strdup_printf ("expected at most %u clients at a time, got one more: close some",
                            server->limits.clients)
         : g_strdup ("expected a file for it, got none: raise the limit of open files (ulimit -n)");
  complain (server, fd, text);
  unref (client);
}

static void
arm_listener (SlZmtpServer *server)
{
  struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.u64 = LISTENER };
  epoll_ctl (server->poller, EPOLL_CTL_MOD, server->listener, &event);
}

static void
accept_clients (SlZmtpServer *server)
{
  for (guint i = 0; i < ACCEPTED; i++) {
    const int fd = accept4 (server->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
      add_client (server, fd);
    else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      g_autofree char *sentence =
        g_strdup_printf ("a client cannot connect: %s: raise the limit of open files (ulimit -n)",
                         g_strerror (errno));
      server->handlers.trouble (sentence, server->data);
      g_atomic_int_set (&server->full, TRUE);
      start_timer (server);
      return; /* the timer goes on with it */
    } else if (errno == EAGAIN)
      break;
  }
  arm_listener (server);
}

/* Ends connections whose greeting or message takes too long. Returns whether others may. */
static gboolean
check_client (SlZmtpServer *server, Client *client, gint64 now)
{
  g_mutex_lock (&client->in);
  const gboolean pending = client->since > 0,
                 late = pending && now - client->since >= server->limits.stall_us;
  if (late && !client->gone) {
    g_autofree char *text =
      g_strdup_printf ("expected a whole %s within %.3g s, got a part of it",
                       client->reader.stage == SL_ZMTP_TRAFFIC ? "message" : "greeting",
                       (double) server->limits.stall_us / G_USEC_PER_SEC);
    complain (server, client->fd, text);
    client->gone = TRUE;
  }
  g_mutex_unlock (&client->in);
  if (late)
    drop (server, client);
  return pending && !late;
}

static void
check_clients (SlZmtpServer *server)
{
  const gint64 now = g_get_monotonic_time ();
  gboolean pending = FALSE;
  g_atomic_int_set (&server->timed, FALSE);
  for (guint slot = 0; slot < server->limits.clients; slot++) {
    g_mutex_lock (&server->lock);
    Client *client = server->clients[slot];
    if (client != NULL)
      g_atomic_ref_count_inc (&client->refs);
    g_mutex_unlock (&server->lock);
    if (client == NULL)
      continue;
    pending = check_client (server, client, now) || pending;
    unref (client);
  }
  if (pending)
    start_timer (server);
  if (g_atomic_int_compare_and_exchange (&server->full, TRUE, FALSE))
    arm_listener (server);
}

gboolean
sl_zmtp_server_step (SlZmtpServer *server)
{
  struct epoll_event event;
  if (epoll_wait (server->poller, &event, 1, -1) != 1)
    return FALSE;
  if (event.data.u64 == LISTENER)
    accept_clients (server);
  else if (event.data.u64 == TIMER)
    check_clients (server);
  else if (event.data.u64 != NUDGE) {
    Client *client = find (server, event.data.u64);
    if (client != NULL) {
      handle_client (server, client, event.events);
      unref (client);
    }
  }
  return event.data.u64 == NUDGE;
}

/* Nobody reads the count: its edge is what threads wait for. */
void
sl_zmtp_server_nudge (SlZmtpServer *server)
{
  const guint64 one = 1;
  const gssize written G_GNUC_UNUSED = write (server->nudge, &one, sizeof one);
}

static gboolean
watch (SlZmtpServer *server, int fd, guint32 events, guint64 called)
{
  struct epoll_event event = { .events = EPOLLIN | events, .data.u64 = called };
  return fd >= 0 && epoll_ctl (server->poller, EPOLL_CTL_ADD, fd, &event) == 0;
}

SlZmtpServer *
sl_zmtp_server_new (int listener, const SlZmtpLimits *limits, const SlZmtpHandlers *handlers,
                    gpointer data, GError **error)
{
  SlZmtpServer *server = g_new0 (SlZmtpServer, 1);
  server->limits = *limits;
  server->handlers = *handlers;
  server->data = data;
  server->listener = listener;
  server->clients = g_new0 (Client *, limits->clients);
  g_mutex_init (&server->lock);
  server->poller = epoll_create1 (EPOLL_CLOEXEC);
  server->nudge = eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
  server->timer = timerfd_create (CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (server->poller >= 0 && watch (server, server->nudge, EPOLLET, NUDGE)
      && watch (server, server->timer, EPOLLET, TIMER)
      && watch (server, listener, EPOLLONESHOT, LISTENER))
    return server;
  sl_fail (error, SL_ERROR_OPEN, "waiting for clients: %s", g_strerror (errno));
  sl_zmtp_server_free (server);
  return NULL;
}

/* Waits until the client has taken what was sent, up to @until. */
static void
linger (Client *client, gint64 until)
{
  struct pollfd wait = { .fd = client->fd, .events = POLLOUT };
  gint64 left;
  while (client->waiting->len > 0
         && (left = (until - g_get_monotonic_time ()) / G_TIME_SPAN_MILLISECOND) > 0
         && poll (&wait, 1, (int) left) >= 0)
    flush (client);
}

void
sl_zmtp_server_free (SlZmtpServer *server)
{
  const gint64 until = g_get_monotonic_time () + LINGER_MS * G_TIME_SPAN_MILLISECOND;
  const int files[] = { server->listener, server->poller, server->nudge, server->timer };
  for (guint i = 0; i < server->limits.clients; i++)
    if (server->clients[i] != NULL) {
      linger (server->clients[i], until);
      unref (server->clients[i]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    if (files[i] >= 0)
      close (files[i]);
  g_mutex_clear (&server->lock);
  g_free (server->clients);
  g_free (server);
}
