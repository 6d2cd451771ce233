/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk follows a schema of its own, written from the format's public description, and is
 * bounded by the file and by MAX_SITES. It trusts the files it starts from only so far that no
 * access leaves them. Union members (options of operators) are walked without a schema: every field
 * is a number as wide as the space before the next one.
 */
#include "tests/fuzz/mutate.h"

#include <math.h>
#include <string.h>

#include "core/base/byte_order.h"

#define MAX_SITES 400000
#define MAX_FIELDS 64
/* Text and custom options change within so many bytes. */
#define MAX_TEXT 4096

typedef enum
{
  END,
  INT8,
  INT32,
  INT64,
  UNION_TABLE, /* a table of numbers */
  TABLE,       /* of @schema */
  TABLES,      /* a vector of tables of @schema */
  INDICES,     /* a vector of int32 that are indices */
  INTS,        /* a vector of int32 */
  LONGS,       /* a vector of int64 */
  FLOATS,      /* a vector of float32 */
  TEXT,        /* a string or a vector of bytes */
  INDEX,       /* one uint32 that is an index */
} FieldType;

typedef struct _Schema Schema;
typedef struct
{
  guint number;
  FieldType type;
  const Schema *schema;
} Field;
struct _Schema
{
  Field fields[12];
};

static const Schema operator_code = {
  { { 0, INT8 }, { 1, TEXT }, { 2, INT32 }, { 3, INT32 }, { 0, END } }
};
static const Schema quantisation = { { { 0, FLOATS },
                                       { 1, FLOATS },
                                       { 2, FLOATS },
                                       { 3, LONGS },
                                       { 4, INT8 },
                                       { 6, INT32 },
                                       { 0, END } } };
static const Schema tensor = { { { 0, INTS },
                                 { 1, INT8 },
                                 { 2, INDEX },
                                 { 3, TEXT },
                                 { 4, TABLE, &quantisation },
                                 { 5, INT8 },
                                 { 7, INTS },
                                 { 0, END } } };
static const Schema operation = { { { 0, INDEX },
                                    { 1, INDICES },
                                    { 2, INDICES },
                                    { 3, INT8 },
                                    { 4, UNION_TABLE },
                                    { 5, TEXT },
                                    { 6, INT8 },
                                    { 8, INDICES },
                                    { 0, END } } };
static const Schema subgraph = { { { 0, TABLES, &tensor },
                                   { 1, INDICES },
                                   { 2, INDICES },
                                   { 3, TABLES, &operation },
                                   { 4, TEXT },
                                   { 0, END } } };
static const Schema buffer = { { { 0, TEXT }, { 1, INT64 }, { 2, INT64 }, { 0, END } } };
static const Schema metadata = { { { 0, TEXT }, { 1, INDEX }, { 0, END } } };
static const Schema model = { { { 0, INT32 },
                                { 1, TABLES, &operator_code },
                                { 2, TABLES, &subgraph },
                                { 3, TEXT },
                                { 4, TABLES, &buffer },
                                { 5, INDICES },
                                { 6, TABLES, &metadata },
                                { 0, END } } };

typedef struct
{
  const guint8 *data;
  gsize size;
  GArray *sites;
} Walk;

static void walk_table (Walk *walk, gsize at, const Schema *schema);

static gboolean
inside (const Walk *walk, gsize at, gsize bytes)
{
  return at <= walk->size && bytes <= walk->size - at && walk->sites->len < MAX_SITES;
}

static guint32
read_u32 (const Walk *walk, gsize at)
{
  return sl_le32 (walk->data + at);
}

static guint
read_u16 (const Walk *walk, gsize at)
{
  return sl_le16 (walk->data + at);
}

static void
add_site (Walk *walk, SiteKind kind, gsize at, gsize width)
{
  if (inside (walk, at, width) && width > 0)
    g_array_append_val (walk->sites, ((Site){ kind, (guint) at, (guint) width }));
}

/* follow: the place that the offset at @at points to, 0 when it points outside. */
static gsize
follow (Walk *walk, gsize at)
{
  if (!inside (walk, at, 4))
    return 0;
  const gsize to = at + read_u32 (walk, at);
  return inside (walk, to, 4) ? to : 0;
}

static void
walk_vector (Walk *walk, gsize at, FieldType type, const Schema *schema)
{
  static const struct
  {
    SiteKind kind;
    guint width;
  } elements[] = { [INDICES] = { SITE_INDEX, 4 },
                   [INTS] = { SITE_INT, 4 },
                   [LONGS] = { SITE_INT, 8 },
                   [FLOATS] = { SITE_FLOAT, 4 } };
  const guint32 count = read_u32 (walk, at);
  add_site (walk, SITE_LENGTH, at, 4);
  if (type == TEXT) {
    add_site (walk, SITE_BYTES, at + 4, MIN (count, MAX_TEXT));
    return;
  }
  for (guint32 i = 0; i < count && inside (walk, at + 4 + (gsize) i * 4, 4); i++) {
    if (type != TABLES) {
      add_site (walk, elements[type].kind, at + 4 + (gsize) i * elements[type].width,
                elements[type].width);
      continue;
    }
    const gsize table = follow (walk, at + 4 + (gsize) i * 4);
    add_site (walk, SITE_OFFSET, at + 4 + (gsize) i * 4, 4);
    if (table > 0)
      walk_table (walk, table, schema);
  }
}

static void
walk_field (Walk *walk, gsize at, const Field *field)
{
  switch (field->type) {
    case INT8:
      add_site (walk, SITE_INT, at, 1);
      return;
    case INT32:
      add_site (walk, SITE_INT, at, 4);
      return;
    case INT64:
      add_site (walk, SITE_INT, at, 8);
      return;
    case INDEX:
      add_site (walk, SITE_INDEX, at, 4);
      return;
    default:
      break;
  }
  const gsize to = follow (walk, at);
  add_site (walk, SITE_OFFSET, at, 4);
  if (to == 0)
    return;
  if (field->type == TABLE || field->type == UNION_TABLE)
    walk_table (walk, to, field->schema);
  else
    walk_vector (walk, to, field->type, field->schema);
}

/* walk_options: fields of a table without a schema, each as wide as the distance to the next one
 * allows. */
static void
walk_options (Walk *walk, gsize table, const guint *fields, guint n_fields, guint table_size)
{
  for (guint i = 0; i < n_fields; i++) {
    guint next = table_size;
    for (guint k = 0; k < n_fields; k++)
      if (fields[k] > fields[i])
        next = MIN (next, fields[k]);
    const guint space = next > fields[i] ? next - fields[i] : 0;
    const guint width = space >= 8 ? 8 : space >= 4 ? 4 : space >= 2 ? 2 : 1;
    if (fields[i] != 0)
      add_site (walk, width == 4 && i % 2 == 1 ? SITE_FLOAT : SITE_INT, table + fields[i], width);
  }
}

static void
walk_table (Walk *walk, gsize at, const Schema *schema)
{
  const gint64 vtable = (gint64) at - (gint32) read_u32 (walk, at);
  if (vtable < 0 || !inside (walk, (gsize) vtable, 4))
    return;
  const guint bytes = read_u16 (walk, (gsize) vtable),
              table_size = read_u16 (walk, (gsize) vtable + 2);
  const guint n_fields = MIN (bytes / 2, MAX_FIELDS + 2) - MIN (bytes / 2, 2);
  guint fields[MAX_FIELDS] = { 0 };
  if (!inside (walk, (gsize) vtable, bytes))
    return;
  add_site (walk, SITE_INT, at, 4);
  for (guint i = 0; i < n_fields; i++) {
    fields[i] = read_u16 (walk, (gsize) vtable + 4 + i * 2);
    add_site (walk, SITE_VTABLE, (gsize) vtable + 4 + i * 2, 2);
  }
  if (schema == NULL) {
    walk_options (walk, at, fields, n_fields, table_size);
    return;
  }
  for (const Field *field = schema->fields; field->type != END; field++)
    if (field->number < n_fields && fields[field->number] != 0)
      walk_field (walk, at + fields[field->number], field);
}

GArray *
mutate_find_sites (const guint8 *data, gsize size)
{
  Walk walk = { data, size, g_array_new (FALSE, FALSE, sizeof (Site)) };
  if (size < 8 || size > G_MAXUINT32 || memcmp (data + 4, "TFL3", 4) != 0)
    return walk.sites;
  const gsize root = follow (&walk, 0);
  add_site (&walk, SITE_OFFSET, 0, 4);
  if (root > 0)
    walk_table (&walk, root, &model);
  return walk.sites;
}

guint64
mutate_int (GRand *random, guint64 old)
{
  static const gint64 values[] = {
    0,    1,     2,          3,          4,           5,          7,         8,       16,
    31,   32,    64,         127,        128,         255,        256,       257,     1000,
    1024, 32767, 32768,      65535,      65536,       1 << 20,    1 << 24,   1 << 30, -1,
    -2,   -128,  G_MAXINT32, G_MININT32, G_MAXUINT32, G_MAXINT64, G_MININT64
  };
  switch (g_rand_int_range (random, 0, 6)) {
    case 0:
      return old + 1;
    case 1:
      return old - 1;
    case 2:
      return old * 2;
    case 3:
      return g_rand_int (random) % 160;
    case 4:
      return old ^ (G_GUINT64_CONSTANT (1) << g_rand_int_range (random, 0, 32));
    default:
      return (guint64) values[g_rand_int_range (random, 0, G_N_ELEMENTS (values))];
  }
}

guint32
mutate_float (GRand *random, guint32 old)
{
  const gfloat values[] = { 0.f,    -0.f,  1.f,    -1.f, INFINITY, -INFINITY, NAN, 1e-45f,
                            1e-38f, 3e38f, -3e38f, 0.5f, 1e-9f,    65504.f,   1e9f };
  guint32 bits;
  gfloat value;
  memcpy (&value, &old, sizeof value);
  if (g_rand_boolean (random))
    value *= (gfloat) g_rand_double_range (random, -4, 4);
  else
    value = values[g_rand_int_range (random, 0, G_N_ELEMENTS (values))];
  memcpy (&bits, &value, sizeof bits);
  return g_rand_int_range (random, 0, 8) == 0 ? g_rand_int (random) : bits;
}

/* any_site: what holds the file together (offsets, vtables) comes up less often than its number of
 * sites, since few such mutants load. */
static const Site *
any_site (const GArray *sites, GRand *random)
{
  for (guint tries = 0;; tries++) {
    const Site *site =
      &g_array_index (sites, Site, g_rand_int_range (random, 0, (gint32) sites->len));
    if (tries == 3
        || (site->kind != SITE_OFFSET && site->kind != SITE_VTABLE && site->kind != SITE_LENGTH))
      return site;
  }
}

/* same_kind: another site of @site's kind, or @site when chance finds none. */
static const Site *
same_kind (const GArray *sites, const Site *site, GRand *random)
{
  for (guint i = 0; i < 64; i++) {
    const Site *other =
      &g_array_index (sites, Site, g_rand_int_range (random, 0, (gint32) sites->len));
    if (other->kind == site->kind && other->width == site->width)
      return other;
  }
  return site;
}

static guint64
load (const guint8 *data, const Site *site)
{
  guint64 value = 0;
  memcpy (&value, data + site->at,
          site->width); /* little-endian, as the file and the machines that this runs on */
  return value;
}

static void
mutate_site (guint8 *data, const Site *site, const GArray *sites, GRand *random)
{
  if (site->kind == SITE_BYTES) {
    for (gint n = g_rand_int_range (random, 1, 5); n > 0; n--)
      data[site->at + (guint) g_rand_int_range (random, 0, (gint32) site->width)] =
        (guint8) g_rand_int (random);
    return;
  }
  const guint64 old = load (data, site);
  const Site *other = same_kind (sites, site, random);
  guint64 value = mutate_int (random, old);
  if (site->kind == SITE_FLOAT && site->width == 4)
    value = mutate_float (random, (guint32) old);
  else if (site->kind == SITE_OFFSET && g_rand_int_range (random, 0, 4) > 0)
    value =
      (guint32) load (data, other) + other->at - site->at; /* points where another offset does */
  else if (g_rand_int_range (random, 0, 3) == 0)
    value = load (data, other);
  memcpy (data + site->at, &value, site->width);
}

gsize
mutate (guint8 *data, gsize size, const GArray *sites, GRand *random)
{
  for (gint n = MAX (1, g_rand_int_range (random, -2, 4)); n > 0; n--) {
    const gint what = g_rand_int_range (random, 0, 100);
    if (what < 90 && sites->len > 0)
      mutate_site (data, any_site (sites, random), sites, random);
    else if (what < 99)
      data[g_rand_int (random) % size] = (guint8) g_rand_int (random);
    else
      return g_rand_int (random) % (size + 1);
  }
  return size;
}
