/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The protocol of remote inference without a broker: announcements, requests, answers, topics, and
 * the window. Bytes are compared with such as docs/remote.md describes them, laid out by hand; what
 * strangers may send is made of it by chance, and refused with a sentence.
 */
#include <string.h>

#include "pipelines/remote/contract_json.h"
#include "pipelines/remote/message.h"
#include "pipelines/remote/mqtt.h"
#include "pipelines/remote/topics.h"
#include "pipelines/remote/window.h"
#include "sightline/error.h"
#include "tests/support/program.h"

#define MUTANTS 20000
#define BODY                                                                                     \
  "{\"inputs\":[{\"name\":\"in\",\"type\":\"uint8\",\"shape\":[1,2,2,3],\"scale\":0.0078125,"    \
  "\"zero-point\":128,\"values\":\"unknown\",\"classes\":0}],\"outputs\":[{\"name\":\"out\","    \
  "\"id\":\"scores\",\"type\":\"float32\",\"shape\":[1,2],\"scale\":0,\"zero-point\":0,"         \
  "\"values\":\"shares\",\"classes\":2}],\"image\":{\"width\":2,\"height\":2,\"channels\":3,"    \
  "\"layout\":\"NHWC\",\"colour\":\"RGB\",\"fit\":\"letterbox\",\"pad-value\":114,"              \
  "\"range-known\":true,\"mean\":[127.5,127.5,127.5],\"std\":[127.5,127.5,127.5],\"gain\":[1,1," \
  "1],\"offset\":[0,0,0]},\"decoder\":\"labels\",\"decoder-parameters\":{\"top\":\"5\"},"        \
  "\"labels\":[\"cat\",null,\"12 monkeys\"]}"

/* (transfer full): an announcement of @body with the hash that sha256sum gives. */
static char *
announce (const char *body)
{
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, body, -1);
  return g_strdup_printf (
    "{\"sightline-contract\":1,\"hash\":\"%.16s\",\"model\":\"toy.tflite\",\"contract\":%s}", sum,
    body);
}

static SlContract *
read_text (const char *text, GError **error)
{
  char hash[SL_REMOTE_HASH];
  return sl_remote_contract_read (text, strlen (text), "models/toy/contract", hash, NULL, error);
}

static SlContract *
toy (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = announce (BODY);
  SlContract *contract = read_text (text, &error);
  g_assert_no_error (error);
  return contract;
}

static void
test_contract_read (void)
{
  g_autoptr (SlContract) contract = toy ();
  g_assert_cmpstr (contract->model, ==, "toy.tflite");
  g_assert_cmpuint (contract->n_inputs, ==, 1);
  g_assert_cmpstr (contract->inputs[0].name, ==, "in");
  g_assert_cmpint (contract->inputs[0].dtype, ==, SL_DTYPE_U8);
  g_assert_cmpuint (contract->inputs[0].bytes, ==, 12);
  g_assert_cmpfloat (contract->inputs[0].scale, ==, 0.0078125f);
  g_assert_cmpint (contract->inputs[0].zero_point, ==, 128);
  g_assert_cmpstr (contract->outputs[0].id, ==, "scores");
  g_assert_cmpuint (contract->outputs[0].bytes, ==, 8);
  g_assert_cmpint (contract->outputs[0].values, ==, SL_VALUES_SHARES);
  g_assert_cmpuint (contract->outputs[0].classes, ==, 2);
  g_assert_true (contract->image.valid && contract->image.range_known);
  g_assert_cmpint (contract->image.fit, ==, SL_FIT_LETTERBOX);
  g_assert_cmpfloat (contract->image.mean[2], ==, 127.5);
  g_assert_cmpstr (contract->decoder, ==, "labels");
  g_assert_false (contract->decoder_by_user);
  g_assert_cmpstr (g_hash_table_lookup (contract->decoder_params, "top"), ==, "5");
  g_assert_cmpuint (sl_labels_count (contract->labels), ==, 3);
  g_assert_cmpstr (sl_labels_get (contract->labels, 0), ==, "cat");
  g_assert_null (sl_labels_get (contract->labels, 1));
  g_assert_cmpstr (sl_labels_get (contract->labels, 2), ==, "12 monkeys");
}

/* What was read is written as it was. */
static void
test_contract_write (void)
{
  g_autoptr (SlContract) contract = toy ();
  g_autofree char *expected = announce (BODY);
  char hash[SL_REMOTE_HASH], alone[SL_REMOTE_HASH];
  g_autoptr (GBytes) bytes =
    sl_remote_contract_write (contract, 1u << SL_REMOTE_ENCODING_NONE, hash);
  g_autofree char *text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  g_assert_cmpstr (text, ==, expected);
  sl_remote_contract_hash (contract, alone);
  g_assert_cmpstr (hash, ==, alone);
}

/* A share of a crop travels; where there is none, nothing says so. */
static void
test_contract_crop_share (void)
{
  g_autoptr (GString) body = g_string_new (BODY);
  g_autoptr (GError) error = NULL;
  char hash[SL_REMOTE_HASH];
  g_string_replace (body, "\"letterbox\"", "\"crop\",\"crop-share\":0.875", 1);
  g_autofree char *announced = announce (body->str);
  g_autoptr (SlContract) contract = read_text (announced, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (contract->image.crop_share, ==, 0.875);
  g_autoptr (GBytes) bytes =
    sl_remote_contract_write (contract, 1u << SL_REMOTE_ENCODING_NONE, hash);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), announced,
                   strlen (announced));
  g_autoptr (SlContract) without = toy ();
  g_assert_cmpfloat (without->image.crop_share, ==, 1);
}

/* Classes of prompts travel: which of them are reported. */
static void
test_contract_prompts (void)
{
  g_autoptr (GString) body = g_string_new (BODY);
  g_autoptr (GError) error = NULL;
  char hash[SL_REMOTE_HASH];
  g_string_replace (
    body, "\"12 monkeys\"]",
    "\"12 monkeys\"],\"prompts\":{\"classes\":3,\"reported\":2,\"columns\":[-1,0,2,2]}", 1);
  g_autofree char *announced = announce (body->str);
  g_autoptr (SlContract) contract = read_text (announced, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (contract->words.n, ==, 3);
  g_assert_cmpuint (contract->words.shown, ==, 2);
  g_assert_cmpuint (contract->words.n_columns, ==, 4);
  g_assert_cmpint (contract->words.columns[2], ==, 2);
  g_autoptr (GBytes) bytes =
    sl_remote_contract_write (contract, 1u << SL_REMOTE_ENCODING_NONE, hash);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), announced,
                   strlen (announced));
}

static const struct
{
  const char *name, *from, *to, *expected;
} refusals[] = {
  { "columns", "\"12 monkeys\"]",
    "\"12 monkeys\"],\"prompts\":{\"classes\":3,\"reported\":2,\"columns\":[3]}",
    "prompts: expected columns of its classes, or -1" },
  { "prompts", "\"12 monkeys\"]", "\"12 monkeys\"],\"prompts\":{\"classes\":3,\"reported\":4}",
    "prompts: expected at most as many reported classes as classes" },
  { "no-outputs", "\"outputs\"", "\"other\"",
    "expected at least one tensor in inputs and one in outputs" },
  { "type", "\"uint8\"", "\"uint9\"",
    "type: expected uint8, int8, float32 or another NumPy name, got \"uint9\"" },
  { "shape", "[1,2,2,3]", "[1,2,2,0]", "expected a whole number from 1 to 2147483647, got 0" },
  { "rank", "[1,2,2,3]", "[1,1,1,1,1,1,1,1,1]", "shape: expected at most 8 dimensions" },
  { "huge", "[1,2,2,3]", "[1,65536,65536,3]", "a tensor is larger than 1073741824 bytes" },
  { "image", "\"width\":2", "\"width\":3",
    "image: width, height and channels are not those of the first input" },
  { "channels", "\"channels\":3", "\"channels\":2",
    "image: expected width, height and 1 or 3 channels" },
  { "colour", "\"RGB\"", "\"GRAY\"",
    "image: expected 1 channel with colour GRAY and 3 with RGB and BGR" },
  { "fit", "\"letterbox\"", "\"zoom\"", "fit: expected stretch, letterbox or crop, got \"zoom\"" },
  { "crop-share", "\"letterbox\"", "\"crop\",\"crop-share\":1.5",
    "image: expected crop-share 0.01 to 1" },
  { "std", "\"std\":[127.5", "\"std\":[-1", "image: expected std above 0" },
  { "means", "\"mean\":[127.5", "\"mean\":[1,127.5", "expected at most 3 numbers, one a channel" },
  { "values", "\"shares\"", "\"guesses\"",
    "values: expected unknown, probabilities, logits, features or shares, got \"guesses\"" },
  { "flag", "\"range-known\":true", "\"range-known\":1", "range-known: expected true or false" },
  { "scale", "\"scale\":0.0078125", "\"scale\":-1", "scale: expected a number from 0, got -1" },
  { "labels", "\"labels\":[", "\"labels\":[],\"labels\":[", "labels: expected one list of names" },
  { "inputs", "\"outputs\":[", "\"outputs\":[],\"inputs\":[",
    "inputs: expected one list of tensors" },
  { "typeless", "\"type\":\"uint8\",", "", "a tensor has no type" },
  { "number", "\"pad-value\":114", "\"pad-value\":256",
    "expected a whole number from 0 to 255, got 256" },
};

static char *
replace (const char *text, const char *from, const char *to)
{
  g_auto (GStrv) parts = g_strsplit (text, from, 2);
  g_assert_nonnull (parts[1]);
  return g_strjoinv (to, parts);
}

static void
assert_refused (const char *text, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (read_text (text, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_CONTRACT);
  g_assert_true (g_str_has_prefix (error->message, "models/toy/contract: "));
  if (strstr (error->message, expected) == NULL)
    g_error ("expected '%s', got '%s'", expected, error->message);
}

static void
test_contract_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++) {
    g_autofree char *body = replace (BODY, refusals[i].from, refusals[i].to),
                    *text = announce (body);
    assert_refused (text, refusals[i].expected);
  }
  g_autofree char *good = announce (BODY), *damaged = replace (good, "cat", "dog"),
                  *newer = replace (good, "contract\":1", "contract\":2"),
                  *cut = g_strndup (good, strlen (good) / 2);
  assert_refused (damaged, ": the announcement is damaged");
  assert_refused (
    newer,
    "models/toy/contract: no contract of this version of Sightline: line 1: expected a whole "
    "number from 1 to 1, got 2");
  assert_refused (cut, "line 1");
  assert_refused ("{}", "expected the members sightline-contract, hash and contract");
  assert_refused ("", "expected JSON in UTF-8 of at most 33554432 bytes, got 0 bytes");
  assert_refused ("\xff", "that are no UTF-8 text");
}

/* More names than any model's output has. */
static void
test_contract_labels (void)
{
  g_autoptr (GString) names = g_string_new ("\"cat\",null");
  for (guint i = 2; i <= 1000000; i++)
    g_string_append (names, ",null");
  g_autofree char *body = replace (BODY, "\"cat\",null", names->str), *text = announce (body);
  assert_refused (text, "labels: expected at most 1000000 names, got more");
}

/* The contract with @first, @n numbers and @last in place of @from; @before and @behind each. */
static void
assert_too_many (const char *from, const char *first, const char *before, const char *behind,
                 guint n, const char *last, const char *expected)
{
  g_autoptr (GString) many = g_string_new (first);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (many, "%s%s%u%s", i > 0 ? "," : "", before, i, behind);
  g_string_append (many, last);
  g_autofree char *body = replace (BODY, from, many->str), *text = announce (body);
  assert_refused (text, expected);
}

static void
test_contract_limits (void)
{
  assert_too_many ("\"top\":\"5\"", "", "\"p", "\":\"1\"", 65, "",
                   "decoder-parameters: expected at most 64");
  assert_too_many ("\"12 monkeys\"]",
                   "\"12 monkeys\"],\"prompts\":{\"classes\":70000,\"reported\":2,\"columns\":[",
                   "", "", 65537, "]}", "columns: expected at most 65536");
}

/* A path of a decoder is the user's alone to say. */
static void
test_contract_path (void)
{
  g_autofree char *body = replace (BODY, "\"decoder\":\"labels\"",
                                   "\"decoder\":\"/tmp/evil.so\",\"decoder-by-user\":true"),
                  *text = announce (body);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlContract) contract = read_text (text, &error);
  g_assert_no_error (error);
  g_assert_false (contract->decoder_by_user);
}

/* The model's name is shown in messages. */
static void
test_contract_model_shown (void)
{
  g_autofree char *text = announce (BODY),
                  *evil = replace (text, "toy.tflite", "\\u001b[31mtoy\\nok");
  g_autoptr (GError) error = NULL;
  g_autoptr (SlContract) contract = read_text (evil, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (contract->model, ==, "\\x1b[31mtoy\\nok");
}

static void
mutate (GRand *chance, guint8 *bytes, gsize size)
{
  for (gint n = g_rand_int_range (chance, 1, 8); n > 0 && size > 0; n--)
    bytes[g_rand_int_range (chance, 0, (gint32) size)] =
      (guint8) (g_rand_boolean (chance) ? g_rand_int_range (chance, 0, 256)
                                        : "\"{}[],:0129-e\\"[g_rand_int_range (chance, 0, 15)]);
}

/* A mutant's hash is made right where the mutant lets us, so that what it says is read, too. */
static void
test_contract_mutants (void)
{
  g_autoptr (GRand) chance = g_rand_new_with_seed (2026);
  guint taken = 0;
  for (guint i = 0; i < MUTANTS / 4; i++) {
    g_autofree char *body = g_strdup (BODY);
    const gsize size = (gsize) g_rand_int_range (chance, 1, (gint32) strlen (body) + 1);
    mutate (chance, (guint8 *) body, strlen (body));
    g_autofree char *text = announce (body);
    g_autoptr (GError) error = NULL;
    char hash[SL_REMOTE_HASH];
    const gsize length = i % 8 == 0 ? MIN (size, strlen (text)) : strlen (text);
    g_autoptr (SlContract) contract =
      sl_remote_contract_read (text, length, "models/toy/contract", hash, NULL, &error);
    g_assert_true ((contract == NULL) == (error != NULL));
    if (contract == NULL)
      continue;
    taken++;
    g_autofree char *summary = sl_contract_summary (contract);
    g_assert_nonnull (summary);
    g_assert_cmpuint (contract->n_inputs, >=, 1);
    g_assert_cmpuint (contract->n_outputs, >=, 1);
  }
  g_assert_cmpuint (taken, >, 10);
}

static const guint8 tensor[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };

static guint8 *
make_request (const SlContract *contract, char hash[SL_REMOTE_HASH], gsize *size)
{
  sl_remote_contract_hash (contract, hash);
  return sl_remote_request_new (contract, hash, 1500, SL_REMOTE_ENCODING_NONE, 0,
                                (const void *[]){ tensor }, size);
}

static void
test_request (void)
{
  g_autoptr (SlContract) contract = toy ();
  g_autoptr (GError) error = NULL;
  char hash[SL_REMOTE_HASH];
  gsize size;
  SlRemoteRequest request;
  g_autofree guint8 *data = make_request (contract, hash, &size);
  const guint64 number = g_ascii_strtoull (hash, NULL, 16);
  guint8 expected[40] = { 'S', 'L', 'R', 'Q', 1, 0, 1, 0, [16] = 0xdc, 5, [24] = 12 };
  for (guint i = 0; i < 8; i++)
    expected[8 + i] = (guint8) (number >> (8 * i));
  memcpy (expected + 28, tensor, sizeof tensor);
  g_assert_cmpmem (data, size, expected, sizeof expected);
  g_assert_true (sl_remote_request_read (data, size, contract, hash, &request, &error));
  g_assert_cmpuint (request.life_ms, ==, 1500);
  g_assert_cmpmem (request.inputs.data[0], 12, tensor, 12);
}

static void
test_request_refused (void)
{
  g_autoptr (SlContract) contract = toy ();
  char hash[SL_REMOTE_HASH];
  gsize size;
  g_autofree guint8 *good = make_request (contract, hash, &size);
  const struct
  {
    gsize at;
    guint8 value;
    gsize size;
    const char *expected;
  } rows[] = {
    { 0, 'X', 40, "request: expected SLRQ and a head of 24 bytes, got 40 bytes of something else" },
    { 0, 'S', 5, "request: expected SLRQ and a head of 24 bytes, got 5 bytes" },
    { 4, 2, 40,
      "request: expected version 1, got 2: install the same version of Sightline on both sides" },
    { 6, 2, 40, "request: expected 1 tensors, got 2" },
    { 8, (guint8) (good[8] ^ 1), 40, "the model has changed" },
    { 19, 1, 40, "request: expected a life of at most 3600000 ms, got" },
    { 20, 3, 40, "request: encoding 3 is not built in: expected none" },
    { 24, 13, 40, "request: tensor 0: expected 12 bytes, got 13" },
    { 0, 'S', 39, "request: expected 40 bytes, got 39" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree guint8 *data = g_memdup2 (good, size);
    g_autoptr (GError) error = NULL;
    SlRemoteRequest request;
    data[rows[i].at] = rows[i].value;
    g_assert_false (sl_remote_request_read (data, rows[i].size, contract, hash, &request, &error));
    g_assert_nonnull (strstr (error->message, rows[i].expected));
  }
}

static guint8 *
make_answer (const SlContract *contract, gsize *size)
{
  const gfloat scores[] = { 0.25f, 0.75f };
  return sl_remote_answer_new (contract, "w1", 100, 2000, SL_REMOTE_ENCODING_NONE,
                               (const void *[]){ scores }, size);
}

static void
test_answer (void)
{
  g_autoptr (SlContract) contract = toy ();
  g_autoptr (GError) error = NULL;
  gsize size;
  SlRemoteAnswer answer;
  g_autofree guint8 *data = make_answer (contract, &size), *refusal = NULL;
  const guint8 expected[34] = { 'S', 'L',  'A', 'N',  1,    0, 0, 0,    100, 0, 0,
                                0,   0xd0, 7,   0,    0,    1, 0, 2,    0,   8, [24] = 'w',
                                '1', 0,    0,   0x80, 0x3e, 0, 0, 0x40, 0x3f };
  g_assert_cmpmem (data, size, expected, sizeof expected);
  g_assert_true (
    sl_remote_answer_read (data, size, contract, SL_REMOTE_ENCODING_NONE, &answer, &error));
  g_assert_cmpstr (answer.worker, ==, "w1");
  g_assert_null (answer.refusal);
  g_assert_cmpuint (answer.waited_us, ==, 100);
  g_assert_cmpuint (answer.computed_us, ==, 2000);
  g_assert_cmpmem (answer.outputs.data[0], 8, expected + 26, 8);
  g_assert_false (
    sl_remote_answer_read (data, size - 1, contract, SL_REMOTE_ENCODING_NONE, &answer, &error));
  g_assert_cmpstr (error->message, ==, "answer: expected 34 bytes, got 33");
  refusal = sl_remote_refusal_new ("no \x1b[31mroom", FALSE, &size);
  g_assert_true (
    sl_remote_answer_read (refusal, size, contract, SL_REMOTE_ENCODING_NONE, &answer, NULL));
  g_assert_cmpstr (answer.refusal, ==, "no \\x1b[31mroom");
  g_assert_null (answer.worker);
}

/* Random bytes and changed messages: refused with a sentence, or whole. */
static void
test_message_mutants (void)
{
  g_autoptr (SlContract) contract = toy ();
  g_autoptr (GRand) chance = g_rand_new_with_seed (2026);
  char hash[SL_REMOTE_HASH];
  gsize request_size, answer_size;
  g_autofree guint8 *request = make_request (contract, hash, &request_size),
                    *answer = make_answer (contract, &answer_size);
  for (guint i = 0; i < MUTANTS; i++) {
    const gboolean asks = i % 2 == 0;
    const gsize whole = asks ? request_size : answer_size;
    const gsize size = i % 4 < 2 ? whole : (gsize) g_rand_int_range (chance, 0, (gint32) whole + 1);
    g_autofree guint8 *data = g_malloc (MAX (size, 1));
    memcpy (data, asks ? request : answer, size);
    mutate (chance, data, size);
    g_autoptr (GError) error = NULL;
    SlRemoteRequest read_request;
    SlRemoteAnswer read_answer;
    const gboolean taken =
      asks ? sl_remote_request_read (data, size, contract, hash, &read_request, &error)
           : sl_remote_answer_read (data, size, contract, SL_REMOTE_ENCODING_NONE, &read_answer,
                                    &error);
    g_assert_true (taken == (error == NULL));
    if (taken && asks)
      g_assert_true ((const guint8 *) read_request.inputs.data[0] + 12 == data + size);
    else if (taken && read_answer.refusal == NULL)
      g_assert_true ((const guint8 *) read_answer.outputs.data[0] + 8 == data + size);
  }
}

static void
test_topics (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *prefix = NULL, *model = NULL, *none = NULL;
  g_assert_true (sl_remote_split ("a/b/ssd", &prefix, &model, &error));
  g_assert_cmpstr (prefix, ==, "a/b");
  g_assert_cmpstr (model, ==, "ssd");
  g_autofree char *work = sl_remote_topic_work (prefix, model, "0123", NULL),
                  *share = sl_remote_topic_share (work),
                  *answers = sl_remote_topic_answers (prefix, model, "door", "x1"),
                  *name = sl_remote_name ("my model+1#/x");
  g_assert_cmpstr (share, ==, "$share/sightline/a/b/ssd/work/0123/anyone");
  g_assert_cmpstr (answers, ==, "a/b/ssd/answers/door/x1");
  g_assert_cmpstr (name, ==, "my_model_1__x");
  const char *const bad[] = { "ssd", "a//ssd", "/a/ssd",    "a/ssd/", "a/+/ssd",
                              "a/#", "$SYS/a", "a/workers", "" };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) reason = NULL;
    g_assert_false (sl_remote_split (bad[i], &none, &none, &reason));
    g_assert_error (reason, SL_ERROR, SL_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (reason->message, "expected"));
  }
  /* A worker answers to the user who asked and to nobody else. */
  const char *const door = "a/b/ssd/work/0123/door";
  g_assert_true (sl_remote_may_answer ("a/b", "ssd", door, "a/b/ssd/answers/door/x1"));
  g_assert_true (
    sl_remote_may_answer ("a/b", "ssd", "a/b/ssd/work/0123/anyone", "a/b/ssd/answers/anyone/x1"));
  const char *const elsewhere[] = { NULL,
                                    "",
                                    "home/door/open",
                                    "a/b/ssd/answers/",
                                    "a/b/ssd/answers/door",
                                    "a/b/ssd/answers/door/",
                                    "a/b/ssd/answers/door/+",
                                    "a/b/ssd/answers/doors/x1",
                                    "a/b/ssd/answers/yard/x1",
                                    "a/b/ssd/answers/anyone/x1",
                                    "a/b/other/answers/door/x",
                                    "a/b/ssd/contract" };
  for (guint i = 0; i < G_N_ELEMENTS (elsewhere); i++)
    g_assert_false (sl_remote_may_answer ("a/b", "ssd", door, elsewhere[i]));
}

static void
test_location (void)
{
  static const char common[] =
    ": expected mqtt://[user[:password]@]host[:port]/topic, such as mqtt://localhost/models/ssd";
  static const char marks[] = ": a topic to publish to has no \"#\" or \"?\" in it";
  const struct
  {
    const char *location, *why;
  } rows[] = {
    { "http://host/models/ssd", common },
    { "mqtt:///a/b", common },
    { "mqtt://host", common },
    { "host/models/ssd", common },
    { "mqtt://host/a#b", marks },
    { "mqtts://host/a?b", marks },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *message = g_strdup_printf ("location=%s%s", rows[i].location, rows[i].why);
    g_autoptr (GError) error = NULL;
    SlMqttTarget target = { NULL };
    g_assert_false (sl_mqtt_target_parse (&target, &(SlMqttAccess){ .location = rows[i].location },
                                          "mqtt://localhost/models/ssd", &error));
    g_assert_cmpstr (error->message, ==, message);
    sl_mqtt_target_clear (&target);
  }
}

static SlRemoteEntry *
push_frame (SlRemoteWindow *window, const char *name)
{
  SlRemoteEntry *entry = g_new0 (SlRemoteEntry, 1);
  entry->data = g_strdup (name);
  entry->state = SL_REMOTE_WAITING;
  entry->frame = entry->droppable = TRUE;
  sl_remote_window_push (window, entry);
  return entry;
}

static void
assert_popped (SlRemoteWindow *window, const char *name, SlRemoteState state)
{
  SlRemoteEntry *entry = sl_remote_window_pop (window);
  if (name == NULL) {
    g_assert_null (entry);
    return;
  }
  g_assert_cmpstr (entry->data, ==, name);
  g_assert_cmpint (entry->state, ==, state);
  sl_remote_entry_free (window, entry);
}

/* Answers in another order: frames leave in theirs. At most two are on their way. */
static void
test_window_order (void)
{
  SlRemoteWindow window;
  sl_remote_window_init (&window, 2, 1000, g_free);
  SlRemoteEntry *a = push_frame (&window, "a"), *b = push_frame (&window, "b"),
                *c = push_frame (&window, "c");
  const SlRemoteAnswer answer = { .waited_us = 1 };
  g_assert_true (sl_remote_window_next (&window, 0) == a);
  sl_remote_window_sent (&window, a, 7, 0);
  g_assert_true (sl_remote_window_next (&window, 0) == b);
  sl_remote_window_sent (&window, b, 8, 0);
  g_assert_null (sl_remote_window_next (&window, 0));
  g_assert_true (sl_remote_window_confirmed (&window, 8, TRUE) == b);
  sl_remote_window_answered (&window, sl_remote_window_by_id (&window, 2), NULL, &answer);
  assert_popped (&window, NULL, SL_REMOTE_ANSWERED);
  g_assert_true (sl_remote_window_next (&window, 0) == c);
  g_assert_null (sl_remote_window_by_id (&window, 2)); /* again */
  g_assert_cmpuint (window.counts.repeated, ==, 1);
  sl_remote_window_answered (&window, sl_remote_window_by_id (&window, 1), NULL, &answer);
  assert_popped (&window, "a", SL_REMOTE_ANSWERED);
  assert_popped (&window, "b", SL_REMOTE_ANSWERED);
  assert_popped (&window, NULL, SL_REMOTE_ANSWERED);
  sl_remote_window_displace (&window, FALSE);
  g_assert_cmpuint (window.counts.dropped, ==, 1);
  sl_remote_window_clear (&window);
}

static void
test_window_deadline (void)
{
  SlRemoteWindow window;
  sl_remote_window_init (&window, 4, 1000, g_free);
  SlRemoteEntry *a = push_frame (&window, "a");
  sl_remote_window_sent (&window, a, 1, 100);
  g_assert_cmpint (sl_remote_window_due (&window, FALSE), ==,
                   1100); /* the broker does not have it yet */
  g_assert_null (sl_remote_window_next (&window, 600));
  g_assert_true (sl_remote_window_confirmed (&window, 1, TRUE) == a);
  g_assert_cmpint (sl_remote_window_due (&window, FALSE), ==, 600);
  g_assert_null (sl_remote_window_next (&window, 599));
  g_assert_true (sl_remote_window_next (&window, 600) == a);
  sl_remote_window_sent (&window, a, 2, 600);
  g_assert_cmpuint (window.counts.resent, ==, 1);
  g_assert_true (sl_remote_window_confirmed (&window, 2, TRUE) == a);
  g_assert_null (sl_remote_window_next (&window, 1099)); /* once */
  sl_remote_window_again (&window, 700);                 /* but again where a worker died */
  g_assert_true (sl_remote_window_next (&window, 700) == a);
  sl_remote_window_sent (&window, a, 3, 700);
  sl_remote_window_expire (&window, 1099, TRUE, FALSE);
  assert_popped (&window, NULL, SL_REMOTE_LOST);
  sl_remote_window_expire (&window, 1100, FALSE, FALSE);
  assert_popped (&window, "a", SL_REMOTE_LOST);
  g_assert_null (sl_remote_window_by_id (&window, 1));
  g_assert_cmpuint (window.counts.late, ==, 1);
  g_assert_cmpuint (window.counts.lost, ==, 1);
  g_assert_cmpint (sl_remote_window_due (&window, FALSE), ==, G_MAXINT64);
  push_frame (&window, "b")->begun = 2000;
  sl_remote_window_expire (&window, 9000, FALSE, FALSE); /* it waits for room, and is not lost */
  assert_popped (&window, NULL, SL_REMOTE_LOST);
  g_assert_cmpint (sl_remote_window_due (&window, FALSE), ==, G_MAXINT64);
  g_assert_cmpint (sl_remote_window_due (&window, TRUE), ==, 3000);
  sl_remote_window_expire (&window, 2001, TRUE, TRUE); /* offline, with a fallback */
  assert_popped (&window, "b", SL_REMOTE_LOST);
  sl_remote_window_clear (&window);
}

/* Frames that nobody pops are bounded, whatever became of them; those that were given up give way
 * to newer ones, others do not. */
static void
test_window_room (void)
{
  SlRemoteWindow window;
  sl_remote_window_init (&window, 2, 1000, g_free);
  guint n = 0;
  for (; sl_remote_window_has_room (&window); n++) {
    SlRemoteEntry *entry = push_frame (&window, "a");
    sl_remote_window_sent (&window, entry, 1, 0);
    if (n < 2)
      sl_remote_window_answered (&window, entry, NULL, &(SlRemoteAnswer){ .waited_us = 1 });
    else
      sl_remote_window_lose (&window, entry);
  }
  g_assert_cmpuint (n, ==, 12);
  sl_remote_window_displace (&window, FALSE);
  g_assert_cmpuint (window.counts.dropped, ==, 1);
  g_assert_true (sl_remote_window_has_room (&window));
  push_frame (&window, "b");
  g_assert_false (sl_remote_window_has_room (&window));
  sl_remote_window_displace (
    &window, TRUE); /* none can be sent: the oldest passes instead, one for another */
  g_assert_cmpuint (window.n_waiting, ==, 0);
  g_assert_cmpuint (window.counts.dropped, ==, 2);
  for (guint i = 0; i < 2; i++)
    assert_popped (&window, "a", SL_REMOTE_ANSWERED);
  g_assert_true (sl_remote_window_has_room (&window));
  for (guint i = 0; i < 8; i++)
    assert_popped (&window, "a", SL_REMOTE_LOST);
  assert_popped (&window, "b", SL_REMOTE_LOST);
  g_assert_cmpuint (window.n_frames, ==, 0);
  sl_remote_window_clear (&window);
}

/* Nobody takes frames: one of them is tried again, after pauses that grow, until somebody does. */
static void
test_window_unheard (void)
{
  SlRemoteWindow window;
  const gint64 pauses[] = { 50000, 100000, 200000, 250000, 250000 };
  gint64 now = 0;
  gint message = 3;
  sl_remote_window_init (&window, 4, 1000000, g_free);
  SlRemoteEntry *a = push_frame (&window, "a"), *b = push_frame (&window, "b");
  sl_remote_window_sent (&window, a, 1, now);
  sl_remote_window_sent (&window, b, 2, now);
  sl_remote_window_put_off (&window, sl_remote_window_confirmed (&window, 2, FALSE), now);
  sl_remote_window_put_off (&window, sl_remote_window_confirmed (&window, 1, FALSE), now);
  for (guint i = 0; i < G_N_ELEMENTS (pauses); i++) {
    g_assert_cmpint (sl_remote_window_due (&window, FALSE), ==, now + pauses[i]);
    g_assert_null (sl_remote_window_next (&window, now + pauses[i] - 1));
    now += pauses[i];
    g_assert_true (sl_remote_window_next (&window, now) == a);
    sl_remote_window_sent (&window, a, message, now);
    g_assert_null (sl_remote_window_next (&window, now));
    if (i + 1 < G_N_ELEMENTS (pauses))
      sl_remote_window_put_off (&window, sl_remote_window_confirmed (&window, message++, FALSE),
                                now);
  }
  g_assert_true (sl_remote_window_confirmed (&window, message, TRUE) == a);
  g_assert_true (sl_remote_window_next (&window, now) == b);
  sl_remote_window_sent (&window, b, 99, now);
  sl_remote_window_reconnected (&window); /* never to be confirmed */
  g_assert_true (sl_remote_window_next (&window, now) == a);
  sl_remote_window_clear (&window);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/remote/contract/read", test_contract_read);
  g_test_add_func ("/remote/contract/write", test_contract_write);
  g_test_add_func ("/remote/contract/crop-share", test_contract_crop_share);
  g_test_add_func ("/remote/contract/prompts", test_contract_prompts);
  g_test_add_func ("/remote/contract/refused", test_contract_refused);
  g_test_add_func ("/remote/contract/labels", test_contract_labels);
  g_test_add_func ("/remote/contract/limits", test_contract_limits);
  g_test_add_func ("/remote/contract/path", test_contract_path);
  g_test_add_func ("/remote/contract/model-shown", test_contract_model_shown);
  g_test_add_func ("/remote/contract/mutants", test_contract_mutants);
  g_test_add_func ("/remote/request/bytes", test_request);
  g_test_add_func ("/remote/request/refused", test_request_refused);
  g_test_add_func ("/remote/answer/bytes", test_answer);
  g_test_add_func ("/remote/message/mutants", test_message_mutants);
  g_test_add_func ("/remote/topics", test_topics);
  g_test_add_func ("/remote/location", test_location);
  g_test_add_func ("/remote/window/order", test_window_order);
  g_test_add_func ("/remote/window/deadline", test_window_deadline);
  g_test_add_func ("/remote/window/room", test_window_room);
  g_test_add_func ("/remote/window/unheard", test_window_unheard);
  return g_test_run ();
}
