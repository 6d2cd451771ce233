/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames in linear DMABuf: the same results as from system memory, read where they lie, with caches
 * synchronised around every look. Their memory is a memfd's behind GStreamer's own allocator of
 * DMABuf; an ioctl() of this program stands for the kernel's part.
 */
#include "config.h"
#include "plugins/video/dmabuf.h"

#include <fcntl.h>
#include <gst/allocators/gstdmabuf.h>
#include <linux/dma-buf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/elements/support.h"

#define WIDTH 64
#define HEIGHT 48
#define SIZE ",width=64,height=48,framerate=25/1"
#define PAD 34 /* bytes behind each row */

/* Looks that have begun and ended, by whether they read or write. */
static gint begun[2], ended[2];

int
ioctl (int fd, unsigned long request, ...)
{
  va_list list;
  va_start (list, request);
  void *argument = va_arg (list, void *);
  va_end (list);
  if (request != DMA_BUF_IOCTL_SYNC)
    return (int) syscall (SYS_ioctl, fd, request, argument);
  const struct dma_buf_sync *sync = argument;
  gint *counts = (sync->flags & DMA_BUF_SYNC_END) != 0 ? ended : begun;
  if ((sync->flags & DMA_BUF_SYNC_READ) != 0)
    g_atomic_int_inc (&counts[0]);
  if ((sync->flags & DMA_BUF_SYNC_WRITE) != 0)
    g_atomic_int_inc (&counts[1]);
  return 0;
}

/* (transfer full): frames of @plain's caps, filled with what changes from pixel to pixel. */
static GstBuffer *
plain_frame (const GstVideoInfo *info)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  GstMapInfo map;
  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize k = 0; k < map.size; k++)
    map.data[k] = (guint8) (k * 7 + k / WIDTH * 31);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

/* (transfer full): the bytes [0, @n) as a DMABuf. */
static GstMemory *
in_dmabuf (GstAllocator *allocator, const guint8 *bytes, gsize n)
{
  const gint fd = memfd_create ("frame", MFD_CLOEXEC);
  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, bytes, n), ==, (gssize) n);
  return gst_dmabuf_allocator_alloc (allocator, fd, n);
}

/* (transfer full): the pixels of @frame with padded rows, @each: every plane in a memory of its
 * own. */
static GstBuffer *
move_frame (GstBuffer *frame, const GstVideoInfo *info, gboolean each)
{
  g_autoptr (GstAllocator) allocator = gst_dmabuf_allocator_new ();
  g_autoptr (GByteArray) all = g_byte_array_new ();
  GstBuffer *moved = gst_buffer_new ();
  GstVideoFrame from;
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
  gint strides[GST_VIDEO_MAX_PLANES] = { 0 };
  g_assert_true (gst_video_frame_map (&from, info, frame, GST_MAP_READ));
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    const gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (&from, p),
               rows = GST_VIDEO_INFO_COMP_HEIGHT (info, p);
    const gsize before = all->len;
    offsets[p] = before;
    strides[p] = stride + PAD;
    for (gint y = 0; y < rows; y++) {
      static const guint8 pad[PAD] = { 255 };
      g_byte_array_append (all, (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&from, p) + y * stride,
                           (guint) stride);
      g_byte_array_append (all, pad, PAD);
    }
    if (each)
      gst_buffer_append_memory (moved,
                                in_dmabuf (allocator, all->data + before, all->len - before));
  }
  if (!each)
    gst_buffer_append_memory (moved, in_dmabuf (allocator, all->data, all->len));
  gst_video_frame_unmap (&from);
  gst_buffer_add_video_meta_full (moved, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
                                  WIDTH, HEIGHT, GST_VIDEO_INFO_N_PLANES (info), offsets, strides);
  GST_BUFFER_PTS (moved) = 0;
  return moved;
}

typedef struct
{
  const char *name, *format, *drm;
} Format;

static const Format formats[] = {
  { "nv12", "NV12", "NV12" },
  { "nv12-zero", "NV12", "NV12:0x0000000000000000" },
  { "rgb", "RGB", "BG24" },
  { "i420", "I420", "YU12" },
};

static void
assert_looks (void)
{
  g_assert_cmpint (g_atomic_int_get (&begun[0]), >, 0);
  g_assert_cmpint (g_atomic_int_get (&begun[0]), ==, g_atomic_int_get (&ended[0]));
  g_assert_cmpint (g_atomic_int_get (&begun[1]) + g_atomic_int_get (&ended[1]), ==, 0);
  memset (begun, 0, sizeof begun);
  memset (ended, 0, sizeof ended);
}

static void
assert_same (GstBuffer *a, GstBuffer *b)
{
  GstMapInfo first, second;
  g_assert_true (gst_buffer_map (a, &first, GST_MAP_READ)
                 && gst_buffer_map (b, &second, GST_MAP_READ));
  g_assert_cmpmem (first.data, first.size, second.data, second.size);
  gst_buffer_unmap (a, &first);
  gst_buffer_unmap (b, &second);
}

/* Caps with and without the names of the kernel, planes in one memory and in several. */
static void
test_read (gconstpointer data)
{
  static const char *const lines[] = { "slnormalize width=32 height=24", "slnormalize",
#ifdef SL_HAVE_LIBYUV
                                       "slresize width=32 height=24", "slresize"
#endif
  };
  const Format *format = data;
  g_autofree char *plain = g_strdup_printf ("video/x-raw,format=%s" SIZE, format->format);
  g_autofree char *linear =
    g_strdup_printf ("video/x-raw(memory:DMABuf),format=%s" SIZE, format->format);
  g_autofree char *drm =
    g_strdup_printf ("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=%s" SIZE, format->drm);
  const char *const caps[] = { linear, drm };
  g_autoptr (GstCaps) parsed = gst_caps_from_string (plain);
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, parsed));
  for (guint l = 0; l < G_N_ELEMENTS (lines); l++) {
    if (g_str_has_prefix (lines[l], "slresize") && g_str_equal (format->format, "RGB"))
      continue;
    g_autoptr (GstBuffer) expected = test_line_run (lines[l], NULL, plain, plain_frame (&info));
    for (guint k = 0; k < 4; k++) {
      g_autoptr (GstBuffer) frame = plain_frame (&info);
      g_autoptr (GstBuffer) out =
        test_line_run (lines[l], NULL, caps[k % 2], move_frame (frame, &info, k / 2 > 0));
      assert_looks ();
      assert_same (out, expected);
    }
  }
}

/* In video mode the frame goes on as what can be mapped, in the memory that it came in. */
static void
test_passed_on (void)
{
  static const char plain[] = "video/x-raw,format=NV12" SIZE;
  g_autofree char *model = test_colour_model (SL_DTYPE_U8);
  g_autofree char *line = g_strdup_printf ("slpredict model=%s", model);
  g_autoptr (GstCaps) parsed = gst_caps_from_string (plain);
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, parsed));
  g_autoptr (GstBuffer) frame = plain_frame (&info);
  g_autoptr (GstBuffer) out =
    test_line_run (line, plain, "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12" SIZE,
                   move_frame (frame, &info, FALSE));
  assert_looks ();
  g_assert_cmpuint (gst_buffer_n_memory (out), ==, 1);
  g_assert_true (gst_is_dmabuf_memory (gst_buffer_peek_memory (out, 0)));
  test_remove_file (model);
}

/* What no CPU may look at. */
static void
test_unmappable (void)
{
  g_autoptr (GstAllocator) allocator = gst_dmabuf_allocator_new ();
  TestLine line =
    test_line_open ("slnormalize", NULL, "video/x-raw(memory:DMABuf),format=NV12" SIZE);
  gint ends[2];
  g_assert_cmpint (pipe2 (ends, O_CLOEXEC), ==, 0);
  GstBuffer *frame = gst_buffer_new ();
  gst_buffer_append_memory (
    frame, gst_dmabuf_allocator_alloc (allocator, ends[0], WIDTH * HEIGHT * 3 / 2));
  g_assert_cmpint (gst_harness_push (line.harness, frame), ==, GST_FLOW_ERROR);
  test_assert_error (line.bus, "the memory of a plane, dmabuf, cannot be mapped", NULL);
  test_line_close (line.harness, line.bus);
  close (ends[1]);
}

/* The kernel's names as GStreamer has them. */
static void
test_names (void)
{
#if GST_CHECK_VERSION(1, 24, 0)
  static const char *const names[] = { "NV12", "NV21",      "I420", "YV12", "YUY2", "UYVY", "Y42B",
                                       "Y444", "P010_10LE", "RGB",  "BGR",  "RGBx", "BGRx", "RGBA",
                                       "BGRA", "xRGB",      "ARGB", "xBGR", "ABGR" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const guint32 fourcc =
      gst_video_dma_drm_fourcc_from_format (gst_video_format_from_string (names[i]));
    if (fourcc == 0)
      continue; /* GStreamer has none */
    g_autofree char *drm = gst_video_dma_drm_fourcc_to_string (fourcc, 0);
    g_autoptr (GstCaps) caps = gst_caps_new_simple (
      "video/x-raw", "format", G_TYPE_STRING, "DMA_DRM", "drm-format", G_TYPE_STRING, drm, NULL);
    gst_caps_set_features (caps, 0, gst_caps_features_new ("memory:DMABuf", NULL));
    g_autoptr (GstCaps) plain = sl_dmabuf_plain (caps);
    g_test_message ("%s is %s", drm, names[i]);
    g_assert_cmpuint (gst_caps_get_size (plain), ==, 1);
    g_assert_cmpstr (gst_structure_get_string (gst_caps_get_structure (plain, 0), "format"), ==,
                     names[i]);
  }
#else
  g_test_skip ("GStreamer before 1.24 has no names of the kernel");
#endif
}

/* What is offered is what is taken: there and back again. */
static void
test_offered (void)
{
  g_autoptr (GstCaps) caps =
    sl_dmabuf_offer (gst_caps_from_string ("video/x-raw,format={ NV12, RGBP, GRAY8 },width=4"));
  g_autoptr (GstCaps) expected = gst_caps_from_string (
    "video/x-raw,format={ NV12, RGBP, GRAY8 },width=4; video/x-raw(memory:DMABuf),format={ NV12, "
    "RGBP, GRAY8 },width=4; video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format={ NV12, \"R8  \" "
    "},width=4");
  g_assert_true (gst_caps_is_strictly_equal (caps, expected));
  g_autoptr (GstCaps) plain = sl_dmabuf_plain (caps);
  g_autoptr (GstCaps) system =
    gst_caps_from_string ("video/x-raw,format={ NV12, RGBP, GRAY8 },width=4");
  g_assert_true (gst_caps_is_equal (plain, system));
  g_autoptr (GstCaps) tiled = gst_caps_from_string (
    "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0100000000000002; "
    "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=ZZ99; "
    "video/x-raw(memory:DMABuf),format=DMA_DRM; video/x-raw(memory:GLMemory),format=NV12");
  g_autoptr (GstCaps) none = sl_dmabuf_plain (tiled);
  g_assert_true (gst_caps_is_empty (none));
}

/* (transfer full): what an element with a source pad of @caps, in the order of its liking, may give
 * to @element. */
static GstCaps *
allowed (const char *element, const char *caps)
{
  g_autoptr (GstElement) taker = gst_object_ref_sink (gst_element_factory_make (element, NULL));
  g_autoptr (GstPad) sink = gst_element_get_static_pad (taker, "sink");
  g_autoptr (GstCaps) all = gst_caps_from_string (caps);
  g_autoptr (GstPadTemplate) template =
    gst_object_ref_sink (gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, all));
  g_autoptr (GstPad) src = gst_object_ref_sink (gst_pad_new_from_template (template, "src"));
  g_assert_cmpint (gst_pad_link (src, sink), ==, GST_PAD_LINK_OK);
  GstCaps *both = gst_pad_get_allowed_caps (src);
  gst_pad_unlink (src, sink);
  return both;
}

/* A decoder on a GPU, which lists its own memory first, and one that has no other memory. */
static void
test_chosen (void)
{
  static const char *const elements[] = { "slnormalize", "slresize", "slpredict" };
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    g_autoptr (GstCaps) caps =
      allowed (elements[i],
               "video/x-raw(memory:VAMemory),format=NV12; video/x-raw(memory:DMABuf),format=NV12; "
               "video/x-raw,format=NV12");
    g_autoptr (GstCaps) only = allowed (elements[i], "video/x-raw(memory:DMABuf),format=NV12");
    g_test_message ("%s", elements[i]);
    g_assert_cmpuint (gst_caps_get_size (caps), ==, 1);
    g_assert_true (gst_caps_features_is_equal (gst_caps_get_features (caps, 0),
                                               GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY));
    g_assert_cmpuint (gst_caps_get_size (only), ==, 1);
    g_assert_true (gst_caps_features_contains (gst_caps_get_features (only, 0), "memory:DMABuf"));
  }
}

int
main (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  TEST_ADD_CASES ("/dmabuf/read", formats, test_read);
  g_test_add_func ("/dmabuf/passed-on", test_passed_on);
  g_test_add_func ("/dmabuf/unmappable", test_unmappable);
  g_test_add_func ("/dmabuf/names", test_names);
  g_test_add_func ("/dmabuf/offered", test_offered);
  g_test_add_func ("/dmabuf/chosen", test_chosen);
  return test_elements_run ();
}
