/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Web Push: the example of RFC 8291, section 5 and appendix A; addresses that may be called; the
 * file of browsers.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "pipelines/push/crypt.h"
#include "pipelines/push/endpoint.h"
#include "pipelines/push/phones.h"
#include "sightline/error.h"
#include "tests/support/program.h"

#define BROWSER \
  "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
#define AUTH "BTBZMqHH6r4Tts7J_aSIgg"

static char *folder;

/* (transfer full): what @coded stands for, by GLib's decoder. */
static GBytes *
decode (const char *coded)
{
  g_autoptr (GString) text = g_string_new (coded);
  gsize length = 0;
  g_strdelimit (text->str, "-", '+');
  g_strdelimit (text->str, "_", '/');
  while (text->len % 4 != 0)
    g_string_append_c (text, '=');
  guchar *bytes = g_base64_decode (text->str, &length);
  return g_bytes_new_take (bytes, length);
}

static gboolean
is_built (void)
{
  g_autoptr (GError) error = NULL;
  if (sl_push_check_keys (BROWSER, AUTH, &error))
    return TRUE;
  g_assert_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "this build has no Web Push: install libssl-dev"));
  g_test_skip ("built without libcrypto");
  return FALSE;
}

static void
test_vector (void)
{
  static const char text[] = "When I grow up, I want to be a watermelon";
  g_autoptr (GBytes)
    number = decode ("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
    salt = decode ("DGv6ra1nlYgDCS1FRnbzlw"),
    expected = decode ("DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIg"
                       "Dll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVB"
                       "St2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN");
  const SlPushSeed seed = { g_bytes_get_data (number, NULL), g_bytes_get_data (salt, NULL) };
  g_autoptr (GError) error = NULL;
  if (!is_built ())
    return;
  g_autoptr (GBytes) body = sl_push_encrypt (BROWSER, AUTH, text, strlen (text), &seed, &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (body, expected));
  g_autoptr (GBytes) one = sl_push_encrypt (BROWSER, AUTH, "", 0, NULL, &error),
                     two = sl_push_encrypt (BROWSER "=", AUTH "==", "", 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (one), ==, 86 + 17);
  g_assert_false (g_bytes_equal (one, two));
  g_autofree char *longest = g_malloc0 (SL_PUSH_TEXT_MOST + 1);
  g_autoptr (GBytes) whole =
    sl_push_encrypt (BROWSER, AUTH, longest, SL_PUSH_TEXT_MOST, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (whole), ==, 4096);
  g_assert_null (sl_push_encrypt (BROWSER, AUTH, longest, SL_PUSH_TEXT_MOST + 1, NULL, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_LIMIT);
  g_assert_cmpstr (error->message, ==, "a push message: expected at most 3993 bytes");
}

/* Points outside the curve would tell their sender something about a private key. */
static void
test_receivers (void)
{
  static const char *const points[] = {
    "",
    "AAAA",
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw8",
    "AiVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcx",
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6+VV+JvLexhqUzORcxaOzi6+AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "_CVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    BROWSER "=x",
    BROWSER BROWSER BROWSER,
  };
  static const char *const secrets[] = { "", "BTBZMqHH6r4Tts7J_aSI", AUTH AUTH, "BTBZ MqHH6r4T" };
  if (!is_built ())
    return;
  for (guint i = 0; i < G_N_ELEMENTS (points); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (sl_push_check_keys (points[i], AUTH, &error));
    g_assert_cmpstr (error->message, ==,
                     "p256dh: expected a point of the curve P-256, 65 bytes as base64url");
    g_assert_null (sl_push_encrypt (points[i], AUTH, "x", 1, NULL, NULL));
  }
  for (guint i = 0; i < G_N_ELEMENTS (secrets); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (sl_push_check_keys (BROWSER, secrets[i], &error));
    g_assert_cmpstr (error->message, ==, "auth: expected 16 bytes as base64url");
  }
}

static void
test_endpoints (void)
{
  static const struct
  {
    const char *endpoint, *hosts, *why; /* NULL = may be called */
  } rows[] = {
    { "https://fcm.googleapis.com/fcm/send/abc:def", NULL, NULL },
    { "https://updates.push.services.mozilla.com:443/wpush/v2/x?y=z", "", NULL },
    { "HTTPS://web.push.apple.com/x", NULL, NULL },
    { "http://fcm.googleapis.com/x", NULL, "endpoint at fcm.googleapis.com: expected https" },
    { "http://push.example/x", "push.example:80", "endpoint at push.example: expected https" },
    { "http://127.0.0.1:8080/x", NULL, "endpoint at 127.0.0.1: expected https" },
    { "http://127.0.0.1:8080/x", "127.0.0.1:8080", NULL },
    { "http://127.0.0.1:8081/x", "127.0.0.1:8080", "expected https" },
    { "http://localhost:8080/x", "a, LOCALHOST:8080", NULL },
    { "https://127.0.0.1/x", NULL, "expected the name of a public host and port 443" },
    { "https://[::1]/x", NULL, "expected the name of a public host and port 443" },
    { "https://10.0.0.1/x", "10.0.0.1", NULL },
    { "https://10.0.0.1:8443/x", "10.0.0.1", "expected the name of a public host" },
    { "https://push.example:8443/x", NULL, "hosts= of [push] allows others" },
    { "https://localhost/x", NULL, "expected the name of a public host" },
    { "https://2130706433/x", NULL, "expected the name of a public host" },
    { "ftp://push.example/x", "push.example", "expected https" },
    { "file:///etc/passwd", NULL, "expected https://HOST/PATH" },
    { "https:///x", NULL, "expected https://HOST/PATH" },
    { "https://me:secret@push.example/x", NULL, "expected https://HOST/PATH" },
    { "https://push.example/x#y", NULL, "expected https://HOST/PATH" },
    { "https://push.example/x y", NULL, "expected https://HOST/PATH" },
    { "https://push.example/\r\nHost: x", NULL, "expected https://HOST/PATH" },
    { "https://p\xc3\xbcsh.example/x", NULL, "expected https://HOST/PATH" },
    { "push.example", NULL, "expected https://HOST/PATH" },
    { "", NULL, "expected https://HOST/PATH" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    const gboolean good = sl_push_endpoint_check (rows[i].endpoint, rows[i].hosts, &error);
    g_test_message ("%s: %s", rows[i].endpoint, error != NULL ? error->message : "good");
    g_assert_true (good == (rows[i].why == NULL));
    if (!good)
      g_assert_nonnull (strstr (error->message, rows[i].why));
  }
  g_autofree char *path = g_strnfill (SL_PUSH_ENDPOINT_MOST, 'x'),
                  *too_long = g_strconcat ("https://push.example/", path, NULL);
  g_autoptr (GError) error = NULL;
  g_assert_false (sl_push_endpoint_check (too_long, NULL, &error));
  g_assert_cmpstr (error->message, ==, "endpoint: expected at most 1024 bytes, got 1045");
  g_autofree char *origin = sl_push_endpoint_origin ("https://push.example:443/x/y"),
                  *other = sl_push_endpoint_origin ("http://127.0.0.1:81/x");
  g_assert_cmpstr (origin, ==, "https://push.example");
  g_assert_cmpstr (other, ==, "http://127.0.0.1:81");
}

static void
test_settings (void)
{
  static const struct
  {
    const char *key, *subject, *hosts, *got; /* NULL = good */
  } rows[] = {
    { "k", "mailto:me@example.org", NULL, NULL },
    { "k", "https://example.org", "", NULL },
    { "k", "https://example.org", "push.example, 127.0.0.1:8080,::1,[x", "got '[x'" },
    { "k", "https://example.org", "push.example, 127.0.0.1:8080,::1,a_b-c:1", NULL },
    { NULL, "https://example.org", NULL, "key of [push] is not set" },
    { "", "https://example.org", NULL, "key of [push] is not set" },
    { "k", NULL, NULL, "got ''" },
    { "k", "mailto:", NULL,
      "subject of [push]: expected mailto: with an address, or https://HOST" },
    { "k", "mailto:@b", NULL, "got 'mailto:@b'" },
    { "k", "mailto:a@", NULL, "got 'mailto:a@'" },
    { "k", "mailto:a b@c", NULL, "got 'mailto:a b@c'" },
    { "k", "https://", NULL, "got 'https://'" },
    { "k", "https://x", "a b,,:99999", "got 'a b'" },
    { "k", "https://x", "a,,b", "got ''" },
    { "k", "https://x", ":99999", "got ':99999'" },
    { "k", "https://x", "a:65536", "got 'a:65536'" },
    { "k", "https://x", "a:0", "got 'a:0'" },
    { "k", "https://x", ",", "expected HOST or HOST:PORT with ',' between, got ''" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    const gboolean good =
      sl_push_settings_check (rows[i].key, rows[i].subject, rows[i].hosts, &error);
    g_test_message ("%u: %s", i, error != NULL ? error->message : "good");
    g_assert_true (good == (rows[i].got == NULL));
    if (!good)
      g_assert_nonnull (strstr (error->message, rows[i].got));
  }
}

static void
test_addresses (void)
{
  static const char *const closed[] = {
    "0.0.0.0",     "10.1.2.3",       "100.64.0.1",     "127.0.0.1",       "127.255.255.255",
    "169.254.1.1", "172.16.0.1",     "172.31.255.255", "192.0.0.8",       "192.168.1.1",
    "198.18.0.1",  "224.0.0.1",      "240.0.0.1",      "255.255.255.255", "::",
    "::1",         "::ffff:8.8.8.8", "64:ff9b::a00:1", "fc00::1",         "fd12::1",
    "fe80::1",     "ff02::1",        "2001::1",        "2001:db8::1",     "2002:a00::1",
    "3fff::1",     "fec0::1",        "::127.0.0.1",
  };
  static const char *const open[] = { "8.8.8.8",    "172.15.0.1",  "172.32.0.1",
                                      "100.63.0.1", "192.167.0.1", "2a00:1450:4001::200e",
                                      "2600::1" };
  for (guint i = 0; i < G_N_ELEMENTS (closed); i++) {
    g_autoptr (GInetAddress) address = g_inet_address_new_from_string (closed[i]);
    g_test_message ("%s", closed[i]);
    g_assert_false (sl_push_address_is_public (address));
  }
  for (guint i = 0; i < G_N_ELEMENTS (open); i++) {
    g_autoptr (GInetAddress) address = g_inet_address_new_from_string (open[i]);
    g_test_message ("%s", open[i]);
    g_assert_true (sl_push_address_is_public (address));
  }
}

static void
add (const char *path, const char *user, guint number, GError **error)
{
  g_autofree char *endpoint = g_strdup_printf ("https://push.example/%u", number);
  SlPhone phone = { .user = (char *) user,
                    .login = (char *) "",
                    .name = (char *) "A \"b\"",
                    .endpoint = endpoint,
                    .p256dh = (char *) BROWSER,
                    .auth = (char *) AUTH };
  sl_phones_add (path, &phone, error);
}

static guint
count (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) phones = sl_phones_read (path, &error);
  g_assert_no_error (error);
  return phones->len;
}

static void
test_phones (void)
{
  g_autofree char *path = g_build_filename (folder, "phones", NULL);
  g_autoptr (GError) error = NULL;
  GStatBuf about;
  guint removed = 1;
  g_assert_cmpuint (count (path), ==, 0);
  g_assert_true (sl_phones_remove (path, "0123456789abcdef", NULL, &removed, &error));
  g_assert_cmpuint (removed, ==, 0);
  for (guint i = 0; i < SL_PHONES_OF_USER_MOST; i++)
    add (path, "anna", i, &error);
  add (path, "anna", 3, &error); /* once more */
  g_assert_no_error (error);
  g_assert_cmpuint (count (path), ==, SL_PHONES_OF_USER_MOST);
  g_assert_cmpint (g_stat (path, &about), ==, 0);
  g_assert_cmpuint (about.st_mode & 0777, ==, 0600);
  add (path, "anna", 100, &error);
  g_assert_error (error, SL_ERROR, SL_ERROR_LIMIT);
  g_assert_cmpstr (error->message, ==,
                   "expected at most 64 browsers, and 16 of one user: remove one first");
  g_clear_error (&error);
  add (path, "bert", 3, &error); /* the browser has another user now */
  g_autoptr (GPtrArray) phones = sl_phones_read (path, &error);
  g_assert_cmpuint (phones->len, ==, SL_PHONES_OF_USER_MOST);
  const SlPhone *last = phones->pdata[phones->len - 1];
  g_autofree char *sum =
    g_compute_checksum_for_string (G_CHECKSUM_SHA256, "https://push.example/3", -1);
  g_assert_true (g_str_has_prefix (sum, last->id) && strlen (last->id) == 16);
  g_assert_cmpstr (last->user, ==, "bert");
  g_assert_cmpstr (last->name, ==, "A \"b\"");
  g_assert_true (sl_phones_remove (path, last->id, "anna", &removed, &error));
  g_assert_cmpuint (removed, ==, 0);
  g_assert_true (sl_phones_remove (path, last->id, "bert", &removed, &error));
  g_assert_cmpuint (removed, ==, 1);
  g_assert_cmpuint (count (path), ==, SL_PHONES_OF_USER_MOST - 1);
}

static void
test_bad_files (void)
{
  static const struct
  {
    const char *text, *why;
    gint mode;
  } rows[] = {
    { "", "other users may read or change it (mode 0640): chmod 600", 0640 },
    { "\n{}\n", "bad:2: expected an object with id, user, login, name, added, endpoint, p256dh",
      0600 },
    { "{\"id\":", "bad:1: expected an object", 0600 },
    { "\xff\xfe", "bad:1: expected an object", 0600 },
  };
  g_autofree char *path = g_build_filename (folder, "bad", NULL),
                  *way = g_build_filename (folder, "way", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_true (g_file_set_contents (path, rows[i].text, -1, NULL));
    g_assert_cmpint (g_chmod (path, rows[i].mode), ==, 0);
    g_assert_null (sl_phones_read (path, &error));
    g_assert_nonnull (strstr (error->message, rows[i].why));
    g_autofree char *before = g_strdup (rows[i].text), *after = NULL;
    add (path, "anna", 1, NULL); /* nothing is lost of a file that somebody has to look at */
    g_assert_true (g_file_get_contents (path, &after, NULL, NULL));
    g_assert_cmpstr (before, ==, after);
  }
  g_autoptr (GError) error = NULL;
  g_autofree char *much = g_strnfill (300000, '\n');
  g_assert_true (g_file_set_contents_full (path, much, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  g_assert_cmpint (g_chmod (path, 0600), ==, 0);
  g_assert_null (sl_phones_read (path, &error));
  g_assert_nonnull (strstr (error->message, "expected a regular file of at most 262144 bytes"));
  g_clear_error (&error);
  g_assert_null (sl_phones_read (folder, &error));
  g_clear_error (&error);
  g_autoptr (GFile) link = g_file_new_for_path (way);
  g_assert_true (g_file_make_symbolic_link (link, path, NULL, NULL));
  g_assert_null (sl_phones_read (way, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_OPEN);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("sightline-push-XXXXXX", NULL);
  g_test_add_func ("/pipelines/push/vector", test_vector);
  g_test_add_func ("/pipelines/push/receivers", test_receivers);
  g_test_add_func ("/pipelines/push/endpoints", test_endpoints);
  g_test_add_func ("/pipelines/push/settings", test_settings);
  g_test_add_func ("/pipelines/push/addresses", test_addresses);
  g_test_add_func ("/pipelines/push/phones", test_phones);
  g_test_add_func ("/pipelines/push/bad-files", test_bad_files);
  const int status = g_test_run ();
  g_autofree char *command = g_strdup_printf ("rm -rf '%s'", folder);
  g_assert_cmpint (system (command), ==, 0);
  g_free (folder);
  return status;
}
