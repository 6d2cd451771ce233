/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An anonymous mapping for each constant. The lock is recursive, since a constant can be made of
 * another. */
#include "core/graph/made_constants.h"

#include <sys/mman.h>

#include "core/base/fail.h"
#include "core/base/pages.h"
#include "core/graph/product.h"
#include "core/graph/tensor.h"

/* Constants that are made of each other and may all go: making the last again makes all. */
#define MAX_DEPTH 8
/* How often a constant is made again before it stays until the last user is done: a file may have
 * thousands of nodes that read it, one after the other. */
#define MAX_AGAIN 4

typedef struct
{
  guint8 *memory;
  gsize bytes, mapped;
  SlMakeFunc make;
  gpointer data;
  GDestroyNotify destroy;
  GArray *products; /* (nullable): of SlProduct */
  SlMadeOf of;      /* of sl_made_constants_add_later() */
  gboolean kept, spare, gone, pending;
  guint depth; /* of what it is made of and may go, too */
  guint again; /* how often it was made again since the first user came */
} Constant;

struct _SlMadeConstants
{
  GRecMutex lock;
  guint users;    /* lock */
  GPtrArray *all; /* lock: of Constant, by address */
};

static void
constant_free (gpointer data)
{
  Constant *constant = data;
  sl_pages_free (constant->memory, constant->mapped);
  if (constant->destroy != NULL)
    constant->destroy (constant->data);
  if (constant->products != NULL)
    g_array_unref (constant->products);
  g_free (constant);
}

SlMadeConstants *
sl_made_constants_new (void)
{
  SlMadeConstants *made = g_new0 (SlMadeConstants, 1);
  g_rec_mutex_init (&made->lock);
  made->all = g_ptr_array_new_with_free_func (constant_free);
  return made;
}

void
sl_made_constants_free (SlMadeConstants *made)
{
  g_ptr_array_unref (made->all);
  g_rec_mutex_clear (&made->lock);
  g_free (made);
}

static gboolean
allocate (Constant *constant, GError **error)
{
  constant->mapped = sl_pages_round (constant->bytes + SL_TENSOR_PADDING);
  constant->memory = sl_pages_new (constant->mapped);
  return constant->memory != NULL
         || sl_fail (error, SL_ERROR_LIMIT, "no memory for a constant of %" G_GSIZE_FORMAT " bytes",
                     constant->bytes);
}

static void
multiply (const Constant *constant, guint product)
{
  sl_product_apply (&g_array_index (constant->products, SlProduct, product),
                    (gfloat *) (gpointer) constant->memory, 0, constant->bytes / sizeof (gfloat));
}

/* With the lock: how many begin at or before @data. */
static guint
place_of (const SlMadeConstants *made, const void *data)
{
  guint first = 0, end = made->all->len;
  while (first < end) {
    const guint middle = first + (end - first) / 2;
    const Constant *constant = g_ptr_array_index (made->all, middle);
    if ((guintptr) constant->memory <= (guintptr) data)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

/* With the lock. */
static Constant *
find (const SlMadeConstants *made, const void *data)
{
  const guint place = place_of (made, data);
  Constant *constant = place > 0 ? g_ptr_array_index (made->all, place - 1) : NULL;
  return constant != NULL && (guintptr) data - (guintptr) constant->memory < constant->bytes
           ? constant
           : NULL;
}

/* @of: (nullable): of a constant that is made later. */
static void *
add (SlMadeConstants *made, gsize bytes, const SlMadeOf *of, SlMakeFunc make, gpointer data,
     GDestroyNotify destroy, GError **error)
{
  Constant *constant = g_new0 (Constant, 1);
  constant->bytes = bytes;
  constant->make = make;
  constant->data = data;
  constant->destroy = destroy;
  if (of != NULL) {
    constant->of = *of;
    constant->gone = constant->pending = TRUE;
  }
  if (!allocate (constant, error)) {
    constant_free (constant);
    return NULL;
  }
  if (of == NULL)
    sl_pages_fill (constant->memory, constant->mapped);
  if (of == NULL && !make (constant->memory, data, error)) {
    constant_free (constant);
    return NULL;
  }
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  g_ptr_array_insert (made->all, (gint) place_of (made, constant->memory), constant);
  return constant->memory;
}

void *
sl_made_constants_add (SlMadeConstants *made, gsize bytes, SlMakeFunc make, gpointer data,
                       GDestroyNotify destroy, GError **error)
{
  return add (made, bytes, NULL, make, data, destroy, error);
}

void *
sl_made_constants_add_later (SlMadeConstants *made, gsize bytes, const SlMadeOf *of,
                             SlMakeFunc make, gpointer data, GDestroyNotify destroy, GError **error)
{
  return add (made, bytes, of, make, data, destroy, error);
}

/* (nullable): of the columns of the matrix whose transpose it will be, or of its rows. */
static const gfloat *
factors_of (const Constant *constant)
{
  return constant->products != NULL ? g_array_index (constant->products, SlProduct, 0).by : NULL;
}

/* Whether its values will be those of what it is made of, but for a factor for each column
 * or row. */
static gboolean
is_simple (const Constant *constant)
{
  if (constant->products == NULL)
    return TRUE;
  const SlProduct *product = &g_array_index (constant->products, SlProduct, 0);
  const SlFewBits *few_bits = constant->of.few_bits;
  const gsize window = few_bits != NULL ? few_bits->columns : constant->of.rows,
              n = few_bits != NULL ? few_bits->rows : constant->of.columns;
  return constant->products->len == 1 && window > 0 && product->window == window && product->n == n;
}

gboolean
sl_made_constants_of (SlMadeConstants *made, const void *data, gboolean pending, SlMadeOf *of)
{
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  const Constant *constant = find (made, data);
  if (constant == NULL || constant->of.data == NULL || data != constant->memory
      || (pending && (!constant->pending || !is_simple (constant))))
    return FALSE;
  *of = constant->of;
  of->by = pending ? factors_of (constant) : NULL;
  return TRUE;
}

gboolean
sl_made_constants_is_pending (SlMadeConstants *made, const void *data)
{
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  const Constant *constant = find (made, data);
  return constant != NULL && constant->pending;
}

void
sl_made_constants_derive (SlMadeConstants *made, const void *data, const void *source)
{
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  Constant *constant = find (made, data), *from = find (made, source);
  if (constant == NULL || from == NULL || from->kept)
    return;
  constant->depth = MAX (constant->depth, from->depth + 1);
  constant->kept |= constant->depth > MAX_DEPTH;
}

gboolean
sl_made_constants_holds (SlMadeConstants *made, const void *data)
{
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  return find (made, data) != NULL;
}

gboolean
sl_made_constants_multiply (SlMadeConstants *made, const gfloat *data, const gfloat *by, gsize n_by,
                            gsize window)
{
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  Constant *constant = find (made, data);
  if (constant == NULL || (const guint8 *) data != constant->memory
      || (constant->gone && !constant->pending))
    return FALSE;
  if (constant->products == NULL)
    constant->products = sl_products_new ();
  sl_products_add (constant->products, 0, constant->bytes / sizeof *data, by, n_by, window);
  if (!constant->pending)
    multiply (constant, constant->products->len - 1);
  return TRUE;
}

void
sl_made_constants_use (SlMadeConstants *made)
{
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  made->users++;
}

/* With the lock, and no other user. */
static void
give_back (Constant *constant)
{
  if (constant->spare && !constant->kept && !constant->gone && constant->again < MAX_AGAIN)
    constant->gone = madvise (constant->memory, constant->mapped, MADV_DONTNEED) == 0;
}

void
sl_made_constants_done (SlMadeConstants *made)
{
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  made->users--;
  for (guint i = 0; i < made->all->len && made->users == 0; i++) {
    Constant *constant = g_ptr_array_index (made->all, i);
    constant->again = 0;
    give_back (constant);
  }
}

gboolean
sl_made_constants_is_there (SlMadeConstants *made, const void *data)
{
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  const Constant *constant = find (made, data);
  return constant == NULL || !constant->gone;
}

gboolean
sl_made_constants_need (SlMadeConstants *made, const void *data, GError **error)
{
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  Constant *constant = find (made, data);
  if (constant == NULL)
    return TRUE;
  constant->spare = FALSE;
  if (!constant->gone)
    return TRUE;
  constant->again += constant->pending ? 0 : 1;
  if (!constant->make (constant->memory, constant->data, error))
    return FALSE;
  for (guint i = 0; constant->products != NULL && i < constant->products->len; i++)
    multiply (constant, i);
  constant->gone = constant->pending = FALSE;
  return TRUE;
}

void
sl_made_constants_keep (SlMadeConstants *made, const void *data)
{
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  Constant *constant = find (made, data);
  if (constant != NULL)
    constant->kept = TRUE;
}

void
sl_made_constants_spare (SlMadeConstants *made, const void *data)
{
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  Constant *constant = find (made, data);
  if (constant == NULL)
    return;
  constant->spare = TRUE;
  if (made->users == 1)
    give_back (constant);
}

gsize
sl_made_constants_resident (SlMadeConstants *made)
{
  gsize bytes = 0;
  g_autoptr (GRecMutexLocker) locker G_GNUC_UNUSED = g_rec_mutex_locker_new (&made->lock);
  for (guint i = 0; i < made->all->len; i++) {
    const Constant *constant = g_ptr_array_index (made->all, i);
    bytes += constant->gone ? 0 : constant->mapped;
  }
  return bytes;
}
