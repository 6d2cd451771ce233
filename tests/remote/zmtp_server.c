/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Connections of ZeroMQ's clients, with raw sockets for clients: limits, clients that are slow or
 * never read, and addresses. tests/cli/frigate.py has libzmq for clients.
 */
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "sightline/error.h"
#include "tests/support/program.h"
#include "tools/serve/zmq_endpoint.h"
#include "tools/serve/zmtp_server.h"

#define ZEROS_16 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define GREETING "\377\0\0\0\0\0\0\0\0\177\3\0NULL" ZEROS_16 ZEROS_16 ZEROS_16
#define READY "\4\31\5READY\13Socket-Type\0\0\0\3REQ"
#define PART GREETING READY "\1\0\0\5ab"
/* What the server answers to GREETING and READY. */
#define ANSWERED (64 + 30)
#define N_THREADS 2
#define FLOOD 20000

typedef struct
{
  char *folder, *endpoint, *path;
  SlZmtpServer *server;
  GThread *threads[N_THREADS];
  gint ending; /* atomic */
  GMutex lock;
  GCond changed;
  GString *troubles; /* under the lock */
  guint n_messages;  /* under the lock */
} Bed;

/* Every message is sent back as it came. */
static void
message (guint64 id, const SlZmtpPart *parts, guint n_parts, gpointer data)
{
  Bed *bed = data;
  g_mutex_lock (&bed->lock);
  bed->n_messages++;
  g_cond_broadcast (&bed->changed);
  g_mutex_unlock (&bed->lock);
  sl_zmtp_server_send (bed->server, id, parts, n_parts);
}

static void
trouble (const char *sentence, gpointer data)
{
  Bed *bed = data;
  g_mutex_lock (&bed->lock);
  g_string_append_printf (bed->troubles, "%s\n", sentence);
  g_cond_broadcast (&bed->changed);
  g_mutex_unlock (&bed->lock);
}

static gpointer
step (gpointer data)
{
  Bed *bed = data;
  while (!g_atomic_int_get (&bed->ending))
    sl_zmtp_server_step (bed->server);
  sl_zmtp_server_nudge (bed->server);
  return NULL;
}

/* With @n_threads that serve clients. */
static void
open_bed_of (Bed *bed, const SlZmtpLimits *limits, guint n_threads)
{
  static const SlZmtpHandlers handlers = { message, trouble };
  g_autoptr (GError) error = NULL;
  *bed = (Bed){ .folder = g_dir_make_tmp ("sl-zmtp-XXXXXX", NULL) };
  bed->path = g_build_filename (bed->folder, "socket", NULL);
  bed->endpoint = g_strconcat ("ipc://", bed->path, NULL);
  bed->troubles = g_string_new (NULL);
  g_mutex_init (&bed->lock);
  g_cond_init (&bed->changed);
  const int listener = sl_zmq_endpoint_listen (bed->endpoint, &error);
  g_assert_no_error (error);
  bed->server = sl_zmtp_server_new (listener, limits, &handlers, bed, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < n_threads; i++)
    bed->threads[i] = g_thread_new ("step", step, bed);
}

static void
open_bed (Bed *bed, const SlZmtpLimits *limits)
{
  open_bed_of (bed, limits, N_THREADS);
}

static void
close_bed (Bed *bed)
{
  g_atomic_int_set (&bed->ending, TRUE);
  sl_zmtp_server_nudge (bed->server);
  for (guint i = 0; i < N_THREADS && bed->threads[i] != NULL; i++)
    g_thread_join (bed->threads[i]);
  sl_zmtp_server_free (bed->server);
  g_unlink (bed->path);
  g_rmdir (bed->folder);
  g_string_free (bed->troubles, TRUE);
  g_mutex_clear (&bed->lock);
  g_cond_clear (&bed->changed);
  g_free (bed->folder);
  g_free (bed->path);
  g_free (bed->endpoint);
}

static void
await_trouble (Bed *bed, const char *text)
{
  g_mutex_lock (&bed->lock);
  while (strstr (bed->troubles->str, text) == NULL)
    g_cond_wait (&bed->changed, &bed->lock);
  g_mutex_unlock (&bed->lock);
}

static int
enter (const Bed *bed)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  const int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_strlcpy (address.sun_path, bed->path, sizeof address.sun_path);
  g_assert_cmpint (connect (fd, (struct sockaddr *) &address, sizeof address), ==, 0);
  return fd;
}

static void
put (int fd, const void *bytes, gsize size)
{
  g_assert_cmpint (send (fd, bytes, size, MSG_NOSIGNAL), ==, (gssize) size);
}

#define PUT(fd, text) put (fd, text, sizeof (text) - 1)

static void
expect (int fd, const char *bytes, gsize size)
{
  g_autofree char *got = g_malloc (size);
  g_assert_cmpint (recv (fd, got, size, MSG_WAITALL), ==, (gssize) size);
  if (bytes != NULL)
    g_assert_cmpmem (got, size, bytes, size);
}

#define EXPECT(fd, text) expect (fd, text, sizeof (text) - 1)

/* Until the server closes the connection. */
static void
expect_end (int fd)
{
  char bytes[4096];
  while (recv (fd, bytes, sizeof bytes, 0) > 0)
    ;
  close (fd);
}

static int
enter_ready (const Bed *bed)
{
  const int fd = enter (bed);
  PUT (fd, GREETING READY);
  expect (fd, NULL, ANSWERED);
  return fd;
}

static const SlZmtpLimits usual = { 8, 1 << 20, 8192, 4 << 20, 60 * G_TIME_SPAN_SECOND };

/* A conversation, a second one byte by byte, a third that ends in the middle of a message. */
static void
test_talk (void)
{
  static const char all[] = GREETING READY "\1\0\1\2{}\0\3abc\4\7\4PING\0\0";
  Bed bed;
  open_bed (&bed, &usual);
  const int first = enter_ready (&bed), second = enter (&bed), third = enter_ready (&bed);
  PUT (first, "\1\0\0\1x");
  EXPECT (first, "\1\0\0\1x");
  for (gsize i = 0; i < sizeof all - 1; i++)
    put (second, all + i, 1);
  expect (second, NULL, ANSWERED);
  EXPECT (second, "\1\0\1\2{}\0\3abc\4\5\4PONG");
  PUT (third, "\1\0\2\0\0\0\0\0\1\0\0part");
  close (third);
  PUT (first, "\0\1y");
  EXPECT (first, "\0\1y");
  close (first);
  close (second);
  g_assert_cmpstr (bed.troubles->str, ==, "");
  close_bed (&bed);
}

/* A large message in pieces, beside others, comes back whole. */
static void
test_pieces (void)
{
  enum
  {
    SIZE = 700000
  };
  Bed bed;
  open_bed (&bed, &usual);
  const int large = enter_ready (&bed), small = enter_ready (&bed);
  g_autofree guint8 *frame = g_malloc0 (9 + SIZE), *back = g_malloc (9 + SIZE);
  memcpy (frame, "\2\0\0\0\0\0\12\256\140", 9); /* 700000 */
  for (guint i = 0; i < SIZE; i++)
    frame[9 + i] = (guint8) (i * 7 >> 3);
  for (gsize at = 0; at < 9 + SIZE; at += 100001) {
    put (large, frame + at, MIN (100001, 9 + SIZE - at));
    PUT (small, "\0\1s");
    EXPECT (small, "\0\1s");
  }
  g_assert_cmpint (recv (large, back, 9 + SIZE, MSG_WAITALL), ==, 9 + SIZE);
  g_assert_cmpmem (back, 9 + SIZE, frame, 9 + SIZE);
  close (large);
  close (small);
  close_bed (&bed);
}

/* Each is told, and its connection ends; the others go on. */
static void
test_refused (void)
{
  SlZmtpLimits limits = usual;
  limits.clients = 3;
  limits.large = 100000;
  Bed bed;
  open_bed (&bed, &limits);
  const int first = enter_ready (&bed), second = enter (&bed), third = enter_ready (&bed);
  PUT (second, "GET /\r\n");
  expect_end (second);
  g_autofree char *who = g_strdup_printf ("client (process %d): expected ZMTP 3", getpid ());
  await_trouble (&bed, who);
  const int heir = enter_ready (&bed), fourth = enter (&bed);
  expect_end (fourth);
  await_trouble (&bed, ": expected at most 3 clients at a time, got one more: close some\n");
  g_autofree guint8 *much = g_malloc0 (200000);
  memcpy (much, "\2\0\0\0\0\0\12\256\140", 9);
  send (heir, much, 200000, MSG_NOSIGNAL);
  expect_end (heir);
  await_trouble (&bed,
                 ": expected smaller messages, since those of other clients fill the memory\n");
  const int last = enter_ready (&bed);
  PUT (last, "\0\1z");
  EXPECT (last, "\0\1z");
  PUT (first, "\0\1y");
  EXPECT (first, "\0\1y");
  close (first);
  close (third);
  close (last);
  close_bed (&bed);
}

/* A greeting without READY, and half a message. */
static void
test_stalled (void)
{
  SlZmtpLimits limits = usual;
  limits.stall_us = 40 * G_TIME_SPAN_MILLISECOND;
  Bed bed;
  open_bed (&bed, &limits);
  const int slow = enter (&bed);
  PUT (slow, GREETING);
  expect_end (slow);
  await_trouble (&bed, ": expected a whole greeting within 0.04 s, got a part of it\n");
  /* A busy machine may not read a whole greeting in time either. */
  for (gboolean told = FALSE; !told;) {
    const int half = enter (&bed);
    send (half, PART, sizeof PART - 1, MSG_NOSIGNAL);
    expect_end (half);
    g_mutex_lock (&bed.lock);
    told =
      strstr (bed.troubles->str, ": expected a whole message within 0.04 s, got a part of it\n")
      != NULL;
    g_mutex_unlock (&bed.lock);
  }
  close_bed (&bed);
}

/* A client that asks and asks, and never reads, takes no memory and no one's turn. */
static void
test_unread (void)
{
  Bed bed;
  open_bed (&bed, &usual);
  const int deaf = enter_ready (&bed), other = enter_ready (&bed);
  guint8 question[256 + 2] = { 0, 255 };
  for (guint i = 0; i < FLOOD; i++) {
    put (deaf, question, 257);
    if (i % 1000 == 0) {
      PUT (other, "\0\1y");
      EXPECT (other, "\0\1y");
    }
  }
  g_mutex_lock (&bed.lock);
  while (bed.n_messages < FLOOD + FLOOD / 1000)
    g_cond_wait (&bed.changed, &bed.lock);
  g_mutex_unlock (&bed.lock);
  /* What waited comes at last, in whole messages, and then it is served as before. */
  gsize n = 0;
  guint8 answer[257];
  while (recv (deaf, answer, sizeof answer, n == 0 ? MSG_WAITALL : MSG_WAITALL | MSG_DONTWAIT)
         == sizeof answer) {
    g_assert_cmpmem (answer, sizeof answer, question, sizeof answer);
    n++;
  }
  g_assert_cmpuint (n, >, 0);
  g_assert_cmpuint (n, <, FLOOD);
  close (deaf);
  close (other);
  close_bed (&bed);
}

/* Bytes that were sent to @fd's other end, with what the kernel has for them, and not read yet. */
static int
unread (int fd)
{
  int n;
  g_assert_cmpint (ioctl (fd, SIOCOUTQ, &n), ==, 0);
  return n;
}

/* A client that sends commands without an end is read in pieces, so others have their turn. */
static void
test_commands (void)
{
  enum
  {
    SIZE = 150 << 10
  };
  Bed bed;
  open_bed_of (&bed, &usual, 0);
  const int babbler = enter (&bed);
  g_autoptr (GByteArray) all = g_byte_array_new ();
  g_byte_array_append (all, (const guint8 *) GREETING READY, sizeof GREETING READY - 1);
  while (all->len < SIZE)
    g_byte_array_append (all, (const guint8 *) "\4\6\5HELLO", 8);
  put (babbler, all->data, all->len);
  int left = unread (babbler);
  guint n_turns = 0;
  sl_zmtp_server_step (bed.server); /* it is accepted */
  for (; left > 0; n_turns++) {
    sl_zmtp_server_step (bed.server);
    const int now = unread (babbler);
    g_assert_cmpint (now, <, left);
    left = now;
  }
  g_assert_cmpuint (n_turns, >=, 2);
  PUT (babbler, "\0\1y");
  expect (babbler, NULL, ANSWERED);
  while (bed.n_messages == 0)
    sl_zmtp_server_step (bed.server);
  EXPECT (babbler, "\0\1y");
  close (babbler);
  g_assert_cmpstr (bed.troubles->str, ==, "");
  close_bed (&bed);
}

static void
test_endpoints (void)
{
  static const struct
  {
    const char *endpoint, *message;
  } bad[] = {
    { "tcp://nowhere.invalid:7000",
      "--zmq tcp://nowhere.invalid:7000: expected an address in numbers, with [] around one of "
      "IPv6, the name of a network interface, or *, got nowhere.invalid" },
    { "tcp://[127.0.0.1]:7000",
      "--zmq tcp://[127.0.0.1]:7000: expected an address in numbers, with [] around one of IPv6, "
      "the name of a network interface, or *, got 127.0.0.1" },
    { "tcp://192.0.2.1:7000", "--zmq tcp://192.0.2.1:7000: Cannot assign requested address: take "
                              "an address of this machine" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_cmpint (sl_zmq_endpoint_listen (bad[i].endpoint, &error), ==, -1);
    g_assert_cmpstr (error->message, ==, bad[i].message);
  }
  static const char *const hosts[] = { "127.0.0.1", "*", "lo", "[::1]" };
  for (guint i = 0; i < G_N_ELEMENTS (hosts); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *any = g_strdup_printf ("tcp://%s:0", hosts[i]);
    const int listener = sl_zmq_endpoint_listen (any, &error);
    if (i == 3 && listener < 0) {
      g_test_message ("no IPv6 here: %s", error->message);
      continue;
    }
    g_assert_no_error (error);
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    g_assert_cmpint (getsockname (listener, (struct sockaddr *) &address, &length), ==, 0);
    g_assert_cmpint (address.ss_family, ==, i == 3 ? AF_INET6 : AF_INET);
    /* The port is at the same place for both. */
    guint16 port;
    memcpy (&port, (const char *) &address + 2, sizeof port);
    g_autofree char *same = g_strdup_printf ("tcp://%s:%u", hosts[i], GUINT16_FROM_BE (port));
    g_autofree char *expected = g_strdup_printf (
      "--zmq %s: Address already in use: stop the other program, or take another port", same);
    g_assert_cmpint (sl_zmq_endpoint_listen (same, &error), ==, -1);
    g_assert_cmpstr (error->message, ==, expected);
    close (listener);
  }
}

/* A socket that others use stays: one of datagrams, and one whose program is too busy to accept. */
static void
test_used (void)
{
  static const struct
  {
    int type;
    const char *message;
  } cases[] = {
    { SOCK_DGRAM, "a socket is there, and whether a program uses it is unknown: Protocol wrong "
                  "type for socket: take another path, or delete it" },
    { SOCK_STREAM, "another program listens there already: stop it, or take another address" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Bed bed = { .folder = g_dir_make_tmp ("sl-zmtp-XXXXXX", NULL) };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    g_autoptr (GError) error = NULL;
    bed.path = g_build_filename (bed.folder, "socket", NULL);
    g_strlcpy (address.sun_path, bed.path, sizeof address.sun_path);
    const int other = socket (AF_UNIX, cases[i].type | SOCK_CLOEXEC, 0);
    g_assert_cmpint (bind (other, (struct sockaddr *) &address, sizeof address), ==, 0);
    const int waits = i == 1 && listen (other, 0) == 0 ? enter (&bed) : -1;
    g_autofree char *endpoint = g_strconcat ("ipc://", bed.path, NULL);
    g_autofree char *expected = g_strdup_printf ("--zmq %s: %s", endpoint, cases[i].message);
    g_assert_cmpint (sl_zmq_endpoint_listen (endpoint, &error), ==, -1);
    g_assert_cmpstr (error->message, ==, expected);
    g_assert_true (g_file_test (bed.path, G_FILE_TEST_EXISTS));
    if (waits >= 0)
      close (waits);
    close (other);
    g_unlink (bed.path);
    g_rmdir (bed.folder);
    g_free (bed.path);
    g_free (bed.folder);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/remote/zmtp_server/talk", test_talk);
  g_test_add_func ("/remote/zmtp_server/pieces", test_pieces);
  g_test_add_func ("/remote/zmtp_server/refused", test_refused);
  g_test_add_func ("/remote/zmtp_server/stalled", test_stalled);
  g_test_add_func ("/remote/zmtp_server/unread", test_unread);
  g_test_add_func ("/remote/zmtp_server/commands", test_commands);
  g_test_add_func ("/remote/zmtp_server/endpoints", test_endpoints);
  g_test_add_func ("/remote/zmtp_server/used", test_used);
  return g_test_run ();
}
