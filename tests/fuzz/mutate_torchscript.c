/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Archives of torch.jit and of torch.export. Members are unpacked once; a mutant shares those that
 * it does not change. */
#include "tests/fuzz/mutate_torchscript.h"

#include <string.h>

#include "models/zip.h"
#include "tests/fuzz/mutate.h"
#include "models/zip_writer.h"

#define MAX_MUTATIONS 3
/* Names that a mutation may put where another stands. */
#define MAX_NAME 64

typedef enum
{
  CODE,
  PICKLE,
  OTHER,
  N_KINDS
} Kind;

struct _TorchscriptParts
{
  GArray *members;        /* of ZipMember */
  GArray *kinds[N_KINDS]; /* of guint: numbers of members */
};

static Kind
kind_of (const char *name)
{
  const gboolean text = g_str_has_suffix (name, ".py") || g_str_has_suffix (name, ".json"),
                 pickle = g_str_has_suffix (name, ".pkl") || g_str_has_suffix (name, ".pt");
  return text ? CODE : pickle && strstr (name, "debug") == NULL ? PICKLE : OTHER;
}

TorchscriptParts *
mutate_torchscript_split (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  g_autoptr (SlZip) zip =
    size > 2 && memcmp (data, "PK", 2) == 0 ? sl_zip_open (bytes, NULL) : NULL;
  if (zip == NULL)
    return NULL;
  TorchscriptParts *parts = g_new0 (TorchscriptParts, 1);
  parts->members = g_array_new (FALSE, FALSE, sizeof (ZipMember));
  for (guint i = 0; i < N_KINDS; i++)
    parts->kinds[i] = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < sl_zip_count (zip); i++) {
    const char *name = sl_zip_name (zip, i);
    GBytes *member = sl_zip_read (zip, i, NULL);
    if (member == NULL)
      continue;
    const ZipMember copy = { g_strdup (name), member, FALSE, TRUE };
    const guint number = parts->members->len;
    g_array_append_val (parts->members, copy);
    g_array_append_val (parts->kinds[kind_of (name)], number);
  }
  if (parts->kinds[CODE]->len + parts->kinds[PICKLE]->len > 0)
    return parts;
  mutate_torchscript_parts_free (parts);
  return NULL;
}

void
mutate_torchscript_parts_free (TorchscriptParts *parts)
{
  if (parts == NULL)
    return;
  for (guint i = 0; i < parts->members->len; i++) {
    g_free (g_array_index (parts->members, ZipMember, i).name);
    g_bytes_unref (g_array_index (parts->members, ZipMember, i).data);
  }
  for (guint i = 0; i < N_KINDS; i++)
    g_array_unref (parts->kinds[i]);
  g_array_unref (parts->members);
  g_free (parts);
}

static guint
below (GRand *random, gsize n)
{
  return n == 0 ? 0 : g_rand_int (random) % (guint) MIN (n, G_MAXUINT32);
}

/* Statements, and objects of JSON in one line: one goes, comes twice, or changes places with the
 * one after it. */
static void
change_lines (GString *text, GRand *random)
{
  const char *end = strchr (text->str, '\n') != NULL ? "\n" : "}, ";
  g_auto (GStrv) lines = g_strsplit (text->str, end, -1);
  const guint n = g_strv_length (lines), at = below (random, n), how = below (random, 3);
  g_string_truncate (text, 0);
  for (guint i = 0; i < n; i++) {
    const guint from = how == 2 && i == at && i + 1 < n ? i + 1
                       : how == 2 && i == at + 1        ? i - 1
                                                        : i;
    if (how != 0 || i != at)
      g_string_append_printf (text, "%s%s", lines[from], i + 1 < n ? end : "");
    if (how == 1 && i == at)
      g_string_append_printf (text, "%s%s", lines[from], i + 1 < n ? end : "");
  }
}

static gboolean
is_word (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

/* The first and the end of a number or a name from about @at on. */
static gboolean
find_word (const GString *text, gsize at, gboolean number, gsize *first, gsize *end)
{
  for (gsize i = at; i < text->len; i++) {
    if ((i > 0 && is_word (text->str[i - 1])) || !is_word (text->str[i])
        || (g_ascii_isdigit (text->str[i]) != 0) != number)
      continue;
    for (*first = *end = i; *end < text->len && is_word (text->str[*end]);)
      (*end)++;
    return TRUE;
  }
  return FALSE;
}

static void
change_word (GString *text, gboolean number, GRand *random)
{
  gsize first, end, other, other_end;
  char word[MAX_NAME] = "0";
  if (!find_word (text, below (random, text->len), number, &first, &end))
    return;
  if (number)
    g_snprintf (word, sizeof word, "%" G_GINT64_FORMAT,
                (gint64) mutate_int (random, g_ascii_strtoull (text->str + first, NULL, 10)));
  else if (find_word (text, below (random, text->len), FALSE, &other, &other_end))
    g_strlcpy (word, text->str + other, MIN (sizeof word, other_end - other + 1));
  g_string_erase (text, (gssize) first, (gssize) (end - first));
  g_string_insert (text, (gssize) first, word);
}

static GBytes *
change_code (GBytes *bytes, GRand *random)
{
  gsize length;
  const char *data = g_bytes_get_data (bytes, &length);
  GString *text = g_string_new_len (data, (gssize) length);
  switch (below (random, 5)) {
    case 0:
      change_lines (text, random);
      break;
    case 1:
    case 2:
      change_word (text, TRUE, random);
      break;
    case 3:
      change_word (text, FALSE, random);
      break;
    default:
      if (text->len > 0)
        text->str[below (random, text->len)] = (char) g_rand_int (random);
      break;
  }
  return g_string_free_to_bytes (text);
}

/* Numbers behind the instructions for them, or any byte; parts of it twice, or not at all. */
static GBytes *
change_instructions (GBytes *bytes, GRand *random)
{
  if (g_bytes_get_size (bytes) == 0)
    return g_bytes_ref (bytes);
  gsize length;
  guint8 *data = g_bytes_unref_to_data (g_bytes_ref (bytes), &length);
  gsize at = below (random, length);
  const guint how = below (random, 4), piece = below (random, MIN (length - at, 64));
  if (how < 2) {
    while (at + 5 < length && data[at] != 'K' && data[at] != 'M' && data[at] != 'J')
      at++;
    const gsize width = data[at] == 'K' ? 1 : data[at] == 'M' ? 2 : 4;
    guint64 value = 0;
    if (at + 1 + width <= length) {
      memcpy (&value, data + at + 1, width);
      value = mutate_int (random, value);
      memcpy (data + at + 1, &value, width);
    }
  } else if (how == 2) {
    data[at] = (guint8) g_rand_int (random);
  } else {
    GByteArray *copy = g_byte_array_new ();
    g_byte_array_append (copy, data, (guint) at);
    g_byte_array_append (copy, data + at, below (random, 2) * 2 * piece > 0 ? piece : 0);
    g_byte_array_append (copy, data + at + (below (random, 2) > 0 ? piece : 0),
                         (guint) (length - at) - piece);
    g_free (data);
    return g_byte_array_free_to_bytes (copy);
  }
  return g_bytes_new_take (data, length);
}

/* Elements; fewer of them now and then. */
static GBytes *
change_other (GBytes *bytes, GRand *random)
{
  gsize length;
  guint8 *data = g_bytes_unref_to_data (g_bytes_ref (bytes), &length);
  for (guint i = 0; i < 4 && length > 0; i++)
    data[below (random, length)] = (guint8) g_rand_int (random);
  if (below (random, 4) == 0)
    length = below (random, length);
  return g_bytes_new_take (data, length);
}

/* A pickle, or an archive of torch.save() with one in it. */
static GBytes *
change_pickle (GBytes *bytes, GRand *random)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  TorchscriptParts *parts = mutate_torchscript_split (data, size);
  if (parts == NULL)
    return change_instructions (bytes, random);
  const gboolean pickle = parts->kinds[PICKLE]->len > 0 && below (random, 4) > 0;
  ZipMember *member = &g_array_index (parts->members, ZipMember,
                                      pickle ? g_array_index (parts->kinds[PICKLE], guint, 0)
                                             : below (random, parts->members->len));
  GBytes *before = member->data;
  member->data = pickle ? change_instructions (before, random) : change_other (before, random);
  g_bytes_unref (before);
  GByteArray *out = g_byte_array_new ();
  zip_append (out, (const ZipMember *) (gpointer) parts->members->data, parts->members->len);
  mutate_torchscript_parts_free (parts);
  return g_byte_array_free_to_bytes (out);
}

/* The program of torch.export has sizes of its own. */
static GBytes *
state_range (void)
{
  static const char text[] =
    "[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\nmean=127.5\nstd=127.5\n";
  return g_bytes_new_static (text, strlen (text));
}

static gboolean
is_exported (const TorchscriptParts *parts)
{
  for (guint i = 0; i < parts->members->len; i++)
    if (g_str_has_suffix (g_array_index (parts->members, ZipMember, i).name, ".json"))
      return TRUE;
  return FALSE;
}

static GBytes *
state_shape (GRand *random)
{
  static const char *const shapes[] = { "1,3,64,64", "1,3,160,160", "1,1,28,28", "3,96,96",
                                        "1,3,224,224" };
  const guint which = below (random, 3) > 0 ? 0 : below (random, G_N_ELEMENTS (shapes));
  char *text = g_strdup_printf (
    "[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\nmean=127.5\nstd=127.5\ninput-shape=%s\n",
    shapes[which]);
  return g_bytes_new_take (text, strlen (text));
}

guint8 *
mutate_torchscript (const TorchscriptParts *parts, gsize *size, GRand *random)
{
  static GBytes *(*const changes[N_KINDS]) (
    GBytes * bytes, GRand * random) = { change_code, change_pickle, change_other };
  static const Kind choices[] = { CODE,   CODE,   CODE,   CODE,   CODE,
                                  PICKLE, PICKLE, PICKLE, PICKLE, OTHER };
  g_autoptr (GArray) members = g_array_copy (parts->members);
  g_autoptr (GPtrArray) made = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  const guint n = 1 + below (random, MAX_MUTATIONS);
  for (guint i = 0; i < n; i++) {
    const Kind kind = choices[below (random, G_N_ELEMENTS (choices))];
    if (parts->kinds[kind]->len == 0)
      continue;
    ZipMember *member = &g_array_index (
      members, ZipMember,
      g_array_index (parts->kinds[kind], guint, below (random, parts->kinds[kind]->len)));
    member->data = changes[kind](member->data, random);
    g_ptr_array_add (made, member->data);
  }
  const char *first = g_array_index (members, ZipMember, 0).name, *slash = strchr (first, '/');
  g_autofree char *folder = g_strndup (first, slash != NULL ? (gsize) (slash - first) : 0);
  g_autofree char *name = slash != NULL ? g_strconcat (folder, "/extra/fuzz.modelinfo", NULL)
                                        : g_strdup ("extra_files/fuzz.modelinfo");
  const ZipMember shape = { name, is_exported (parts) ? state_range () : state_shape (random),
                            FALSE };
  g_ptr_array_add (made, shape.data);
  g_array_append_val (members, shape);
  GByteArray *out = g_byte_array_new ();
  zip_append (out, (const ZipMember *) (gpointer) members->data, members->len);
  if (below (random, 10) == 0)
    out->data[below (random, out->len)] = (guint8) g_rand_int (random);
  *size = out->len;
  return g_byte_array_free (out, FALSE);
}
