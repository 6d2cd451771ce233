/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * URIs of cameras: what is taken, what is refused with which words, and that no secret is in
 * anything shown.
 */
#include "plugins/camera/uri.h"

#include <string.h>

#include "core/base/redact.h"
#include "tests/support/program.h"

static const struct
{
  const char *text;
  SlCameraKind kind;
  const char *location, *display, *user, *password;
  guint16 port;
} good[] = {
  { "v4l2:///dev/video0", SL_CAMERA_V4L2, "/dev/video0", "v4l2:///dev/video0", NULL, NULL, 0 },
  { "/dev/video2", SL_CAMERA_V4L2, "/dev/video2", "/dev/video2", NULL, NULL, 0 },
  { "rtsp://cam/1", SL_CAMERA_RTSP, "rtsp://cam/1", "rtsp://cam/1", NULL, NULL, 554 },
  { "RTSP://cam/1", SL_CAMERA_RTSP, "rtsp://cam/1", "RTSP://cam/1", NULL, NULL, 554 },
  { "rtsps://cam", SL_CAMERA_RTSP, "rtsps://cam", "rtsps://cam", NULL, NULL, 322 },
  { "rtsp://joe:pw1@cam:8554/1", SL_CAMERA_RTSP, "rtsp://cam:8554/1", "rtsp://joe:***@cam:8554/1",
    "joe", "pw1", 8554 },
  { "rtsp://joe:p%40%2Fss@cam/1", SL_CAMERA_RTSP, "rtsp://cam/1", "rtsp://joe:***@cam/1", "joe",
    "p@/ss", 554 },
  { "rtsp://joe:p@:#?s%s@cam/1", SL_CAMERA_RTSP, "rtsp://cam/1", "rtsp://joe:***@cam/1", "joe",
    "p@:#?s%s", 554 },
  { "rtsp://joe:a/b@cam/1", SL_CAMERA_RTSP, "rtsp://cam/1", "rtsp://joe:***@cam/1", "joe", "a/b",
    554 },
  { "rtsp://joe@[fe80::1]:554/1", SL_CAMERA_RTSP, "rtsp://[fe80::1]:554/1",
    "rtsp://joe@[fe80::1]:554/1", "joe", NULL, 554 },
  { "rtsp://cam/live@2", SL_CAMERA_RTSP, "rtsp://cam/live@2", "rtsp://cam/live@2", NULL, NULL,
    554 },
  { "http://cam/a.cgi?loginuse=joe&loginpas=hush&x=1", SL_CAMERA_HTTP,
    "http://cam/a.cgi?loginuse=joe&loginpas=hush&x=1",
    "http://cam/a.cgi?loginuse=joe&loginpas=***&x=1", NULL, NULL, 80 },
  { "https://cam?token=a/b_c", SL_CAMERA_HTTP, "https://cam?token=a/b_c", "https://cam?token=***",
    NULL, NULL, 443 },
  { "rtsp://cam/user=joe_password=hush_channel=1.sdp", SL_CAMERA_RTSP,
    "rtsp://cam/user=joe_password=hush_channel=1.sdp", "rtsp://cam/user=joe_password=***", NULL,
    NULL, 554 },
  { "file:///a%20b.mp4", SL_CAMERA_FILE, "/a b.mp4", "file:///a%20b.mp4", NULL, NULL, 0 },
  { "/a=b %41.mp4", SL_CAMERA_FILE, "/a=b %41.mp4", "/a=b %41.mp4", NULL, NULL, 0 },
  { "test://", SL_CAMERA_TEST, "test://", "test://", NULL, NULL, 0 },
  { "V4L2:///dev/video0", SL_CAMERA_V4L2, "/dev/video0", "V4L2:///dev/video0", NULL, NULL, 0 },
  { "Https://cam", SL_CAMERA_HTTP, "https://cam", "Https://cam", NULL, NULL, 443 },
  { "FILE:///a%20b.mp4", SL_CAMERA_FILE, "/a b.mp4", "FILE:///a%20b.mp4", NULL, NULL, 0 },
  { "libcamera://", SL_CAMERA_LIBCAMERA, "", "libcamera://", NULL, NULL, 0 },
  { "libcamera:///base/soc/i2c0mux/i2c@1/imx219@10?width=640", SL_CAMERA_LIBCAMERA,
    "/base/soc/i2c0mux/i2c@1/imx219@10", "libcamera:///base/soc/i2c0mux/i2c@1/imx219@10?width=640",
    NULL, NULL, 0 },
  { "pipewire://v4l2_input.pci-0000_00_14.0-usb", SL_CAMERA_PIPEWIRE,
    "v4l2_input.pci-0000_00_14.0-usb", "pipewire://v4l2_input.pci-0000_00_14.0-usb", NULL, NULL,
    0 },
  { "CSI://1?framerate=30", SL_CAMERA_CSI, "1", "CSI://1?framerate=30", NULL, NULL, 0 },
  { "v4l2:///dev/video0?width=640&height=480", SL_CAMERA_V4L2, "/dev/video0",
    "v4l2:///dev/video0?width=640&height=480", NULL, NULL, 0 },
  { "TEST://?pattern=ball", SL_CAMERA_TEST, "test://", "TEST://?pattern=ball", NULL, NULL, 0 },
};

static void
test_good (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlCameraUri) uri = sl_camera_uri_parse (good[i].text, &error);
    g_test_message ("%s", good[i].text);
    g_assert_no_error (error);
    g_assert_cmpint (uri->kind, ==, good[i].kind);
    g_assert_cmpstr (uri->location, ==, good[i].location);
    g_assert_cmpstr (uri->display, ==, good[i].display);
    g_assert_cmpstr (uri->user, ==, good[i].user);
    g_assert_cmpstr (uri->password, ==, good[i].password);
    g_assert_cmpuint (uri->port, ==, good[i].port);
  }
}

static const struct
{
  const char *text, *message;
} bad[] = {
  { NULL, "slcamera's uri property is not set: expected v4l2:///dev/video0, rtsp://HOST/PATH, "
          "http://HOST/PATH, file:///PATH, libcamera://NAME, pipewire://NODE, csi://0 or test://" },
  { "", "slcamera's uri property is not set" },
  { "ftp://cam/1",
    "uri=ftp://cam/1: slcamera has no scheme 'ftp': expected v4l2:///dev/video0, rtsp://" },
  { "rtsp://",
    "uri=rtsp://: expected rtsp://HOST/PATH or rtsp://USER:PASSWORD@HOST:PORT/PATH, got no host or "
    "a wrong port in ''" },
  { "http://cam:99999/", "got no host or a wrong port in 'cam:99999'" },
  { "rtsp://joe:hush@:x/1", "in '***'; in a password write '/' as %2F" },
  { "joe:hush@cam/1",
    "uri=joe:***@cam/1: an address without a scheme: expected v4l2:///dev/video0, "
    "rtsp://HOST/PATH" },
  { "rtsp//joe:hush@cam/1", "uri=rtsp//joe:***@cam/1: an address without a scheme" },
  { "joe:hush@rtsp://cam/1", "uri=joe:***@rtsp://cam/1: slcamera has no scheme 'joe:***@rtsp'" },
  { "rtps://joe:hush@cam/1", "uri=rtps://joe:***@cam/1: slcamera has no scheme 'rtps'" },
  { "v4l2://video0",
    "uri=v4l2://video0: expected an absolute path after v4l2://, got 'video0': such as "
    "uri=v4l2:///dev/video0" },
  { "csi://left",
    "uri=csi://left: expected the sensor's number after csi://, 0 to 63, got 'left': such as "
    "uri=csi://0" },
  { "csi://", "expected the sensor's number after csi://" },
  { "libcamera://?gain=2",
    "uri=libcamera://?gain=2: 'gain=2' is no option of a camera: expected width=PIXELS, "
    "height=PIXELS, framerate=NUMBER or exposure=MICROSECONDS" },
  { "pipewire://40?width=0", "'width=0' is no option of a camera" },
  { "v4l2:///dev/video0?framerate=fast", "'framerate=fast' is no option of a camera" },
  { "file://",
    "expected an absolute path after file://, got '': such as uri=file:///home/user/video.mp4" },
  { "test://?pattern=ball&speed=2",
    "'speed=2' is no option of test://: expected pattern=NAME, live=true, live=false or "
    "frames=NUMBER" },
  { "test://?frames=-1", "'frames=-1' is no option of test://" },
  { "test://?live=maybe", "'live=maybe' is no option of test://" },
};

static void
test_bad (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (sl_camera_uri_parse (bad[i].text, &error));
    g_test_message ("%s", error->message);
    if (strstr (error->message, bad[i].message) == NULL)
      g_error ("\"%s\" is not in the message \"%s\"", bad[i].message, error->message);
    g_assert_null (strstr (error->message, "hush"));
  }
}

static void
test_options (void)
{
  g_autoptr (SlCameraUri) uri =
    sl_camera_uri_parse ("test://?pattern=ball&live=false&frames=7&", NULL);
  g_assert_cmpstr (uri->pattern, ==, "ball");
  g_assert_false (uri->test_live);
  g_assert_cmpint (uri->test_frames, ==, 7);
}

static void
test_scrub (void)
{
  g_autoptr (SlCameraUri) uri = sl_camera_uri_parse ("http://joe:h%40sh@cam/?token=tick", NULL);
  sl_camera_uri_set_credentials (uri, "ann", "other");
  g_autofree char *clean =
    sl_redact_secrets ("h%40sh, h@sh, tick, other, http://cam/?token=tick", uri->secrets);
  g_assert_cmpstr (clean, ==, "***, ***, ***, ***, http://cam/?token=***");
  g_assert_cmpstr (uri->user, ==, "ann");
  g_assert_cmpstr (uri->password, ==, "other");
  sl_camera_uri_set_credentials (uri, "", NULL);
  g_assert_cmpstr (uri->user, ==, "ann");
}

/* Any bytes: no crash, no leak, and what follows a ':' before the last '@' is in no message. */
static void
test_noise (void)
{
  static const char alphabet[] = ":/@?#%[]&=.a1\xff";
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  for (guint i = 0; i < 3000; i++) {
    char text[40] = "rtsp://";
    for (gsize k = strlen ("rtsp://"); k < sizeof text - 1; k++)
      text[k] = alphabet[g_rand_int_range (rand, 0, sizeof alphabet - 1)];
    g_autoptr (GError) error = NULL;
    g_autoptr (SlCameraUri) uri = sl_camera_uri_parse (text, &error);
    g_assert_true ((uri == NULL) == (error != NULL));
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/camerauri/good", test_good);
  g_test_add_func ("/camerauri/bad", test_bad);
  g_test_add_func ("/camerauri/options", test_options);
  g_test_add_func ("/camerauri/scrub", test_scrub);
  g_test_add_func ("/camerauri/noise", test_noise);
  return g_test_run ();
}
