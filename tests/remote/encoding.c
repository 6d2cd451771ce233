/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensors cut for their way. What is written is read by liblz4 and libjpeg themselves, and what
 * they write by us; what strangers may send is made of good messages by chance, and refused with a
 * sentence or decoded whole, never beyond the contract's bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "pipelines/remote/encoding.h"
#include "pipelines/remote/message.h"
#include "sightline/error.h"
#include "tests/support/program.h"

#if SL_HAVE_LZ4
#include <lz4.h>
#endif
#if SL_HAVE_JPEG
#include <jpeglib.h>
#endif

#define MUTANTS 4000
#define ROWS 24
#define COLUMNS 40
#define PICTURE (ROWS * COLUMNS * 3)
#define HASH "0123456789abcdef"
/* Bytes behind a tensor that nothing may write. */
#define GUARD 64

/* A picture and a short list of numbers in, a long list out. */
static SlContract *
make_contract (void)
{
  SlContract *contract = g_new0 (SlContract, 1);
  g_atomic_ref_count_init (&contract->refs);
  contract->model = g_strdup ("toy.tflite");
  contract->n_inputs = 2;
  contract->inputs[0] = (SlTensorInfo){
    .dtype = SL_DTYPE_U8, .rank = 4, .dims = { 1, ROWS, COLUMNS, 3 }, .bytes = PICTURE
  };
  contract->inputs[1] =
    (SlTensorInfo){ .dtype = SL_DTYPE_F32, .rank = 1, .dims = { 4 }, .bytes = 16 };
  contract->n_outputs = 1;
  contract->outputs[0] =
    (SlTensorInfo){ .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 1, 500 }, .bytes = 2000 };
  return contract;
}

/* A scene with soft colours and one hard edge. */
static void
draw (guint8 *picture)
{
  for (guint y = 0; y < ROWS; y++)
    for (guint x = 0; x < COLUMNS; x++)
      for (guint c = 0; c < 3; c++)
        picture[(y * COLUMNS + x) * 3 + c] =
          (guint8) (x < COLUMNS / 2 ? 40 + 4 * x + 10 * c : 200 - 5 * y);
}

static const guint8 numbers[16] = { 1, 200, 3, 77, 5, 16, 7, 98, 9, 210, 11, 142, 13, 4, 255, 66 };

static gboolean
needs (SlRemoteEncoding encoding)
{
  if ((sl_remote_encodings_built () & 1u << encoding) != 0)
    return TRUE;
  g_test_skip ("this build has no such encoding");
  return FALSE;
}

static void
test_names (void)
{
  char list[SL_REMOTE_ENCODINGS_MOST];
  g_assert_cmpstr (sl_remote_encodings_list (1, list), ==, "none");
  g_assert_cmpstr (sl_remote_encodings_list (7, list), ==, "none,lz4,jpeg");
  g_assert_cmpuint (sl_remote_encodings_built () & 1, ==, 1);
  const SlTensorInfo pictures[] = {
    { .dtype = SL_DTYPE_U8, .rank = 4, .dims = { 1, 2, 2, 3 } },
    { .dtype = SL_DTYPE_U8, .rank = 3, .dims = { 2, 2, 1 } },
    { .dtype = SL_DTYPE_I8, .rank = 4, .dims = { 1, 2, 2, 3 } },
    { .dtype = SL_DTYPE_F32, .rank = 4, .dims = { 1, 2, 2, 3 } },
    { .dtype = SL_DTYPE_U8, .rank = 4, .dims = { 2, 2, 2, 3 } },
    { .dtype = SL_DTYPE_U8, .rank = 4, .dims = { 1, 3, 2, 2 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++) {
    g_assert_cmpint (sl_remote_encoding_suits (SL_REMOTE_ENCODING_JPEG, &pictures[i]), ==, i < 2);
    g_assert_true (sl_remote_encoding_suits (SL_REMOTE_ENCODING_LZ4, &pictures[i]));
  }
}

/* A request, read back: the tensors' mean and largest difference from what they were. */
static void
read_back (SlRemoteEncoding encoding, gint quality, gdouble *mean, guint *most)
{
  g_autoptr (SlContract) contract = make_contract ();
  g_autoptr (GError) error = NULL;
  guint8 picture[PICTURE], got[PICTURE], few[16];
  SlRemoteRequest request;
  gsize size, plain_size;
  guint sum = 0;
  draw (picture);
  g_autofree guint8 *data = sl_remote_request_new (contract, HASH, 1500, encoding, quality,
                                                   (const void *[]){ picture, numbers }, &size);
  g_assert_cmpuint (size, <, sl_remote_request_size (contract) / 2);
  g_assert_true (sl_remote_request_read (data, size, contract, HASH, &request, &error));
  g_assert_cmpint (request.inputs.encoding, ==, encoding);
  g_assert_true (
    sl_remote_tensor_read (&request.inputs, &contract->inputs[0], 0, got, "request", &error));
  g_assert_true (
    sl_remote_tensor_read (&request.inputs, &contract->inputs[1], 1, few, "request", &error));
  g_assert_cmpmem (few, sizeof few, numbers,
                   sizeof numbers); /* too few to become smaller, or no picture */
  *most = 0;
  for (guint i = 0; i < PICTURE; i++) {
    const guint off = (guint) ABS (picture[i] - got[i]);
    *most = MAX (*most, off);
    sum += off;
  }
  *mean = (gdouble) sum / PICTURE;
  /* And as it would be sent to one that reads no encoding. */
  g_autofree guint8 *plain = sl_remote_request_plain (data, size, contract, HASH, &plain_size);
  g_assert_cmpuint (plain_size, ==, sl_remote_request_size (contract));
  g_assert_true (sl_remote_request_read (plain, plain_size, contract, HASH, &request, &error));
  g_assert_cmpint (request.inputs.encoding, ==, SL_REMOTE_ENCODING_NONE);
  g_assert_cmpuint (request.life_ms, ==, 1500);
  g_assert_cmpmem (request.inputs.data[0], PICTURE, got, PICTURE);
}

static void
test_lossless (void)
{
  gdouble mean;
  guint most;
  if (!needs (SL_REMOTE_ENCODING_LZ4))
    return;
  read_back (SL_REMOTE_ENCODING_LZ4, 0, &mean, &most);
  g_assert_cmpuint (most, ==, 0);
}

static void
test_lossy (void)
{
  gdouble mean, worse;
  guint most;
  if (!needs (SL_REMOTE_ENCODING_JPEG))
    return;
  read_back (SL_REMOTE_ENCODING_JPEG, 100, &mean, &most);
  g_assert_cmpuint (most, <=, 3);
  g_assert_cmpfloat (mean, <, 1);
  read_back (SL_REMOTE_ENCODING_JPEG, 50, &worse, &most);
  g_assert_cmpfloat (worse, >, mean);
  g_assert_cmpfloat (worse, <, 8);
}

/* Noise does not become smaller: it travels as it is. */
static void
test_noise (void)
{
  g_autoptr (SlContract) contract = make_contract ();
  g_autoptr (GRand) chance = g_rand_new_with_seed (2026);
  guint8 picture[PICTURE];
  gsize size;
  if (!needs (SL_REMOTE_ENCODING_LZ4))
    return;
  for (guint i = 0; i < PICTURE; i++)
    picture[i] = (guint8) g_rand_int (chance);
  g_autofree guint8 *data = sl_remote_request_new (contract, HASH, 1500, SL_REMOTE_ENCODING_LZ4, 0,
                                                   (const void *[]){ picture, numbers }, &size);
  g_assert_cmpuint (size, ==, sl_remote_request_size (contract));
  g_assert_cmpmem (data + size - PICTURE - 16, PICTURE, picture, PICTURE);
}

/* A request whose tensors did not become smaller is made plain by a build that does not read its
 * encoding, too. */
static void
test_plain (void)
{
  g_autoptr (SlContract) contract = make_contract ();
  guint8 picture[PICTURE];
  gsize size, plain_size;
  draw (picture);
  for (guint8 encoding = 0; encoding <= SL_REMOTE_N_ENCODINGS; encoding++) {
    g_autofree guint8 *data =
      sl_remote_request_new (contract, HASH, 1500, SL_REMOTE_ENCODING_NONE, 0,
                             (const void *[]){ picture, numbers }, &size);
    g_autofree guint8 *expected = g_memdup2 (data, size);
    data[20] = encoding;
    g_autofree guint8 *plain = sl_remote_request_plain (data, size, contract, HASH, &plain_size);
    g_assert_true ((plain != NULL) == (encoding < SL_REMOTE_N_ENCODINGS));
    if (plain != NULL)
      g_assert_cmpmem (plain, plain_size, expected, size);
  }
}

static guint8 *
make_answer (const SlContract *contract, SlRemoteEncoding encoding, gsize *size)
{
  gfloat scores[500] = { 0.25f, 0.75f };
  return sl_remote_answer_new (contract, "w1", 100, 2000, encoding, (const void *[]){ scores },
                               size);
}

/* An answer is readable in the encoding of its request, and in no other. */
static void
test_answer (void)
{
  g_autoptr (SlContract) contract = make_contract ();
  g_autoptr (GError) error = NULL;
  SlRemoteAnswer answer;
  gsize size;
  if (!needs (SL_REMOTE_ENCODING_LZ4))
    return;
  g_autofree guint8 *data = make_answer (contract, SL_REMOTE_ENCODING_LZ4, &size);
  g_assert_cmpuint (size, <, 100);
  g_assert_true (
    sl_remote_answer_read (data, size, contract, SL_REMOTE_ENCODING_LZ4, &answer, &error));
  g_autofree guint8 *plain = sl_remote_answer_plain (&answer, contract, &error);
  const gfloat scores[500] = { 0.25f, 0.75f };
  g_assert_cmpmem (answer.outputs.data[0], 2000, scores, sizeof scores);
  g_assert_true (answer.outputs.data[0] == plain);
  g_assert_false (
    sl_remote_answer_read (data, size, contract, SL_REMOTE_ENCODING_NONE, &answer, &error));
  g_assert_cmpstr (error->message, ==, "answer: expected encoding 0 or the request's, 0, got 1");
  g_autofree guint8 *refusal = sl_remote_refusal_new ("no", TRUE, &size);
  g_assert_true (
    sl_remote_answer_read (refusal, size, contract, SL_REMOTE_ENCODING_LZ4, &answer, NULL));
  g_assert_true (answer.refuses_encoding);
  g_assert_cmpstr (answer.refusal, ==, "no");
}

#if SL_HAVE_LZ4 || SL_HAVE_JPEG
/* A request whose picture is @bytes bytes at @picture. */
static guint8 *
wrap (const SlContract *contract, SlRemoteEncoding encoding, const void *picture, gsize bytes,
      gsize *size)
{
  const guint8 zeros[PICTURE] = { 0 };
  guint8 *data = sl_remote_request_new (contract, HASH, 1500, SL_REMOTE_ENCODING_NONE, 0,
                                        (const void *[]){ zeros, numbers }, size);
  const guint32 little = GUINT32_TO_LE ((guint32) bytes);
  data[20] = (guint8) encoding;
  memcpy (data + 24, &little, sizeof little);
  memcpy (data + 32, picture, bytes);
  memcpy (data + 32 + bytes, numbers, 16);
  *size = 48 + bytes;
  return data;
}

/* (transfer full): what is said of such a request. */
static char *
refusal_of (SlRemoteEncoding encoding, const void *picture, gsize bytes)
{
  g_autoptr (SlContract) contract = make_contract ();
  g_autoptr (GError) error = NULL;
  guint8 out[PICTURE + GUARD];
  SlRemoteRequest request;
  gsize size;
  g_autofree guint8 *data = wrap (contract, encoding, picture, bytes, &size);
  g_assert_true (sl_remote_request_read (data, size, contract, HASH, &request, &error));
  memset (out + PICTURE, 0x5a, GUARD);
  g_assert_false (
    sl_remote_tensor_read (&request.inputs, &contract->inputs[0], 0, out, "request", &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
  for (guint i = 0; i < GUARD; i++)
    g_assert_cmpuint (out[PICTURE + i], ==, 0x5a);
  return g_strdup (error->message);
}
#endif

#if SL_HAVE_LZ4
/* Blocks that liblz4 made: of fewer bytes than the picture has, and of a thousand times as many,
 * which never get to memory. */
static void
test_lz4_refused (void)
{
  const int huge = 1 << 20;
  g_autofree char *zeros = g_malloc0 ((gsize) huge),
                  *block = g_malloc ((gsize) LZ4_compressBound (huge));
  const int short_size = LZ4_compress_default (zeros, block, PICTURE - 1, LZ4_compressBound (huge));
  g_autofree char *few = refusal_of (SL_REMOTE_ENCODING_LZ4, block, (gsize) short_size);
  g_assert_true (
    g_str_has_prefix (few, "request: tensor 0: expected an LZ4 block of 2880 bytes, got "));
  for (int raw = PICTURE + 1; raw <= 500000; raw += 497119) {
    const int long_size = LZ4_compress_default (zeros, block, raw, LZ4_compressBound (huge));
    g_assert_cmpint (long_size, <, PICTURE);
    g_autofree char *many = refusal_of (SL_REMOTE_ENCODING_LZ4, block, (gsize) long_size);
    g_assert_nonnull (strstr (many, "that are none"));
  }
}
#endif

#if SL_HAVE_JPEG
/* (transfer full): a JPEG that libjpeg makes of gray. */
static guint8 *
make_jpeg (guint width, guint height, gboolean progressive, gsize *size)
{
  struct jpeg_compress_struct compress;
  struct jpeg_error_mgr errors;
  unsigned char *memory = NULL;
  unsigned long length = 0;
  g_autofree guint8 *row = g_malloc0 (width * 3);
  compress.err = jpeg_std_error (&errors);
  jpeg_create_compress (&compress);
  jpeg_mem_dest (&compress, &memory, &length);
  compress.image_width = width;
  compress.image_height = height;
  compress.input_components = 3;
  compress.in_color_space = JCS_RGB;
  jpeg_set_defaults (&compress);
  if (progressive)
    jpeg_simple_progression (&compress);
  jpeg_start_compress (&compress, TRUE);
  while (compress.next_scanline < height)
    jpeg_write_scanlines (&compress, (JSAMPROW *) &row, 1);
  jpeg_finish_compress (&compress);
  jpeg_destroy_compress (&compress);
  guint8 *copy = g_memdup2 (memory, length);
  free (memory);
  *size = length;
  return copy;
}

/* Files of libjpeg that are another size, ask for more passes, or end too early. */
static void
test_jpeg_refused (void)
{
  const struct
  {
    guint width, height;
    gboolean progressive;
    gsize cut;
    const char *expected;
  } rows[] = {
    { COLUMNS + 1, ROWS, FALSE, 0, "request: tensor 0: expected 24x40x3, got 24x41x3" },
    { COLUMNS, 6000, FALSE, 0, "request: tensor 0: expected 24x40x3, got 6000x40x3" },
    { COLUMNS, ROWS, TRUE, 0, "request: tensor 0: expected a baseline JPEG with one scan" },
    { COLUMNS, ROWS, FALSE, 8, "request: tensor 0: Premature end of JPEG file" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    gsize size;
    g_autofree guint8 *jpeg = make_jpeg (rows[i].width, rows[i].height, rows[i].progressive, &size);
    g_autofree char *said =
      refusal_of (SL_REMOTE_ENCODING_JPEG, jpeg, MIN (size, PICTURE - 1) - rows[i].cut);
    g_assert_cmpstr (said, ==, rows[i].expected);
  }
  g_autofree char *none = refusal_of (SL_REMOTE_ENCODING_JPEG, "no picture", 10);
  g_assert_true (g_str_has_prefix (none, "request: tensor 0: Not a JPEG file"));
}
#endif

/* Sizes in a message that lie. */
static void
test_sizes_refused (void)
{
  g_autoptr (SlContract) contract = make_contract ();
  guint8 picture[PICTURE];
  gsize size;
  if (!needs (SL_REMOTE_ENCODING_LZ4))
    return;
  draw (picture);
  g_autofree guint8 *good = sl_remote_request_new (contract, HASH, 1500, SL_REMOTE_ENCODING_LZ4, 0,
                                                   (const void *[]){ picture, numbers }, &size);
  const gsize bytes = size - 48;
  const struct
  {
    guint32 first, second;
    gsize size;
    const char *expected;
  } rows[] = {
    { 0xffffffff, 16, size, "request: tensor 0: expected at most" },
    { PICTURE, 16, size, "request: tensor 0: expected at most" },
    { 0, 16, size, "request: tensor 0: expected at most" },
    { (guint32) bytes, 17, size, "request: tensor 1: expected at most 16 bytes, got 17" },
    { (guint32) bytes, 15, size, "request: expected nothing behind the tensors, got 1 bytes" },
    { (guint32) bytes, 16, 30, "request: expected at most 2928 bytes, got 30" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree guint8 *data = g_memdup2 (good, size);
    g_autoptr (GError) error = NULL;
    SlRemoteRequest request;
    const guint32 sizes[] = { GUINT32_TO_LE (rows[i].first), GUINT32_TO_LE (rows[i].second) };
    memcpy (data + 24, sizes, sizeof sizes);
    g_assert_false (sl_remote_request_read (data, rows[i].size, contract, HASH, &request, &error));
    if (!g_str_has_prefix (error->message, rows[i].expected))
      g_error ("expected '%s', got '%s'", rows[i].expected, error->message);
  }
}

static void
mutate (GRand *chance, guint8 *bytes, gsize from, gsize size)
{
  for (gint n = g_rand_int_range (chance, 1, 6); n > 0; n--)
    bytes[g_rand_int_range (chance, (gint32) from, (gint32) size)] =
      (guint8) g_rand_int_range (chance, 0, 256);
}

/* Each mutant in memory of its own size, so that a read beyond it is caught. */
static void
test_mutants (gconstpointer which)
{
  const SlRemoteEncoding encoding = (SlRemoteEncoding) GPOINTER_TO_UINT (which);
  g_autoptr (SlContract) contract = make_contract ();
  g_autoptr (GRand) chance = g_rand_new_with_seed (2026);
  guint8 picture[PICTURE];
  gsize size;
  guint taken = 0;
  if (!needs (encoding))
    return;
  draw (picture);
  g_autofree guint8 *good = sl_remote_request_new (contract, HASH, 1500, encoding, 90,
                                                   (const void *[]){ picture, numbers }, &size);
  for (guint i = 0; i < MUTANTS; i++) {
    g_autoptr (GError) error = NULL;
    g_autofree guint8 *out = g_malloc (PICTURE);
    SlRemoteRequest request;
    const gsize length =
      i % 4 == 0 ? (gsize) g_rand_int_range (chance, 32, (gint32) size + 1) : size;
    g_autofree guint8 *data = g_memdup2 (good, length);
    mutate (chance, data, i % 2 == 0 ? 0 : 32, length);
    gboolean good_one = sl_remote_request_read (data, length, contract, HASH, &request, &error);
    if (good_one)
      good_one =
        sl_remote_tensor_read (&request.inputs, &contract->inputs[0], 0, out, "request", &error);
    g_assert_true (good_one == (error == NULL));
    taken += good_one;
  }
  g_assert_cmpuint (taken, >, 10);
  g_assert_cmpuint (taken, <, MUTANTS);
}

static void
test_answer_mutants (void)
{
  g_autoptr (SlContract) contract = make_contract ();
  g_autoptr (GRand) chance = g_rand_new_with_seed (2026);
  gsize size;
  if (!needs (SL_REMOTE_ENCODING_LZ4))
    return;
  g_autofree guint8 *good = make_answer (contract, SL_REMOTE_ENCODING_LZ4, &size);
  for (guint i = 0; i < MUTANTS; i++) {
    g_autoptr (GError) error = NULL;
    SlRemoteAnswer answer;
    g_autofree guint8 *data = g_memdup2 (good, size);
    mutate (chance, data, i % 2 == 0 ? 0 : 20, size);
    if (!sl_remote_answer_read (data, size, contract, SL_REMOTE_ENCODING_LZ4, &answer, &error)
        || answer.refusal != NULL)
      continue;
    g_autofree guint8 *plain = sl_remote_answer_plain (&answer, contract, &error);
    g_assert_true ((plain == NULL) == (error != NULL));
  }
}

/* Which encodings workers read is in the announcement, and not in the contract's hash. */
static void
test_announced (void)
{
  g_autoptr (SlContract) contract = make_contract ();
  g_autoptr (GError) error = NULL;
  char hash[SL_REMOTE_HASH], other[SL_REMOTE_HASH];
  guint encodings = 0;
  g_autoptr (GBytes) plain = sl_remote_contract_write (contract, 1, hash),
                     bytes = sl_remote_contract_write (contract, 7, other);
  g_assert_cmpstr (hash, ==, other);
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  g_assert_nonnull (strstr (text, ",\"encodings\":[\"lz4\",\"jpeg\"],\"contract\":{"));
  g_autoptr (SlContract) read =
    sl_remote_contract_read (text, strlen (text), "t", hash, &encodings, &error);
  g_assert_nonnull (read);
  g_assert_no_error (error);
  g_assert_cmpuint (encodings, ==, 7);
  g_autoptr (SlContract) again = sl_remote_contract_read (
    g_bytes_get_data (plain, NULL), g_bytes_get_size (plain), "t", hash, &encodings, &error);
  g_assert_nonnull (again);
  g_assert_cmpuint (encodings, ==, 1);
  memcpy (strstr (text, "jpeg"), "avif", 4); /* of a later version */
  g_autoptr (SlContract) later =
    sl_remote_contract_read (text, strlen (text), "t", hash, &encodings, &error);
  g_assert_nonnull (later);
  g_assert_no_error (error);
  g_assert_cmpuint (encodings, ==, 3);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/remote/encoding/names", test_names);
  g_test_add_func ("/remote/encoding/lossless", test_lossless);
  g_test_add_func ("/remote/encoding/lossy", test_lossy);
  g_test_add_func ("/remote/encoding/noise", test_noise);
  g_test_add_func ("/remote/encoding/plain", test_plain);
  g_test_add_func ("/remote/encoding/answer", test_answer);
#if SL_HAVE_LZ4
  g_test_add_func ("/remote/encoding/lz4-refused", test_lz4_refused);
#endif
#if SL_HAVE_JPEG
  g_test_add_func ("/remote/encoding/jpeg-refused", test_jpeg_refused);
#endif
  g_test_add_func ("/remote/encoding/sizes-refused", test_sizes_refused);
  g_test_add_data_func ("/remote/encoding/mutants/lz4", GUINT_TO_POINTER (SL_REMOTE_ENCODING_LZ4),
                        test_mutants);
  g_test_add_data_func ("/remote/encoding/mutants/jpeg", GUINT_TO_POINTER (SL_REMOTE_ENCODING_JPEG),
                        test_mutants);
  g_test_add_func ("/remote/encoding/mutants/answer", test_answer_mutants);
  g_test_add_func ("/remote/encoding/announced", test_announced);
  return g_test_run ();
}
