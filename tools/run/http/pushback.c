/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One thread uses it. Without a call for bytes the base stream is not touched. */
#include "tools/run/http/pushback.h"

#include <string.h>

/* The input: @left bytes from @at on, and then those of @base. */
typedef struct
{
  GInputStream parent;
  GInputStream *base; /* not owned: the whole connection owns it */
  guint8 bytes[SL_PUSHBACK_MOST];
  gsize at, left;
} SlPushbackInput;

typedef GInputStreamClass SlPushbackInputClass;

GType sl_pushback_input_get_type (void);
GType sl_pushback_get_type (void);
static void pollable_init (GPollableInputStreamInterface *interface);

G_DEFINE_TYPE_WITH_CODE (SlPushbackInput, sl_pushback_input, G_TYPE_INPUT_STREAM,
                         G_IMPLEMENT_INTERFACE (G_TYPE_POLLABLE_INPUT_STREAM, pollable_init))

static gssize
take (SlPushbackInput *self, void *buffer, gsize size)
{
  const gsize n = MIN (self->left, size);
  memcpy (buffer, self->bytes + self->at, n);
  self->at += n;
  self->left -= n;
  return (gssize) n;
}

static gssize
input_read (GInputStream *stream, void *buffer, gsize size, GCancellable *cancellable,
            GError **error)
{
  SlPushbackInput *self = (SlPushbackInput *) stream;
  return self->left > 0 ? take (self, buffer, size)
                        : g_input_stream_read (self->base, buffer, size, cancellable, error);
}

static gssize
input_read_nonblocking (GPollableInputStream *stream, void *buffer, gsize size, GError **error)
{
  SlPushbackInput *self = (SlPushbackInput *) stream;
  return self->left > 0 ? take (self, buffer, size)
                        : g_pollable_input_stream_read_nonblocking (
                          G_POLLABLE_INPUT_STREAM (self->base), buffer, size, NULL, error);
}

static gboolean
input_is_readable (GPollableInputStream *stream)
{
  const SlPushbackInput *self = (SlPushbackInput *) stream;
  return self->left > 0
         || g_pollable_input_stream_is_readable (G_POLLABLE_INPUT_STREAM (self->base));
}

static GSource *
input_create_source (GPollableInputStream *stream, GCancellable *cancellable)
{
  const SlPushbackInput *self = (SlPushbackInput *) stream;
  g_autoptr (GSource) ready =
    self->left > 0
      ? g_timeout_source_new (0)
      : g_pollable_input_stream_create_source (G_POLLABLE_INPUT_STREAM (self->base), NULL);
  return g_pollable_source_new_full (stream, ready, cancellable);
}

static void
pollable_init (GPollableInputStreamInterface *interface)
{
  interface->read_nonblocking = input_read_nonblocking;
  interface->is_readable = input_is_readable;
  interface->create_source = input_create_source;
}

static void
sl_pushback_input_class_init (SlPushbackInputClass *klass)
{
  klass->read_fn = input_read;
}

static void
sl_pushback_input_init (SlPushbackInput *self)
{
}

typedef struct
{
  GIOStream parent;
  GIOStream *base;
  SlPushbackInput *input;
} SlPushback;

typedef GIOStreamClass SlPushbackClass;

G_DEFINE_TYPE (SlPushback, sl_pushback, G_TYPE_IO_STREAM)

static GInputStream *
get_input (GIOStream *stream)
{
  return &((SlPushback *) stream)->input->parent;
}

static GOutputStream *
get_output (GIOStream *stream)
{
  return g_io_stream_get_output_stream (((SlPushback *) stream)->base);
}

static gboolean
close_base (GIOStream *stream, GCancellable *cancellable, GError **error)
{
  return g_io_stream_close (((SlPushback *) stream)->base, cancellable, error);
}

static void
finalize (GObject *object)
{
  SlPushback *self = (SlPushback *) object;
  g_object_unref (self->input);
  g_object_unref (self->base);
  G_OBJECT_CLASS (sl_pushback_parent_class)->finalize (object);
}

static void
sl_pushback_class_init (SlPushbackClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = finalize;
  klass->get_input_stream = get_input;
  klass->get_output_stream = get_output;
  klass->close_fn = close_base;
}

static void
sl_pushback_init (SlPushback *self)
{
}

GIOStream *
sl_pushback_new (GIOStream *base, const void *bytes, gsize n)
{
  g_return_val_if_fail (n <= SL_PUSHBACK_MOST, NULL);
  SlPushback *self = g_object_new (sl_pushback_get_type (), NULL);
  self->base = g_object_ref (base);
  self->input = g_object_new (sl_pushback_input_get_type (), NULL);
  self->input->base = g_io_stream_get_input_stream (base);
  memcpy (self->input->bytes, bytes, n);
  self->input->left = n;
  return &self->parent;
}
