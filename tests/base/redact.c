/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Secrets in URIs and in texts around them. Every text here that has one spells it "hush" in some
 * place, so that no rule can be satisfied by a table that was written wrong: "hush" must be in no
 * answer.
 */
#include "core/base/redact.h"
#include "tests/support/program.h"

#include <string.h>

typedef struct
{
  const char *text, *shown;
} Row;

static const Row uris[] = {
  /* no secret: nothing changes */
  { "", "" },
  { "-", "-" },
  { "/var/log/a:b@c.json", "/var/log/a:b@c.json" },
  { "./a:b@c", "./a:b@c" },
  { "file:///home/u:v@w.mp4", "file:///home/u:v@w.mp4" },
  { "v4l2:///dev/video0", "v4l2:///dev/video0" },
  { "unix:/run/a:b@c", "unix:/run/a:b@c" },
  { "test://?pattern=ball", "test://?pattern=ball" },
  { "rtsp://cam/live@2", "rtsp://cam/live@2" },
  { "rtsp://cam:554/1", "rtsp://cam:554/1" },
  { "tcp://[::1]:9000", "tcp://[::1]:9000" },
  { "mqtt://joe@[fe80::1%25eth0]:1883/t", "mqtt://joe@[fe80::1%25eth0]:1883/t" },
  { "mqtt://joe@host/t", "mqtt://joe@host/t" },
  { "http://cam/a.cgi?x=1&mail=a@b", "http://cam/a.cgi?x=1&mail=a@b" },
  { "mqtt://host/{element}", "mqtt://host/{element}" },
  /* a password, of any characters */
  { "mqtt://joe:hush@host:1883/t", "mqtt://joe:***@host:1883/t" },
  { "mqtt://u:s3cr#hush@127.0.0.1:1/t", "mqtt://u:***@127.0.0.1:1/t" },
  { "mqtt://u:a/hush@h/t", "mqtt://u:***@h/t" },
  { "mqtt://u:12/34hush@h/t", "mqtt://u:***@h/t" },
  { "mqtt://u:a@hush@h/t", "mqtt://u:***@h/t" },
  { "mqtt://u:a@b/hush@h/t", "mqtt://u:***@h/t" },
  { "mqtt://u:a%40hush@h/t", "mqtt://u:***@h/t" },
  { "mqtt://u%3Ahush@h/t", "mqtt://u%3A***@h/t" },
  { "mqtt://u:a:hush@h/t", "mqtt://u:***@h/t" },
  { "mqtt://u:a hush@h/t", "mqtt://u:***@h/t" },
  { "mqtt://u:\xc3\xa9hush@h/t", "mqtt://u:***@h/t" },
  { "mqtt://u:\xff\xfehush@h/t", "mqtt://u:***@h/t" },
  { "mqtt://u:a?hush@h/t", "mqtt://u:***@h/t" },
  { "mqtt://u:a\\hush\"'@h/t", "mqtt://u:***@h/t" },
  { "mqtt://u:a[hush]@h/t", "mqtt://u:***@h/t" },
  { "mqtt://u:a://hush@h/t", "mqtt://u:***@h/t" },
  { "mqtt://:hush@h/t", "mqtt://:***@h/t" },
  { "mqtt://u:hush@[::1]:1883/t", "mqtt://u:***@[::1]:1883/t" },
  { "rtsp://joe:hush@cam/1?channel=1", "rtsp://joe:***@cam/1?channel=1" },
  /* schemes mistyped, unknown, not there */
  { "tcp:u:hush@h:9000", "tcp:u:***@h:9000" },
  { "tcp://u:hush@h:9000", "tcp://u:***@h:9000" },
  { "mqqt://u:hush@h/t", "mqqt://u:***@h/t" },
  { "mqtt:/u:hush@h/t", "mqtt:/u:***@h/t" },
  { "mqtt:///u:hush@h/t", "mqtt:///u:***@h/t" },
  { "mqtt//u:hush@h/t", "mqtt//u:***@h/t" },
  { "mqtt;//u:hush@h/t", "mqtt;//u:***@h/t" },
  { "://u:hush@h/t", "://u:***@h/t" },
  { "//u:hush@h/t", "//u:***@h/t" },
  { "u:hush@h/t", "u:***@h/t" },
  { "joe:hush@rtsp://cam/1", "joe:***@rtsp://cam/1" },
  { "mqtt:hush@h", "mqtt:***@h" },
  /* cut off before the '@' */
  { "mqtt://u:hush", "mqtt://u:***" },
  { "mqtt://u:hu#sh", "mqtt://u:***" },
  { "kafka://a:9092,u:hush", "kafka://a:9092,u:***" },
  { "kafka://a:9092,b:9092x,hush/t", "kafka://a:9092,b:***" },
  /* several hosts */
  { "kafka://a:9092,b:9092/t", "kafka://a:9092,b:9092/t" },
  { "KAFKAS://a:9092,[::1]:9093,c,d:1", "KAFKAS://a:9092,[::1]:9093,c,d:1" },
  { "kafkas://joe@a:9092,b:9092/t", "kafkas://joe@a:9092,b:9092/t" },
  { "kafka://joe:hush@a:9092,b:9092/t", "kafka://joe:***@a:9092,b:9092/t" },
  { "kafka://joe:1,hush@a:9092,b:9092/t", "kafka://joe:***@a:9092,b:9092/t" },
  { "mqtt://a:9092,hush", "mqtt://a:***" },
  /* all addresses: a wrong port is no secret, a user is one */
  { "tcp://*:80x", "tcp://*:80x" },
  { "tcp://*x:hush", "tcp://*x:***" },
  { "tcp://*:hush@h", "tcp://*:***@h" },
  /* path and query */
  { "http://cam/a.cgi?loginuse=joe&loginpas=hush&x=1",
    "http://cam/a.cgi?loginuse=joe&loginpas=***&x=1" },
  { "http://cam:80/x?pwd=p@hush&res=1", "http://cam:80/x?pwd=***&res=1" },
  { "https://cam?token=a/b_hush", "https://cam?token=***" },
  { "http://joe:hush@cam/?token=hush", "http://joe:***@cam/?token=***" },
  { "rtsp://cam/user=joe_password=hush_channel=1.sdp", "rtsp://cam/user=joe_password=***" },
  { "http://cam/?API_KEY=hush", "http://cam/?API_KEY=***" },
};

static const Row texts[] = {
  { "", "" },
  { "nothing: to hide, not even 12:30 or me@example.org",
    "nothing: to hide, not even 12:30 or me@example.org" },
  { "tcp://127.0.0.1:9000: Could not connect: Connection refused",
    "tcp://127.0.0.1:9000: Could not connect: Connection refused" },
  { "--zmq tcp://*:80x: expected a port", "--zmq tcp://*:80x: expected a port" },
  { "private-key=/etc/k.pem: no such file", "private-key=/etc/k.pem: no such file" },
  { "x264enc key-int-max=60 pass=cbr ! fakesink", "x264enc key-int-max=60 pass=cbr ! fakesink" },
  { "password-file=/etc/pw: no such file", "password-file=/etc/pw: no such file" },
  { "(rtsp://cam:554).", "(rtsp://cam:554)." },
  { "or take password= or password-file= for it, user= and password=",
    "or take password= or password-file= for it, user= and password=" },
  { "set user= and password=; trying again (token=)",
    "set user= and password=; trying again (token=)" },
  { "got password=hush; expected none", "got password=***; expected none" },
  { "expected tcp://host:port, mqtt://[user[:password]@]host[:port]/topic, "
    "rtsp://USER:PASSWORD@HOST:PORT/PATH",
    "expected tcp://host:port, mqtt://[user[:password]@]host[:port]/topic, "
    "rtsp://USER:PASSWORD@HOST:PORT/PATH" },
  { "rtsp://joe:hush@cam/1: Not found (404)", "rtsp://joe:***@cam/1: Not found (404)" },
  { "Could not open resource rtsp://joe:hush@cam/1, or rtsp://ann:hush@cam/2.",
    "Could not open resource rtsp://joe:***@cam/1, or rtsp://ann:***@cam/2." },
  { "location=kafka://a:9092,b:9092/t: no answer", "location=kafka://a:9092,b:9092/t: no answer" },
  { "kafka://a:9092,u:x hush@b/t: no answer", "kafka://a:***@b/t: no answer" },
  { "location=mqtt://u:s3#hush@h/t: expected", "location=mqtt://u:***@h/t: expected" },
  { "got 'u:hush@h/t'", "got 'u:***@h/t'" },
  /* blanks and quotes in passwords */
  { "rtsp://u:a hush@cam/1: no answer", "rtsp://u:***@cam/1: no answer" },
  { "rtsp://u:12 hush@cam/1: no answer", "rtsp://u:***@cam/1: no answer" },
  { "rtsp://u:a\"hush@cam/1: no answer", "rtsp://u:***@cam/1: no answer" },
  { "rtsp://u:12'hush@cam/1: no answer", "rtsp://u:***@cam/1: no answer" },
  { "rtsp://u:a\\hush@cam/1: no answer", "rtsp://u:***@cam/1: no answer" },
  { "rtsp://DOM\\joe:hush@cam/1", "rtsp://DOM\\joe:***@cam/1" },
  /* launch lines */
  { "videotestsrc ! slpublish location=\"mqtt://u:s3cr#hush x@h/t\" password=hush",
    "videotestsrc ! slpublish location=\"mqtt://u:***@h/t\" password=***" },
  { "rtspsrc location='rtsp://u:a\"hush@h/1' user-pw=\"a hush\" name=x",
    "rtspsrc location='rtsp://u:***@h/1' user-pw=\"***\" name=x" },
  { "slpublish password='it is \\' hush' qos=1", "slpublish password='***' qos=1" },
  { "--set mqtt_password=hush --set token=hush", "--set mqtt_password=*** --set token=***" },
  { "PASSWORD = hush", "PASSWORD = ***" },
  { "a=1&passwd=hush&b=2", "a=1&passwd=***" },
  /* graphs in DOT: escaped twice, cut at 80 characters */
  { "label=\"X\\nlocation=\\\"http://u:p a\\\\\\\"s's\\\\\\\\hush@h/"
    "x\\\"\\nuser-id=\\\"abc\\\"\\nuser-pw=\\\"a b\\\\\\\"hush\\\\\\\\\\\"\\nproxy-pw=NULL\\nb=1\"",
    "label=\"X\\nlocation=\\\"http://u:***@h/x\\\"\\nuser-id=\\\"abc\\\"\\nuser-pw=\\\"***\\\"\\npr"
    "oxy-pw=NULL\\nb=1\"" },
  { "location=\\\"rtsp://user:hush-that-is-long\xe2\x80\xa6\\nb=1",
    "location=\\\"rtsp://user:***\\nb=1" },
};

/* TAP is UTF-8. */
static void
tell (const char *text)
{
  g_autofree char *plain = g_strescape (text, NULL);
  g_test_message ("%s", plain);
}

static void
check (const Row *rows, guint n, gboolean whole)
{
  for (guint i = 0; i < n; i++) {
    tell (rows[i].text);
    g_autofree char *shown = whole ? sl_redact_uri (rows[i].text, NULL) : sl_redact (rows[i].text);
    g_assert_cmpstr (shown, ==, rows[i].shown);
    g_assert_null (strstr (shown, "hush"));
    g_autofree char *again = whole ? sl_redact_uri (shown, NULL) : sl_redact (shown);
    g_assert_cmpstr (again, ==, shown);
  }
}

static void
test_uris (void)
{
  check (uris, G_N_ELEMENTS (uris), TRUE);
}

static void
test_texts (void)
{
  check (texts, G_N_ELEMENTS (texts), FALSE);
}

/* What is hidden in a URI is hidden in each text that the URI is in, between quotes whatever it is
 * made of. */
static void
test_nested (void)
{
  static const char *const frames[] = { "slpublish location=\"%s\" ! x", "uri='%s': no", "%s" };
  for (guint i = 0; i < G_N_ELEMENTS (uris); i++)
    for (guint k = 0; k < G_N_ELEMENTS (frames); k++) {
      if (strpbrk (uris[i].text, "\"'\\") != NULL)
        continue;
      g_auto (GStrv) around = g_strsplit (frames[k], "%s", 2);
      g_autofree char *text = g_strconcat (around[0], uris[i].text, around[1], NULL);
      g_autofree char *shown = sl_redact (text);
      tell (text);
      if (strstr (uris[i].text, "hu#sh") == NULL)
        g_assert_null (strstr (shown, "hush"));
      if (strstr (uris[i].shown, SL_HIDDEN) == NULL)
        g_assert_cmpstr (shown, ==, text);
    }
}

static void
test_secrets (void)
{
  g_autoptr (GPtrArray) secrets = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *shown = sl_redact_uri ("http://joe:h%40sh@cam/?token=tick&pin=1", secrets);
  g_assert_cmpstr (shown, ==, "http://joe:***@cam/?token=***&pin=1");
  g_assert_cmpuint (secrets->len, ==, 2);
  g_ptr_array_add (secrets, g_strdup ("ab"));
  g_autofree char *clean =
    sl_redact_secrets ("h%40sh, tick, about http://cam/?token=tick", secrets);
  g_assert_cmpstr (clean, ==, "***, ***, about http://cam/?token=***");
}

/* Any bytes: no crash, and what is between "u:" and the last '@' of a URI is in no answer. */
static void
test_noise (void)
{
  static const char alphabet[] = ":/@?#%[]&=.a1 \"'\\\xff\n";
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  for (guint i = 0; i < 20000; i++) {
    char noise[2][12];
    for (guint k = 0; k < 2; k++)
      for (gsize n = 0; n < sizeof noise[k]; n++)
        noise[k][n] = n + 1 < sizeof noise[k]
                        ? alphabet[g_rand_int_range (rand, 0, sizeof alphabet - 1)]
                        : '\0';
    g_autofree char *uri = g_strdup_printf ("mqtt://u:%shush%s@h/t", noise[0], noise[1]);
    g_autofree char *shown = sl_redact_uri (uri, NULL);
    g_autofree char *text = sl_redact (uri);
    g_autofree char *again = sl_redact (text);
    g_assert_nonnull (again);
    if (strstr (shown, "hush") != NULL)
      g_error ("%s: %s", uri, shown);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/redact/uris", test_uris);
  g_test_add_func ("/redact/texts", test_texts);
  g_test_add_func ("/redact/nested", test_nested);
  g_test_add_func ("/redact/secrets", test_secrets);
  g_test_add_func ("/redact/noise", test_noise);
  return g_test_run ();
}
