/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * URIs of cameras. Credentials are cut out by hand before anything parses the rest: people paste
 * passwords with '@' and '#' in them, and no text of a library may show them. So the user
 * information ends at the last '@' before the path.
 */
#include "plugins/camera/uri.h"

#include <string.h>

#include "core/base/redact.h"
#include "core/base/fail.h"

#define MAX_SIDE 32767
#define MAX_RATE 1000
#define MAX_EXPOSURE 60000000 /* us */
#define MAX_SENSOR 63
#define SCHEMES                                                                              \
  "v4l2:///dev/video0, rtsp://HOST/PATH, http://HOST/PATH, file:///PATH, libcamera://NAME, " \
  "pipewire://NODE, csi://0 or test://"

static const struct
{
  const char *name;
  SlCameraKind kind;
  guint16 port;
} schemes[] = {
  { "v4l2", SL_CAMERA_V4L2, 0 },         { "rtsp", SL_CAMERA_RTSP, 554 },
  { "rtsps", SL_CAMERA_RTSP, 322 },      { "http", SL_CAMERA_HTTP, 80 },
  { "https", SL_CAMERA_HTTP, 443 },      { "file", SL_CAMERA_FILE, 0 },
  { "test", SL_CAMERA_TEST, 0 },         { "libcamera", SL_CAMERA_LIBCAMERA, 0 },
  { "pipewire", SL_CAMERA_PIPEWIRE, 0 }, { "csi", SL_CAMERA_CSI, 0 },
};

typedef struct
{
  char *scheme, *user, *password, *authority,
    *tail; /* user and password NULL where the URI has none */
} Parts;

static void
parts_clear (Parts *parts)
{
  g_free (parts->scheme);
  g_free (parts->user);
  g_free (parts->password);
  g_free (parts->authority);
  g_free (parts->tail);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Parts, parts_clear)

/* Whether what stands between the slashes may be HOST or HOST:PORT; if not, a password with a '/'
 * in it began there. */
static gboolean
is_host (const char *start, const char *end)
{
  const char *colon = memchr (start, ':', (gsize) (end - start));
  if (*start == '[' || colon == NULL)
    return TRUE;
  while (++colon < end)
    if (!g_ascii_isdigit (*colon))
      return FALSE;
  return TRUE;
}

/* FALSE where @text has no "scheme://". */
static gboolean
split (const char *text, Parts *parts)
{
  const char *colon = strstr (text, "://");
  if (colon == NULL)
    return FALSE;
  const char *authority = colon + 3;
  const char *tail = strchr (authority, '/');
  if (tail == NULL)
    tail = authority + strlen (authority);
  const char *at = g_strrstr_len (authority, tail - authority, "@");
  if (at == NULL && !is_host (authority, tail) && (at = strrchr (tail, '@')) != NULL)
    tail = at + strcspn (at, "/");
  const char *query = at == NULL ? memchr (authority, '?', (gsize) (tail - authority)) : NULL;
  if (query != NULL)
    tail = query;
  parts->scheme = g_ascii_strdown (text, colon - text);
  const char *host = at != NULL ? at + 1 : authority;
  parts->authority = g_strndup (host, (gsize) (tail - host));
  parts->tail = g_strdup (tail);
  if (at == NULL)
    return TRUE;
  const char *separator = memchr (authority, ':', (gsize) (at - authority));
  parts->user = g_strndup (authority, (gsize) ((separator != NULL ? separator : at) - authority));
  if (separator != NULL)
    parts->password = g_strndup (separator + 1, (gsize) (at - separator - 1));
  return TRUE;
}

/* A '%' that escapes nothing is part of the password. */
static char *
unescape (const char *text)
{
  char *plain = g_uri_unescape_string (text, NULL);
  return plain != NULL ? plain : g_strdup (text);
}

static void
take_credentials (SlCameraUri *uri, const Parts *parts)
{
  if (parts->user != NULL && *parts->user != '\0')
    uri->user = unescape (parts->user);
  if (parts->password == NULL)
    return;
  uri->password = unescape (parts->password);
  g_ptr_array_add (uri->secrets, g_strdup (parts->password));
  g_ptr_array_add (uri->secrets, g_strdup (uri->password));
}

static gboolean
parse_network (SlCameraUri *uri, const Parts *parts, guint16 port, GError **error)
{
  uri->location = g_strconcat (parts->scheme, "://", parts->authority, parts->tail, NULL);
  g_autoptr (GUri) parsed =
    g_uri_parse (uri->location, G_URI_FLAGS_PARSE_RELAXED | G_URI_FLAGS_ENCODED, NULL);
  if (parsed == NULL || g_uri_get_host (parsed) == NULL || *g_uri_get_host (parsed) == '\0'
      || g_uri_get_port (parsed) == 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "uri=%s: expected %s://HOST/PATH or %s://USER:PASSWORD@HOST:PORT/PATH, got no host or a "
      "wrong port in '%s'; in a password write '/' as %%2F",
      uri->display, parts->scheme, parts->scheme,
      parts->password != NULL ? SL_HIDDEN : parts->authority);
  uri->port = g_uri_get_port (parsed) > 0 ? (guint16) g_uri_get_port (parsed) : port;
  return TRUE;
}

/* One option of a URI's query. */
typedef gboolean (*TakeOption) (SlCameraUri *uri, const char *name, const char *value,
                                GError **error);

static gboolean
take_options (SlCameraUri *uri, const char *query, TakeOption take, GError **error)
{
  g_auto (GStrv) options = g_strsplit (query != NULL ? query + 1 : "", "&", -1);
  for (guint i = 0; options[i] != NULL; i++) {
    char *equals = strchr (options[i], '=');
    if (*options[i] == '\0')
      continue;
    if (equals != NULL)
      *equals = '\0';
    if (!take (uri, options[i], equals != NULL ? equals + 1 : "", error))
      return FALSE;
  }
  return TRUE;
}

/* What a camera of this machine is asked for. */
static gboolean
take_wish (SlCameraUri *uri, const char *name, const char *value, GError **error)
{
  const struct
  {
    const char *name;
    gint *at, most;
  } numbers[] = { { "width", &uri->width, MAX_SIDE },
                  { "height", &uri->height, MAX_SIDE },
                  { "exposure", &uri->exposure, MAX_EXPOSURE } };
  guint64 number = 0;
  char *end = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (g_str_equal (name, numbers[i].name)
        && g_ascii_string_to_unsigned (value, 10, 1, (guint64) numbers[i].most, &number, NULL)) {
      *numbers[i].at = (gint) number;
      return TRUE;
    }
  const gdouble rate = g_str_equal (name, "framerate") ? g_ascii_strtod (value, &end) : 0;
  if (rate > 0 && rate <= MAX_RATE && *end == '\0') {
    uri->framerate = rate;
    return TRUE;
  }
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "uri=%s: '%s=%s' is no option of a camera: expected width=PIXELS, height=PIXELS, "
                  "framerate=NUMBER or exposure=MICROSECONDS, joined by '&', such as "
                  "libcamera://?width=1280&height=720&framerate=30",
                  uri->display, name, value);
}

/* "video0?width=640" -> its query, taken as options, and the rest. (transfer full) (nullable) */
static char *
take_query (SlCameraUri *uri, const char *path, GError **error)
{
  const char *query = strchr (path, '?');
  return take_options (uri, query, take_wish, error)
           ? g_strndup (path, query != NULL ? (gsize) (query - path) : strlen (path))
           : NULL;
}

static gboolean
parse_local (SlCameraUri *uri, const Parts *parts, GError **error)
{
  g_autofree char *whole = g_strconcat (parts->authority, parts->tail, NULL);
  g_autofree char *path =
    uri->kind == SL_CAMERA_V4L2 ? take_query (uri, whole, error) : g_strdup (whole);
  if (path == NULL)
    return FALSE;
  uri->location = unescape (path);
  if (*uri->location == '/' && uri->location[1] != '\0')
    return TRUE;
  const char *example =
    uri->kind == SL_CAMERA_FILE ? "file:///home/user/video.mp4" : "v4l2:///dev/video0";
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "uri=%s: expected an absolute path after %s://, got '%s': such as uri=%s",
                  uri->display, parts->scheme, path, example);
}

/* libcamera://NAME, pipewire://NODE, csi://NUMBER. A name may have '@' and '/' in it. */
static gboolean
parse_named (SlCameraUri *uri, const char *text, GError **error)
{
  guint64 number;
  g_autofree char *path = take_query (uri, strstr (text, "://") + 3, error);
  if (path == NULL)
    return FALSE;
  uri->location = unescape (path);
  if (uri->kind != SL_CAMERA_CSI
      || g_ascii_string_to_unsigned (uri->location, 10, 0, MAX_SENSOR, &number, NULL))
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "uri=%s: expected the sensor's number after csi://, 0 to %d, got '%s': such as uri=csi://0",
    uri->display, MAX_SENSOR, uri->location);
}

static gboolean
parse_test_option (SlCameraUri *uri, const char *name, const char *value, GError **error)
{
  guint64 number = 0;
  if (g_str_equal (name, "pattern")) {
    g_free (uri->pattern);
    uri->pattern = g_strdup (value);
    return TRUE;
  }
  if (g_str_equal (name, "live") && (g_str_equal (value, "true") || g_str_equal (value, "false"))) {
    uri->test_live = g_str_equal (value, "true");
    return TRUE;
  }
  if (g_str_equal (name, "frames")
      && g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT, &number, NULL)) {
    uri->test_frames = (gint) number;
    return TRUE;
  }
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "uri=%s: '%s=%s' is no option of test://: expected pattern=NAME, live=true, live=false or "
    "frames=NUMBER (0 = for ever), joined by '&', such as test://?pattern=ball&frames=100",
    uri->display, name, value);
}

/* "video.mp4" and "/dev/video0" as people type them. */
static void
plain_path (const char *text, Parts *parts)
{
  parts->scheme = g_strdup (g_str_has_prefix (text, "/dev/") ? "v4l2" : "file");
  parts->authority = g_strdup ("");
  g_autofree char *path = g_canonicalize_filename (text, NULL);
  parts->tail = g_uri_escape_string (path, "/", TRUE);
}

static gboolean
parse_kind (SlCameraUri *uri, const char *text, const Parts *parts, GError **error)
{
  guint i = 0;
  while (i < G_N_ELEMENTS (schemes) && !g_str_equal (schemes[i].name, parts->scheme))
    i++;
  if (i == G_N_ELEMENTS (schemes)) {
    g_autofree char *scheme = sl_redact_uri (parts->scheme, NULL);
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "uri=%s: slcamera has no scheme '%s': expected " SCHEMES, uri->display, scheme);
  }
  uri->kind = schemes[i].kind;
  switch (uri->kind) {
    case SL_CAMERA_RTSP:
    case SL_CAMERA_HTTP:
      take_credentials (uri, parts);
      return parse_network (uri, parts, schemes[i].port, error);
    case SL_CAMERA_TEST:
      uri->location = g_strdup ("test://");
      uri->pattern = g_strdup ("smpte");
      uri->test_live = TRUE;
      return take_options (uri, strchr (parts->tail, '?'), parse_test_option, error);
    case SL_CAMERA_LIBCAMERA:
    case SL_CAMERA_PIPEWIRE:
    case SL_CAMERA_CSI:
      return parse_named (uri, text, error);
    default:
      return parse_local (uri, parts, error);
  }
}

SlCameraUri *
sl_camera_uri_parse (const char *text, GError **error)
{
  if (text == NULL || *text == '\0')
    return sl_fail_null (error, SL_ERROR_ARGUMENT,
                         "slcamera's uri property is not set: expected " SCHEMES
                         ", such as uri=test://");
  g_auto (Parts) parts = { 0 };
  g_autoptr (SlCameraUri) uri = g_new0 (SlCameraUri, 1);
  uri->secrets = g_ptr_array_new_with_free_func (g_free);
  uri->display = sl_redact_uri (text, uri->secrets);
  if (!split (text, &parts)) {
    if (uri->secrets->len > 0)
      return sl_fail_null (error, SL_ERROR_ARGUMENT,
                           "uri=%s: an address without a scheme: expected " SCHEMES, uri->display);
    plain_path (text, &parts);
  }
  return parse_kind (uri, text, &parts, error) ? g_steal_pointer (&uri) : NULL;
}

void
sl_camera_uri_set_credentials (SlCameraUri *uri, const char *user, const char *password)
{
  if (user != NULL && *user != '\0') {
    g_free (uri->user);
    uri->user = g_strdup (user);
  }
  if (password != NULL && *password != '\0') {
    g_free (uri->password);
    uri->password = g_strdup (password);
    g_ptr_array_add (uri->secrets, g_strdup (password));
  }
}

void
sl_camera_uri_free (SlCameraUri *uri)
{
  if (uri == NULL)
    return;
  g_free (uri->location);
  g_free (uri->display);
  g_free (uri->user);
  g_free (uri->password);
  g_free (uri->pattern);
  g_ptr_array_unref (uri->secrets);
  g_free (uri);
}
