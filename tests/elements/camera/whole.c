/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Packets written by hand after RFC 3550, 6184 and 7798: whichever of them get lost, only whole
 * pictures come through; and what encoded pictures say of themselves, against the encoders' own
 * word.
 */
#include "plugins/camera/whole.h"

#include <string.h>

#include <gst/app/gstappsink.h>
#include <gst/check/gstharness.h>

#include "plugins/camera/coded.h"
#include "tests/elements/camera/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define H264                                                           \
  "application/x-rtp,media=video,clock-rate=90000,encoding-name=H264," \
  "sprop-parameter-sets=\"Z0LAFQ==,aM4=\""
#define H265 "application/x-rtp,media=video,clock-rate=90000,encoding-name=H265,sprop-sps=\"QgE=\""

/* A packet's picture and its payload; the last packet of a picture has the mark. */
typedef struct
{
  guint picture;
  const char *payload;
  gsize n;
} Packet;

#define PAYLOAD(text) text, sizeof text - 1

/* A key frame with its sets and in three fragments, a picture of two fragments, one of two slices,
 * one of one packet; then all again. */
static const Packet h264[] = {
  { 0, PAYLOAD ("\x67sps") },    { 0, PAYLOAD ("\x68pps") },    { 0, PAYLOAD ("\x7c\x85\x88") },
  { 0, PAYLOAD ("\x7c\x05xx") }, { 0, PAYLOAD ("\x7c\x45xx") }, { 1, PAYLOAD ("\x5c\x81\x9a") },
  { 1, PAYLOAD ("\x5c\x41xx") }, { 2, PAYLOAD ("\x41\x9axx") }, { 2, PAYLOAD ("\x41\x05xx") },
  { 3, PAYLOAD ("\x41\x9axx") },
};

static const Packet h265[] = {
  { 0, PAYLOAD ("\x40\x01vps") },      { 0, PAYLOAD ("\x42\x01sps") },
  { 0, PAYLOAD ("\x44\x01pps") },      { 0, PAYLOAD ("\x62\x01\x93\x80") },
  { 0, PAYLOAD ("\x62\x01\x13xx") },   { 0, PAYLOAD ("\x62\x01\x53xx") },
  { 1, PAYLOAD ("\x62\x01\x81\x80") }, { 1, PAYLOAD ("\x62\x01\x41xx") },
  { 2, PAYLOAD ("\x02\x01\x80xx") },   { 2, PAYLOAD ("\x02\x01\x10xx") },
  { 3, PAYLOAD ("\x02\x01\x80xx") },
};

#define PICTURES 4

static const struct
{
  const char *name, *caps;
  const Packet *packets;
  guint n;
} streams[] = {
  { "h264", H264, h264, G_N_ELEMENTS (h264) },
  { "h265", H265, h265, G_N_ELEMENTS (h265) },
};

static GstBuffer *
make_packet (const Packet *packet, guint picture, guint16 number, gboolean last)
{
  guint8 header[12] = { 0x80, last ? 0xe0 : 0x60 };
  GST_WRITE_UINT16_BE (header + 2, number);
  GST_WRITE_UINT32_BE (header + 4, picture * 3600);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, sizeof header + packet->n, NULL);
  gst_buffer_fill (buffer, 0, header, sizeof header);
  gst_buffer_fill (buffer, sizeof header, packet->payload, packet->n);
  return buffer;
}

static GstHarness *
open_whole (SlIntact *intact, const char *caps)
{
  g_autoptr (GstElement) element = gst_object_ref_sink (
    sl_camera_whole_new (intact, 2000)); /* the harness has a reference of its own */
  GstHarness *harness = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps_str (harness, caps);
  return harness;
}

/* How many packets of each picture came. */
static void
count (GstHarness *harness, guint counts[3 * PICTURES])
{
  memset (counts, 0, sizeof (guint) * 3 * PICTURES);
  for (GstBuffer *buffer; (buffer = gst_harness_try_pull (harness)) != NULL;
       gst_buffer_unref (buffer)) {
    guint8 header[12];
    gst_buffer_extract (buffer, 0, header, sizeof header);
    counts[GST_READ_UINT32_BE (header + 4) / 3600]++;
  }
}

/* The stream three times, its pictures from number 65520 on, without @lost packets from @from on.
 * @mark: packets have marks */
static void
push_stream (GstHarness *harness, guint s, guint from, guint lost, gboolean mark)
{
  for (guint i = 0; i < 3 * streams[s].n; i++) {
    const Packet *packet = &streams[s].packets[i % streams[s].n];
    const gboolean last = (i + 1) % streams[s].n == 0 || packet[1].picture != packet->picture;
    if (i < from || i >= from + lost)
      gst_harness_push (harness, make_packet (packet, packet->picture + i / streams[s].n * PICTURES,
                                              (guint16) (65520 + i), last && mark));
  }
}

static guint
packets_of (guint s, guint picture)
{
  guint n = 0;
  for (guint i = 0; i < streams[s].n; i++)
    n += streams[s].packets[i].picture == picture % PICTURES;
  return n;
}

/* One, two and seven packets missing, anywhere: a picture comes with all of its packets or not at
 * all, what is far from the gap comes, and a gap is counted. */
static void
test_lost (gconstpointer data)
{
  const guint s = GPOINTER_TO_UINT (data), lengths[] = { 0, 1, 2, 7 };
  for (guint mark = 0; mark < 2; mark++)
    for (guint l = 0; l < G_N_ELEMENTS (lengths); l++)
      for (guint from = streams[s].n; from < 2 * streams[s].n; from++) {
        g_autoptr (SlIntact) intact = sl_intact_new ();
        GstHarness *harness = open_whole (intact, streams[s].caps);
        guint counts[3 * PICTURES];
        SlIntactCounts left;
        push_stream (harness, s, from, lengths[l], mark);
        count (harness, counts);
        for (guint p = 0; p < 3 * PICTURES - (mark ? 0 : 1); p++) {
          guint first = p / PICTURES * streams[s].n;
          for (guint i = 0; i < streams[s].n && streams[s].packets[i].picture < p % PICTURES; i++)
            first++;
          const gboolean hit =
            lengths[l] > 0 && from < first + packets_of (s, p) && from + lengths[l] > first;
          const gboolean near = lengths[l] > 0 && !hit && from + lengths[l] + streams[s].n > first
                                && from < first + streams[s].n;
          if (hit)
            g_assert_cmpuint (counts[p], ==, 0);
          else if (!near || counts[p] > 0)
            g_assert_cmpuint (counts[p], ==, packets_of (s, p));
        }
        sl_intact_read (intact, &left);
        g_assert_true ((left.damaged > 0) == (lengths[l] > 0));
        gst_harness_teardown (harness);
      }
}

/* Whatever comes before the first key frame waits for nothing; caps come with it, without the
 * description's sets. */
static void
test_sets (gconstpointer data)
{
  const guint s = GPOINTER_TO_UINT (data);
  for (guint inside = 0; inside < 2; inside++) {
    g_autoptr (SlIntact) intact = sl_intact_new ();
    GstHarness *harness = open_whole (intact, streams[s].caps);
    const guint sets = s == 0 ? 2 : 3;
    guint16 number = 0;
    for (guint i = streams[s].n - 1; i < 2 * streams[s].n; i++) {
      const Packet *packet = &streams[s].packets[i % streams[s].n];
      const gboolean last = (i + 1) % streams[s].n == 0 || packet[1].picture != packet->picture;
      if (inside || i < streams[s].n || i >= streams[s].n + sets)
        gst_harness_push (
          harness,
          make_packet (packet, packet->picture + i / streams[s].n * PICTURES, number++, last));
    }
    guint counts[3 * PICTURES];
    SlIntactCounts left;
    count (harness, counts);
    g_assert_cmpuint (counts[PICTURES - 1], ==, 0);
    g_assert_cmpuint (counts[PICTURES], ==, packets_of (s, 0) - (inside ? 0 : sets));
    sl_intact_read (intact, &left);
    g_assert_cmpuint (left.early, ==, 1);
    g_autoptr (GstCaps) caps = gst_pad_get_current_caps (harness->sinkpad);
    const GstStructure *structure = gst_caps_get_structure (caps, 0);
    g_assert_true ((gst_structure_has_field (structure, "sprop-parameter-sets")
                    || gst_structure_has_field (structure, "sprop-sps"))
                   == !inside);
    gst_harness_teardown (harness);
  }
}

/* Data that is not RTP, ends early, or never ends. */
static void
test_noise (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (11);
  g_autoptr (SlIntact) intact = sl_intact_new ();
  static const char *const encodings[] = { "H264", "H265", "JPEG", "MP4V-ES",
                                           "VP8",  "VP9",  "RAW",  "X" };
  for (guint e = 0; e < G_N_ELEMENTS (encodings); e++) {
    g_autofree char *caps = g_strdup_printf (
      "application/x-rtp,media=video,clock-rate=90000,encoding-name=%s", encodings[e]);
    GstHarness *harness = open_whole (intact, caps);
    g_autoptr (GstBus) bus = gst_bus_new ();
    gst_element_set_bus (harness->element, bus);
    for (guint i = 0; i < 3000; i++) {
      const gsize n = (gsize) g_rand_int_range (random, 0, 40);
      guint8 *bytes = g_malloc (MAX (n, 1)); /* of its own, so that reads beyond it are found */
      for (gsize b = 0; b < n; b++)
        bytes[b] = (guint8) g_rand_int (random);
      if (n > 3 && i % 4 != 0) {
        bytes[0] = (bytes[0] & 0x3f) | 0x80;
        GST_WRITE_UINT16_BE (bytes + 2, i);
      }
      gst_harness_push (harness, gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY, bytes, n, 0,
                                                              n, bytes, g_free));
    }
    for (guint i = 0; i < 60 && e == 0; i++) { /* a picture without end */
      const Packet packet = { 0, PAYLOAD ("\x67 a long set of parameters") };
      gst_harness_push (harness, make_packet (&packet, 7, (guint16) i, FALSE));
    }
    g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    g_autoptr (GError) error = NULL;
    g_assert_true ((message != NULL) == (e == 0));
    if (message != NULL)
      gst_message_parse_error (message, &error, NULL);
    g_assert_true (
      error == NULL
      || strstr (error->message,
                 "a picture of the stream: expected at most 2000 bytes (max-part-bytes), got 20")
           != NULL);
    gst_element_set_bus (harness->element, NULL);
    gst_harness_teardown (harness);
  }
}

/* A picture of packets with next to nothing in them is refused long before its bytes are too many:
 * each packet takes memory of its own. */
static void
test_tiny (void)
{
  g_autoptr (SlIntact) intact = sl_intact_new ();
  GstHarness *harness =
    open_whole (intact, "application/x-rtp,media=video,clock-rate=90000,encoding-name=JPEG");
  g_autoptr (GstBus) bus = gst_bus_new ();
  gst_element_set_bus (harness->element, bus);
  for (guint i = 0; i < 60; i++) {
    const Packet packet = { 0, PAYLOAD ("\0\0\0\0") };
    gst_harness_push (harness, make_packet (&packet, 7, (guint16) i, FALSE));
  }
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  gst_element_set_bus (harness->element, NULL);
  gst_harness_teardown (harness);
}

static const struct
{
  const char *name;
  SlCodedFormat format;
  const char *bytes;
  gsize n;
  SlCodedKind kind;
  guint recovery;
} pictures[] = {
  { "nothing", { SL_CODED_H264, 0 }, PAYLOAD (""), SL_CODED_NONE, 0 },
  { "sets", { SL_CODED_H264, 0 }, PAYLOAD ("\0\0\1\x67s\0\0\1\x68p"), SL_CODED_NONE, 0 },
  { "IDR", { SL_CODED_H264, 0 }, PAYLOAD ("\0\0\1\x67s\0\0\1\x65\x88\x80"), SL_CODED_KEY, 0 },
  { "P", { SL_CODED_H264, 0 }, PAYLOAD ("\0\0\1\x41\x9a\x00"), SL_CODED_DELTA, 0 },
  { "I", { SL_CODED_H264, 0 }, PAYLOAD ("\0\0\1\x41\x88\x80"), SL_CODED_INTRA, 0 },
  { "I and P slices",
    { SL_CODED_H264, 0 },
    PAYLOAD ("\0\0\1\x41\x88\x80\0\0\1\x41\x9a\x00"),
    SL_CODED_DELTA,
    0 },
  { "I at a recovery point",
    { SL_CODED_H264, 0 },
    PAYLOAD ("\0\0\1\x06\x06\x01\xc4\x80\0\0\1\x41\x88\x80"),
    SL_CODED_KEY,
    0 },
  { "P, whole after 4",
    { SL_CODED_H264, 0 },
    PAYLOAD ("\0\0\1\x06\x06\x01\x2c\x80\0\0\1\x41\x9a\x00"),
    SL_CODED_DELTA,
    4 },
  { "recovery behind another message",
    { SL_CODED_H264, 0 },
    PAYLOAD ("\0\0\1\x06\x05\x02xx\x06\x01\x2c\x80\0\0\1\x41\x9a\x00"),
    SL_CODED_DELTA,
    4 },
  { "lengths", { SL_CODED_H264, 4 }, PAYLOAD ("\0\0\0\3\x65\x88\x80"), SL_CODED_KEY, 0 },
  { "a length beyond the end",
    { SL_CODED_H264, 4 },
    PAYLOAD ("\0\0\0\xff\x65\x88\x80"),
    SL_CODED_KEY,
    0 },
  { "a cut length", { SL_CODED_H264, 4 }, PAYLOAD ("\0\0\0"), SL_CODED_NONE, 0 },
  { "IDR of H.265", { SL_CODED_H265, 0 }, PAYLOAD ("\0\0\1\x26\x01\x80"), SL_CODED_KEY, 0 },
  { "CRA", { SL_CODED_H265, 0 }, PAYLOAD ("\0\0\1\x2a\x01\x80"), SL_CODED_KEY, 0 },
  { "RASL", { SL_CODED_H265, 0 }, PAYLOAD ("\0\0\1\x10\x01\x80"), SL_CODED_LEADING, 0 },
  { "TRAIL, whole after 4",
    { SL_CODED_H265, 0 },
    PAYLOAD ("\0\0\1\x4e\x01\x06\x01\x11\x80\0\0\1\x02\x01\x80"),
    SL_CODED_DELTA,
    4 },
  { "TRAIL", { SL_CODED_H265, 2 }, PAYLOAD ("\0\3\x02\x01\x80"), SL_CODED_DELTA, 0 },
  { "I of MPEG-4", { SL_CODED_MPEG4, 0 }, PAYLOAD ("\0\0\1\xb6\x10"), SL_CODED_KEY, 0 },
  { "P of MPEG-4", { SL_CODED_MPEG4, 0 }, PAYLOAD ("\0\0\1\xb6\x50"), SL_CODED_DELTA, 0 },
};

/* The thread behind the queue, which stays in the caps event until it may go on. */
typedef struct
{
  GMutex lock;
  GCond cond;
  gboolean there, may_go_on;
} Stay;

static GstPadProbeReturn
stay_at_caps (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Stay *stay = data;
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  g_mutex_lock (&stay->lock);
  stay->there = TRUE;
  g_cond_broadcast (&stay->cond);
  while (!stay->may_go_on)
    g_cond_wait (&stay->cond, &stay->lock);
  g_mutex_unlock (&stay->lock);
  return GST_PAD_PROBE_OK;
}

static void
push_timed (GstHarness *harness, guint i, GstClockTime time)
{
  const Packet *packet = &h264[i];
  GstBuffer *buffer =
    make_packet (packet, packet->picture, (guint16) i,
                 i + 1 == G_N_ELEMENTS (h264) || packet[1].picture != packet->picture);
  GST_BUFFER_PTS (buffer) = time + packet->picture * 40 * GST_MSECOND;
  gst_harness_push (harness, buffer);
}

/* A first key frame that comes long after the stream was joined waits for a decoder that is found
 * slowly, and so do the pictures after it. */
static void
test_first_key (void)
{
  Stay stay = { 0 };
  SlIntactCounts counts;
  SlIntact *intact = sl_intact_new ();
  GstElement *bin = gst_object_ref_sink (gst_bin_new (NULL)),
             *decoder = gst_element_factory_make ("identity", NULL);
  g_mutex_init (&stay.lock);
  g_cond_init (&stay.cond);
  gst_bin_add (GST_BIN (bin), decoder);
  GstElement *whole = sl_camera_whole_add (GST_BIN (bin), intact, 2000, decoder);
  g_autoptr (GstPad) into = gst_element_get_static_pad (whole, "sink");
  g_autoptr (GstPad) out = gst_element_get_static_pad (decoder, "src");
  g_autoptr (GstPad) found = gst_element_get_static_pad (decoder, "sink");
  gst_element_add_pad (bin, gst_ghost_pad_new ("sink", into));
  gst_element_add_pad (bin, gst_ghost_pad_new ("src", out));
  gst_pad_add_probe (found, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, stay_at_caps, &stay, NULL);
  GstHarness *harness = gst_harness_new_with_element (bin, "sink", "src");
  gst_harness_set_src_caps_str (harness, H264);
  for (guint i = 0; i < G_N_ELEMENTS (h264); i++) {
    push_timed (harness, i, 9 * GST_SECOND);
    if (packets_of (0, 0) != i + 1)
      continue;
    g_mutex_lock (&stay.lock);
    while (!stay.there)
      g_cond_wait (&stay.cond, &stay.lock);
    g_mutex_unlock (&stay.lock);
  }
  g_mutex_lock (&stay.lock);
  stay.may_go_on = TRUE;
  g_cond_broadcast (&stay.cond);
  g_mutex_unlock (&stay.lock);
  for (guint i = 0; i < G_N_ELEMENTS (h264); i++) {
    g_autoptr (GstBuffer) buffer = gst_harness_pull (harness);
    guint8 header[12];
    g_assert_nonnull (buffer);
    gst_buffer_extract (buffer, 0, header, sizeof header);
    g_assert_cmpuint (GST_READ_UINT16_BE (header + 2), ==, i);
  }
  sl_intact_read (intact, &counts);
  g_assert_cmpuint (counts.early + counts.damaged + counts.slow, ==, 0);
  gst_harness_teardown (harness);
  gst_object_unref (bin);
  sl_intact_unref (intact);
  g_mutex_clear (&stay.lock);
  g_cond_clear (&stay.cond);
}

static void
test_pictures (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++) {
    g_autofree guint8 *bytes = g_memdup2 (pictures[i].bytes, MAX (pictures[i].n, 1));
    SlCodedPicture picture;
    SlCodedFormat format = pictures[i].format;
    sl_coded_picture_read (&format, bytes, pictures[i].n, &picture);
    if (picture.kind != pictures[i].kind || picture.recovery != pictures[i].recovery)
      g_error ("%s: expected kind %d, recovery %u, got %d, %u", pictures[i].name, pictures[i].kind,
               pictures[i].recovery, picture.kind, picture.recovery);
  }
}

/* A picture with a B slice is shown before pictures that are decoded earlier. */
static void
test_reordered (void)
{
  static const struct
  {
    SlCodedFormat format;
    guint8 bytes[6];
    gboolean expected;
  } slices[] = {
    { { SL_CODED_H264, 0 }, { 0, 0, 1, 0x41, 0xc0, 0x80 }, FALSE }, /* P */
    { { SL_CODED_H264, 0 }, { 0, 0, 1, 0x01, 0xa0, 0x80 }, TRUE },  /* B */
    { { SL_CODED_H264, 0 }, { 0, 0, 1, 0x41, 0x9c, 0x80 }, TRUE },  /* all slices are B */
    { { SL_CODED_H264, 0 }, { 0, 0, 1, 0x65, 0x88, 0x80 }, FALSE }, /* IDR */
    { { SL_CODED_H265, 0 }, { 0, 0, 1, 0x02, 0x01, 0x80 }, TRUE },  /* TRAIL: it may be */
    { { SL_CODED_H265, 0 }, { 0, 0, 1, 0x26, 0x01, 0x80 }, FALSE }, /* IDR */
    { { SL_CODED_MPEG4, 0 }, { 0, 0, 1, 0xb6, 0x50, 0x80 }, FALSE },
    { { SL_CODED_MPEG4, 0 }, { 0, 0, 1, 0xb6, 0x90, 0x80 }, TRUE },
    { { SL_CODED_OTHER, 0 }, { 0xff, 0xd8, 0xff, 0xe0, 0, 0 }, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (slices); i++) {
    SlCodedFormat format = slices[i].format;
    SlCodedPicture picture;
    g_test_message ("slice %u", i);
    sl_coded_picture_read (&format, slices[i].bytes, sizeof slices[i].bytes, &picture);
    g_assert_true (picture.reordered == slices[i].expected);
  }
}

/* Bits of the set: profile 100, number 0, a scaling list, frame numbers of 4 bits. A difference in
 * that list may have 32 bits. */
static void
test_scaling_lists (void)
{
  static const char *const differences[] = {
    "1", "0000000000000000000000000000000100000000000000000000000000000000",
    "0000000000000000000000000000000011111111"
  };
  for (guint i = 0; i < G_N_ELEMENTS (differences); i++) {
    g_autofree char *bits =
      g_strconcat ("011001000000000000101000", "1010110", "11", differences[i],
                   "1111111111111111111111111111111111111111", NULL);
    guint8 bytes[32] = { 0 };
    SlFrameNumbers numbers = { { 0 } };
    for (guint b = 0; bits[b] != '\0'; b++)
      bytes[b / 8] |= (guint8) ((bits[b] - '0') << (7 - b % 8));
    sl_frame_numbers_sps (&numbers, bytes, strlen (bits) / 8);
    g_assert_cmpuint (numbers.bits[0], <=, 16);
  }
}

/* Of encoders: each fifth picture is a key frame, in both ways to write units. */
static void
test_encoders (void)
{
  static const char *const encoders[] = {
    "openh264enc gop-size=5 ! h264parse ! video/x-h264,alignment=au",
    ("x265enc key-int-max=5 tune=zerolatency speed-preset=ultrafast option-string=scenecut=0 ! "
     "h265parse ! video/x-h265,alignment=au"),
    "avenc_mpeg4 gop-size=5 ! mpeg4videoparse ! video/mpeg"
  };
  static const char *const formats[] = { ",stream-format=byte-stream", ",stream-format=avc",
                                         ",stream-format=hvc1", "" };
  guint tried = 0;
  if (test_is_slow ()) {
    g_test_skip ("x265 keeps memory, which sanitizers complain of");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS (encoders) * G_N_ELEMENTS (formats); i++) {
    const char *encoder = encoders[i / G_N_ELEMENTS (formats)],
               *format = formats[i % G_N_ELEMENTS (formats)];
    if ((strstr (encoder, "mpeg4") != NULL) != (*format == '\0')
        || (strstr (encoder, "h264") != NULL && strstr (format, "hvc1") != NULL)
        || (strstr (encoder, "h265") != NULL && strstr (format, "avc") != NULL))
      continue;
    g_autofree char *launch = g_strdup_printf (
      "videotestsrc num-buffers=12 ! video/x-raw,format=I420,width=64,height=64 ! %s%s ! appsink "
      "name=sink sync=false",
      encoder, format);
    g_autoptr (GstElement) pipeline =
      gst_parse_launch_full (launch, NULL, GST_PARSE_FLAG_FATAL_ERRORS, NULL);
    if (pipeline == NULL)
      continue;
    g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    SlCodedFormat coded;
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    for (guint n = 0; sink != NULL; n++) {
      g_autoptr (GstSample) sample = gst_app_sink_pull_sample (GST_APP_SINK (sink));
      GstMapInfo map;
      SlCodedPicture picture;
      if (sample == NULL)
        break;
      if (n == 0)
        sl_coded_format_read (gst_sample_get_caps (sample), &coded);
      g_assert_true (gst_buffer_map (gst_sample_get_buffer (sample), &map, GST_MAP_READ));
      sl_coded_picture_read (&coded, map.data, map.size, &picture);
      gst_buffer_unmap (gst_sample_get_buffer (sample), &map);
      g_assert_cmpint (picture.kind, ==, n % 5 == 0 ? SL_CODED_KEY : SL_CODED_DELTA);
      g_assert_cmpint (picture.number, ==, coded.codec == SL_CODED_H264 ? (gint) (n % 5) : -1);
      tried++;
    }
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
  if (tried == 0)
    g_test_skip ("there are no encoders");
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  for (guint s = 0; s < G_N_ELEMENTS (streams); s++) {
    g_autofree char *lost = g_strdup_printf ("/camera/whole/lost/%s", streams[s].name),
                    *sets = g_strdup_printf ("/camera/whole/sets/%s", streams[s].name);
    g_test_add_data_func (lost, GUINT_TO_POINTER (s), test_lost);
    g_test_add_data_func (sets, GUINT_TO_POINTER (s), test_sets);
  }
  g_test_add_func ("/camera/whole/noise", test_noise);
  g_test_add_func ("/camera/whole/tiny", test_tiny);
  g_test_add_func ("/camera/whole/first-key", test_first_key);
  g_test_add_func ("/camera/coded/pictures", test_pictures);
  g_test_add_func ("/camera/coded/reordered", test_reordered);
  g_test_add_func ("/camera/coded/scaling-lists", test_scaling_lists);
  g_test_add_func ("/camera/coded/encoders", test_encoders);
  return test_elements_run ();
}
