/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What ZeroMQ's clients send, read piece by piece: bytes that libzmq 4.3.4 sent, those of RFC 23
 * and RFC 37, what is refused, and mutants of all of it.
 */
#include <string.h>

#include "core/graph/tensor.h"
#include "sightline/error.h"
#include "tests/support/program.h"
#include "tools/serve/zmtp.h"

#define MOST 1000
#define KEEP 8192
#define MUTANTS 6000
#define THOROUGH 300000

#define ZEROS_16 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define ZEROS_48 ZEROS_16 ZEROS_16 ZEROS_16
#define GREETING_LIBZMQ "\377\0\0\0\0\0\0\0\7\177\3\1NULL" ZEROS_48
#define GREETING_RFC "\377\0\0\0\0\0\0\0\0\177\3\0NULL" ZEROS_48
#define READY_LIBZMQ "\4\54\5READY\13Socket-Type\0\0\0\3REQ\10Identity\0\0\0\6camera"
#define READY_DEALER "\4\34\5READY\13socket-type\0\0\0\6DEALER"
#define READY_LATE "\4\46\5READY\10Identity\0\0\0\0\13Socket-Type\0\0\0\3REQ"
#define REQUEST "\1\0\1\2{}\2\0\0\0\0\0\0\0\5hello"
#define PING "\4\7\4PING\0\0"
#define PING_CONTEXT "\4\11\4PING\0\12hi"

typedef struct
{
  const char *bytes;
  gsize size;
  const char *expected; /* steps, or the error */
} Case;

/* clang-format off */
#define CASE(bytes, expected) { bytes, sizeof (bytes) - 1, expected }
/* clang-format on */

static const Case good[] = {
  CASE (GREETING_LIBZMQ READY_LIBZMQ REQUEST PING, "greeted; message ''{}'hello'; ping ''; "),
  CASE (GREETING_RFC READY_DEALER "\0\1x\0\0" PING_CONTEXT,
        "greeted; message 'x'; message ''; ping 'hi'; "),
  CASE (GREETING_RFC READY_LATE "\1\1a" PING "\1\1b" PING_CONTEXT "\0\1c",
        "greeted; ping ''; ping 'hi'; message 'a'b'c'; "),
  CASE (GREETING_RFC READY_DEALER
        "\4\12\11SUBSCRIBE\4\5\4PONG\6\0\0\0\0\0\0\0\5\4JOIN" REQUEST REQUEST,
        "greeted; message ''{}'hello'; message ''{}'hello'; "),
  CASE (GREETING_RFC READY_DEALER "\1\0\1\0\1\0\1\0\1\0\1\0\1\0\0\1x",
        "greeted; message ''''''''x'; "),
  CASE ("\377\0\0\0\0\0\0\0\0\177\4\7NULL" ZEROS_48 READY_DEALER, "greeted; "),
};

#define START GREETING_RFC READY_DEALER

static const Case bad[] = {
  CASE ("GET / HTTP/1.0", "expected ZMTP 3, which libzmq 4 speaks, got ZMTP 1 or another protocol"),
  CASE ("\1\0\0", "expected ZMTP 3, which libzmq 4 speaks, got ZMTP 1 or another protocol"),
  CASE ("\377\0\0\0\0\0\0\0\1\176",
        "expected ZMTP 3, which libzmq 4 speaks, got ZMTP 1 or another protocol"),
  CASE ("\377\0\0\0\0\0\0\0\1\177\1\3", "expected ZMTP 3, which libzmq 4 speaks, got ZMTP 2"),
  CASE ("\377\0\0\0\0\0\0\0\0\177\3\0CURVE" ZEROS_48,
        "expected the mechanism NULL, got CURVE: set no password and no keys in the client"),
  CASE (GREETING_RFC "\0\1x", "expected the command READY first, got a message"),
  CASE (GREETING_RFC PING, "expected the command READY first, got PING"),
  CASE (GREETING_RFC "\4\33\5READY\13Socket-Type\0\0\0\5PAI\nR",
        "expected a socket of type REQ or DEALER, got PAI\\nR"),
  CASE (GREETING_RFC "\4\6\5READY", "expected a socket of type REQ or DEALER, got none"),
  CASE (GREETING_RFC "\4\30\5READY\13Socket-Type\0\0\0\3RE",
        "READY: expected properties, got one that is cut"),
  CASE (GREETING_RFC "\4\11\5READY\3ab", "READY: expected properties, got one that is cut"),
  CASE (START "\4\0", "expected a command with a name, got one without"),
  CASE (START "\4\2\2x", "expected a command with a name, got one without"),
  CASE (GREETING_RFC "\4\13\5ERROR\4busy", "the client refuses the connection: busy"),
  CASE (GREETING_RFC "\4\10\5ERROR\377x", "the client refuses the connection: x"),
  CASE (GREETING_RFC "\4\6\5ERROR", "the client refuses the connection: "),
  CASE (START "\4\6\4PING\0", "PING: expected 2 bytes of time and up to 16 of context, got 1"),
  CASE (START "\4\30\4PING\0\0" ZEROS_16 "\0",
        "PING: expected 2 bytes of time and up to 16 of context, got 19"),
  CASE (START "\10\0", "expected a frame, got one with the flags 0x08"),
  CASE (START "\5\0", "expected a frame, got one with the flags 0x05"),
  CASE (START "\6\0\0\0\0\0\0\20\1", "expected a command of at most 4096 bytes, got one of 4097"),
  CASE (START "\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0",
        "expected a message of at most 8 parts, got more"),
  CASE (START "\1\1x\2\0\0\0\0\0\0\3\350",
        "expected a message of at most 1000 bytes, got a part of 1000 after 1 bytes: send smaller "
        "pictures"),
  CASE (START "\2\377\377\377\377\377\377\377\377",
        "expected a message of at most 1000 bytes, got a part of 18446744073709551615 after 0 "
        "bytes: send smaller pictures"),
};

/* What happens, as text. Pieces have @most bytes at most. FALSE: it was refused. */
static gboolean
feed (const guint8 *bytes, gsize size, gsize most, GRand *random, GString *told)
{
  SlZmtpReader reader;
  SlZmtpStep step = SL_ZMTP_WANTS;
  g_autoptr (GError) error = NULL;
  gsize fed = 0;
  sl_zmtp_reader_init (&reader, MOST, KEEP);
  while (step != SL_ZMTP_BROKEN) {
    step = sl_zmtp_reader_next (&reader, &error);
    if (step == SL_ZMTP_GREETED)
      g_string_append (told, "greeted; ");
    else if (step == SL_ZMTP_PING)
      g_string_append_printf (told, "ping '%.*s'; ", (int) reader.n_context, reader.context);
    else if (step == SL_ZMTP_MESSAGE) {
      g_assert_cmpuint (reader.n_parts, <=, SL_ZMTP_PARTS);
      g_string_append (told, "message '");
      for (guint i = 0; i < reader.n_parts; i++) {
        g_string_append_len (told, (const char *) reader.parts[i].data,
                             (gssize) reader.parts[i].size);
        g_string_append_c (told, '\'');
      }
      g_string_append (told, "; ");
    } else if (step == SL_ZMTP_WANTS) {
      if (fed == size)
        break;
      gsize room;
      guint8 *at = sl_zmtp_reader_room (&reader, &room);
      g_assert_cmpuint (room, >, 0);
      g_assert_cmpuint (reader.capacity, <=, KEEP);
      gsize n = random != NULL ? (gsize) g_rand_int_range (random, 1, (gint32) most + 1) : most;
      n = MIN (MIN (n, room), size - fed);
      memcpy (at, bytes + fed, n);
      sl_zmtp_reader_add (&reader, n);
      fed += n;
    }
  }
  sl_zmtp_reader_clear (&reader);
  if (step == SL_ZMTP_BROKEN) {
    g_assert_nonnull (error);
    g_string_assign (told, error->message);
  } else
    g_assert_no_error (error);
  return step != SL_ZMTP_BROKEN;
}

static void
check_cases (const Case *cases, gsize n, gboolean whole)
{
  static const gsize pieces[] = { G_MAXSIZE, 1, 2, 3, 5, 64 };
  for (gsize i = 0; i < n; i++)
    for (guint k = 0; k < G_N_ELEMENTS (pieces); k++) {
      g_autoptr (GString) told = g_string_new (NULL);
      g_assert_cmpint (feed ((const guint8 *) cases[i].bytes, cases[i].size, pieces[k], NULL, told),
                       ==, whole);
      g_assert_cmpstr (told->str, ==, cases[i].expected);
    }
}

static void
test_steps (void)
{
  check_cases (good, G_N_ELEMENTS (good), TRUE);
}

static void
test_refusals (void)
{
  check_cases (bad, G_N_ELEMENTS (bad), FALSE);
}

/* Changed, cut, joined and invented bytes give the same in pieces of any size. */
static void
test_mutants (void)
{
  const guint mutants = g_test_thorough () ? THOROUGH : MUTANTS;
  g_autoptr (GRand) random = g_rand_new_with_seed (11);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  for (guint i = 0; i < mutants; i++) {
    const Case *one = i % 2 == 0 ? &good[g_rand_int_range (random, 0, G_N_ELEMENTS (good))]
                                 : &bad[g_rand_int_range (random, 0, G_N_ELEMENTS (bad))];
    g_autoptr (GString) whole = g_string_new (NULL);
    g_autoptr (GString) pieces = g_string_new (NULL);
    g_byte_array_set_size (bytes, 0);
    g_byte_array_append (bytes, (const guint8 *) one->bytes, (guint) one->size);
    for (gint k = g_rand_int_range (random, 0, 40); k > 0; k--) {
      const guint8 byte = (guint8) g_rand_int_range (random, 0, k % 2 == 0 ? 256 : 8);
      g_byte_array_append (bytes, &byte, 1);
    }
    g_byte_array_set_size (bytes, (guint) g_rand_int_range (random, 0, (gint32) bytes->len + 1));
    for (gint k = g_rand_int_range (random, 0, 4); bytes->len > 0 && k > 0; k--)
      bytes->data[g_rand_int_range (random, 0, (gint32) bytes->len)] =
        (guint8) g_rand_int_range (random, 0, 256);
    g_autofree guint8 *exact = g_memdup2 (bytes->data, bytes->len); /* no byte behind it */
    g_assert_cmpint (feed (exact, bytes->len, G_MAXSIZE, NULL, whole), ==,
                     feed (exact, bytes->len, 9, random, pieces));
    g_assert_cmpmem (whole->str, whole->len, pieces->str, pieces->len);
  }
}

static void
append (GByteArray *out, const char *text, gsize size)
{
  g_byte_array_append (out, (const guint8 *) text, (guint) size);
}

/* Large parts among small ones, a PING between them, and a second message behind them. The first
 * large one is alone in memory that can be exchanged, and larger memory than what is kept goes. */
static void
test_large (void)
{
  static const gsize pieces[] = { G_MAXSIZE, 1, 4095, 50000 };
  enum
  {
    SIZE = 100000
  };
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree guint8 *picture = g_malloc (SIZE);
  for (guint i = 0; i < SIZE; i++)
    picture[i] = (guint8) (i * 11 >> 3);
  append (bytes, START "\1\0\1\2{}", sizeof START "\1\0\1\2{}" - 1);
  sl_zmtp_append_part (bytes, picture, SIZE, TRUE);
  append (bytes, PING, sizeof PING - 1);
  sl_zmtp_append_part (bytes, picture + 1, SIZE - 1, TRUE);
  append (bytes, "\0\1z" REQUEST, sizeof "\0\1z" REQUEST - 1);
  sl_zmtp_append_part (bytes, picture, SIZE, FALSE);
  for (guint k = 0; k < G_N_ELEMENTS (pieces); k++) {
    SlZmtpReader reader;
    guint n_messages = 0;
    const gsize keep = k % 2 == 0 ? SIZE : SIZE - 1;
    gsize fed = 0, room;
    sl_zmtp_reader_init (&reader, 3 * SIZE, keep);
    for (SlZmtpStep step;
         (step = sl_zmtp_reader_next (&reader, NULL)) != SL_ZMTP_WANTS || fed < bytes->len;) {
      g_assert_cmpint (step, !=, SL_ZMTP_BROKEN);
      if (step == SL_ZMTP_WANTS) {
        guint8 *at = sl_zmtp_reader_room (&reader, &room);
        const gsize n = MIN (MIN (room, pieces[k]), bytes->len - fed);
        memcpy (at, bytes->data + fed, n);
        sl_zmtp_reader_add (&reader, n);
        fed += n;
      } else if (step == SL_ZMTP_MESSAGE && n_messages++ == 0) {
        g_assert_cmpuint (reader.n_parts, ==, 5);
        g_assert_cmpmem (reader.parts[1].data, reader.parts[1].size, "{}", 2);
        g_assert_cmpmem (reader.parts[2].data, reader.parts[2].size, picture, SIZE);
        g_assert_cmpmem (reader.parts[3].data, reader.parts[3].size, picture + 1, SIZE - 1);
        g_assert_cmpmem (reader.parts[4].data, reader.parts[4].size, "z", 1);
        g_assert_null (reader.parts[3].own);
        g_assert_true (*reader.parts[2].own == reader.parts[2].data);
        g_assert_cmpuint ((gsize) reader.parts[2].data % SL_TENSOR_ALIGN, ==, 0);
        g_assert_cmpuint (sl_zmtp_reader_memory (&reader), >=, SIZE - 1 + (keep < SIZE));
        sl_tensor_buffer_free (*reader.parts[2].own);
        *reader.parts[2].own = sl_tensor_buffer_new (SIZE);
      } else if (step == SL_ZMTP_MESSAGE && n_messages == 3)
        g_assert_cmpmem (reader.parts[0].data, reader.parts[0].size, picture, SIZE);
    }
    g_assert_cmpuint (n_messages, ==, 3);
    g_assert_cmpuint (sl_zmtp_reader_memory (&reader), ==, 0);
    g_assert_cmpuint (reader.large_room, ==, keep < SIZE ? 0 : SIZE);
    g_assert_false (sl_zmtp_reader_pending (&reader));
    sl_zmtp_reader_clear (&reader);
  }
}

/* Whatever is announced, memory is taken for parts that may come; the rest grows with what came. */
static void
test_memory (void)
{
  static const char frame[] = START "\3\0\0\0\0\0\1\206\240" /* 100000 bytes, and more */
                                    "\3\0\0\0\0\0\1\206\240";
  SlZmtpReader reader;
  gsize room;
  sl_zmtp_reader_init (&reader, 200000, 0);
  memcpy (sl_zmtp_reader_room (&reader, &room), frame, sizeof frame - 1 - 9);
  sl_zmtp_reader_add (&reader, sizeof frame - 1 - 9);
  g_assert_cmpint (sl_zmtp_reader_next (&reader, NULL), ==, SL_ZMTP_GREETED);
  g_assert_true (sl_zmtp_reader_pending (&reader));
  g_assert_cmpint (sl_zmtp_reader_next (&reader, NULL), ==, SL_ZMTP_WANTS);
  g_assert_cmpuint (sl_zmtp_reader_memory (&reader), ==, 100000);
  memset (sl_zmtp_reader_room (&reader, &room), 0, 100000);
  g_assert_cmpuint (room, ==, 100000);
  sl_zmtp_reader_add (&reader, room);
  g_assert_cmpint (sl_zmtp_reader_next (&reader, NULL), ==, SL_ZMTP_WANTS);
  g_assert_true (sl_zmtp_reader_pending (&reader));
  memcpy (sl_zmtp_reader_room (&reader, &room), frame + sizeof frame - 1 - 9, 9);
  sl_zmtp_reader_add (&reader, 9);
  for (gsize came = 9; came < 100009; came += room) {
    g_assert_cmpint (sl_zmtp_reader_next (&reader, NULL), ==, SL_ZMTP_WANTS);
    guint8 *at = sl_zmtp_reader_room (&reader, &room);
    g_assert_cmpuint (room, <=, 100009 - came);
    g_assert_cmpuint (reader.capacity, <=, MAX (2 * came, 4096));
    memset (at, 0, room);
    sl_zmtp_reader_add (&reader, room);
  }
  g_assert_cmpint (sl_zmtp_reader_next (&reader, NULL), ==, SL_ZMTP_WANTS);
  g_assert_cmpuint (reader.n_parts, ==, 2);
  sl_zmtp_reader_clear (&reader);
}

/* What a client gets, byte by byte as RFC 37 has it. */
static void
test_writing (void)
{
  static const char expected[] =
    "\377\0\0\0\0\0\0\0\1\177\3\1NULL" ZEROS_48 "\4\34\5READY\13Socket-Type\0\0\0\6ROUTER"
    "\4\7\4PONGhi\1\0\1\2{}\2\0\0\0\0\0\0\1\54";
  g_autoptr (GByteArray) out = g_byte_array_new ();
  const guint8 rows[300] = { 0 };
  const SlZmtpReader reader = { .context = "hi", .n_context = 2 };
  sl_zmtp_append_greeting (out);
  sl_zmtp_append_ready (out);
  sl_zmtp_append_pong (out, &reader);
  sl_zmtp_append_part (out, NULL, 0, TRUE);
  sl_zmtp_append_part (out, "{}", 2, TRUE);
  sl_zmtp_append_part (out, rows, sizeof rows, FALSE);
  g_assert_cmpuint (out->len, ==, sizeof expected - 1 + sizeof rows);
  g_assert_cmpmem (out->data, sizeof expected - 1, expected, sizeof expected - 1);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/remote/zmtp/steps", test_steps);
  g_test_add_func ("/remote/zmtp/refusals", test_refusals);
  g_test_add_func ("/remote/zmtp/mutants", test_mutants);
  g_test_add_func ("/remote/zmtp/large", test_large);
  g_test_add_func ("/remote/zmtp/memory", test_memory);
  g_test_add_func ("/remote/zmtp/writing", test_writing);
  return g_test_run ();
}
