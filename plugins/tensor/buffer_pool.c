/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pool of tensor buffers. Alignment and padding are enforced here, whatever the configuration
 * says, so that a buffer from this pool never has to be copied before the model runs.
 */
#include "plugins/tensor/buffer_pool.h"

#define SL_TYPE_TENSOR_POOL (sl_tensor_pool_get_type ())
G_DECLARE_FINAL_TYPE (SlTensorPool, sl_tensor_pool, SL, TENSOR_POOL, GstBufferPool)

struct _SlTensorPool
{
  GstBufferPool parent;
  guint n;
  gsize bytes[SL_MAX_IO];
  guint size; /* of all tensors of one buffer, padding not counted */
  GstAllocator *allocator;
  GstAllocationParams params;
};

static GstBufferPoolClass *parent_class;

/* Raises @params to the alignment and padding of tensor memory. */
static void
raise_params (GstAllocationParams *params)
{
  params->align |= SL_TENSOR_ALIGN - 1;
  params->padding = MAX (params->padding, SL_TENSOR_PADDING);
  params->flags |=
    GST_MEMORY_FLAG_ZERO_PADDED; /* XNNPACK reads it, if only to multiply it by zero */
}

static gboolean
sl_tensor_pool_set_config (GstBufferPool *pool, GstStructure *config)
{
  SlTensorPool *self = SL_TENSOR_POOL (pool);
  GstAllocator *allocator = NULL;
  GstAllocationParams params;
  if (!gst_buffer_pool_config_get_allocator (config, &allocator, &params))
    gst_allocation_params_init (&params);
  raise_params (&params);
  self->params = params;
  gst_object_replace ((GstObject **) &self->allocator, (GstObject *) allocator);
  gst_buffer_pool_config_set_allocator (config, allocator, &params);
  return parent_class->set_config (pool, config);
}

static GstFlowReturn
sl_tensor_pool_alloc_buffer (GstBufferPool *pool, GstBuffer **buffer,
                             GstBufferPoolAcquireParams *acquire)
{
  SlTensorPool *self = SL_TENSOR_POOL (pool);
  GstBuffer *fresh = gst_buffer_new ();
  for (guint i = 0; i < self->n; i++) {
    GstMemory *memory = gst_allocator_alloc (self->allocator, self->bytes[i], &self->params);
    if (memory == NULL) {
      gst_buffer_unref (fresh);
      return GST_FLOW_ERROR;
    }
    gst_buffer_append_memory (fresh, memory);
  }
  *buffer = fresh;
  return GST_FLOW_OK;
}

static void
sl_tensor_pool_finalize (GObject *object)
{
  SlTensorPool *self = SL_TENSOR_POOL (object);
  gst_clear_object (&self->allocator);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
sl_tensor_pool_class_init (gpointer klass, gpointer unused)
{
  GstBufferPoolClass *pool_class = GST_BUFFER_POOL_CLASS (klass);
  parent_class = g_type_class_peek_parent (klass);
  G_OBJECT_CLASS (klass)->finalize = sl_tensor_pool_finalize;
  pool_class->set_config = sl_tensor_pool_set_config;
  pool_class->alloc_buffer = sl_tensor_pool_alloc_buffer;
}

static void
sl_tensor_pool_init (GTypeInstance *instance, gpointer klass)
{
  SlTensorPool *self = (SlTensorPool *) instance;
  gst_allocation_params_init (&self->params);
  raise_params (&self->params);
}

/* More than one plugin file has this code, and each copy its own type: two of a name cannot be
 * registered in one process. */
GType
sl_tensor_pool_get_type (void)
{
  static GType type = 0;
  if (g_once_init_enter (&type)) {
    g_autofree char *name = g_strdup_printf ("SlTensorPool-%p", (void *) &type);
    g_once_init_leave (
      &type, g_type_register_static_simple (GST_TYPE_BUFFER_POOL, g_intern_string (name),
                                            sizeof (SlTensorPoolClass), sl_tensor_pool_class_init,
                                            sizeof (SlTensorPool), sl_tensor_pool_init, 0));
  }
  return type;
}

static SlTensorPool *
new_pool (const SlTensorInfo *tensors, guint n)
{
  g_return_val_if_fail (n >= 1 && n <= SL_MAX_IO, NULL);
  SlTensorPool *self = gst_object_ref_sink (g_object_new (SL_TYPE_TENSOR_POOL, NULL));
  gsize size = 0;
  self->n = n;
  for (guint i = 0; i < n; i++) {
    self->bytes[i] = tensors[i].bytes;
    size += tensors[i].bytes;
  }
  self->size = (guint) MIN (size, G_MAXUINT);
  return self;
}

void
sl_tensor_pool_offer (GstQuery *query, const SlTensorInfo *tensors, guint n, guint min)
{
  GstAllocator *allocator = NULL;
  GstAllocationParams params;
  gst_allocation_params_init (&params);
  if (gst_query_get_n_allocation_params (query) > 0) {
    gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
    raise_params (&params);
    gst_query_set_nth_allocation_param (query, 0, allocator, &params);
  } else {
    raise_params (&params);
    gst_query_add_allocation_param (query, NULL, &params);
  }
  if (gst_query_get_n_allocation_pools (query) == 0) {
    GstCaps *caps = NULL;
    gst_query_parse_allocation (query, &caps, NULL);
    SlTensorPool *own = new_pool (tensors, n);
    GstBufferPool *pool = GST_BUFFER_POOL (own);
    GstStructure *config = gst_buffer_pool_get_config (pool);
    gst_buffer_pool_config_set_params (config, caps, own->size, min, 0);
    gst_buffer_pool_config_set_allocator (config, allocator, &params);
    if (gst_buffer_pool_set_config (pool, config))
      gst_query_add_allocation_pool (query, pool, own->size, min, 0);
    gst_object_unref (pool);
  }
  gst_clear_object (&allocator);
}

void
sl_tensor_pool_replace (GstQuery *query, const SlTensorInfo *tensors, guint n, guint min)
{
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  while (gst_query_get_n_allocation_params (query) > 0)
    gst_query_remove_nth_allocation_param (query, 0);
  sl_tensor_pool_offer (query, tensors, n, min);
}
