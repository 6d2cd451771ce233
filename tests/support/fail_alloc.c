/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See fail_alloc.h. While it looks at the stack, a thread's own allocations pass uncounted. */
/* mmap() and mmap64() are defined below under these names. */
#undef _FILE_OFFSET_BITS

#include "tests/support/fail_alloc.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/support/sanitized.h"

#if defined(__GLIBC__) && !defined(TEST_ADDRESS_SANITIZER) && !defined(TEST_THREAD_SANITIZER)
#include <dlfcn.h>
#include <execinfo.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

/* Frames between an allocation and who wanted it, at most. */
#define DEPTH 24
/* Frames above that by which places are told apart. */
#define CALLERS 8

extern void *__libc_malloc (size_t bytes);
extern void *__libc_calloc (size_t n, size_t bytes);
extern void *__libc_realloc (void *memory, size_t bytes);
extern void *__libc_memalign (size_t alignment, size_t bytes);

static int armed;       /* atomic */
static uint64_t wanted; /* while armed: the rest */
static size_t least_bytes;
static uint64_t count; /* atomic */
static int has_failed; /* atomic */
static guint32 *all_sites;
static size_t n_sites;
static __thread int looking __attribute__ ((tls_model ("initial-exec")));

typedef struct
{
  uintptr_t caller;
  int depth, callers;
  gboolean begun, ours, direct;
  guint32 site;
} Walk;

typedef enum
{
  OBJECT_OURS,
  OBJECT_BETWEEN, /* GLib, the C library: asks for others */
  OBJECT_FOREIGN
} Object;

static Object
kind_of_object (const Dl_info *info)
{
  static const char *const between[] = { "libc.so",        "libc-",          "libglib-2.0",
                                         "libgobject-2.0", "libgthread-2.0", "ld-linux" };
  const char *slash = strrchr (info->dli_fname, '/');
  const char *name = slash != NULL ? slash + 1 : info->dli_fname;
  static const void *own;
  Dl_info self;
  if (own == NULL && dladdr ((void *) kind_of_object, &self) != 0)
    own = self.dli_fbase;
  if (info->dli_fbase == own)
    return OBJECT_OURS;
  if (strstr (name, "sightline") != NULL)
    return OBJECT_OURS;
  for (size_t i = 0; i < sizeof between / sizeof between[0]; i++)
    if (strncmp (name, between[i], strlen (between[i])) == 0)
      return OBJECT_BETWEEN;
  return OBJECT_FOREIGN;
}

/* It holds a lock that GLib's abort waits for. */
static gboolean
is_spared (const Dl_info *info)
{
  return info->dli_sname != NULL && strcmp (info->dli_sname, "g_once_init_enter") == 0;
}

/* To whom the code before @at belongs; asked often, so what is known is kept: the address and, in
 * two bits, the answer. */
static Object
kind_of (uintptr_t at)
{
  static uint64_t known[4096];
  uint64_t *place = &known[(at >> 2) % (sizeof known / sizeof known[0])];
  const uint64_t entry = __atomic_load_n (place, __ATOMIC_RELAXED);
  Dl_info info;
  if (entry >> 2 == at)
    return (Object) (entry & 3);
  const gboolean known_object = dladdr ((void *) (at - 1), &info) != 0;
  const Object kind = known_object && !is_spared (&info) ? kind_of_object (&info) : OBJECT_FOREIGN;
  __atomic_store_n (place, (uint64_t) at << 2 | kind, __ATOMIC_RELAXED);
  return kind;
}

/* Frames inside of this file, before the caller's, are passed over. */
static _Unwind_Reason_Code
step (struct _Unwind_Context *context, void *data)
{
  Walk *walk = data;
  const uintptr_t at = _Unwind_GetIP (context);
  walk->begun = walk->begun || at == walk->caller;
  if (!walk->begun)
    return _URC_NO_REASON;
  if (++walk->depth > DEPTH || at == 0)
    return _URC_END_OF_STACK;
  walk->site = walk->site * 31 + (guint32) at;
  if (walk->ours)
    return ++walk->callers < CALLERS ? _URC_NO_REASON : _URC_END_OF_STACK;
  const Object kind = kind_of (at);
  walk->ours = kind == OBJECT_OURS;
  walk->direct = walk->ours && walk->depth == 1;
  return kind == OBJECT_FOREIGN ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* Where memory ended, on standard error. */
static void
tell (void)
{
  static const char text[] = "fail_alloc: an allocation failed:\n";
  void *stack[DEPTH];
  looking = 1;
  if (write (STDERR_FILENO, text, sizeof text - 1) > 0)
    backtrace_symbols_fd (stack, backtrace (stack, DEPTH), STDERR_FILENO);
  looking = 0;
}

/* Whether this allocation is to fail. */
static gboolean
fails (size_t bytes, void *caller)
{
  if (!__atomic_load_n (&armed, __ATOMIC_ACQUIRE) || looking || bytes < least_bytes)
    return FALSE;
  Walk walk = { .caller = (uintptr_t) caller };
  looking = 1;
  if (kind_of (walk.caller) != OBJECT_FOREIGN)
    _Unwind_Backtrace (step, &walk);
  looking = 0;
  if (!walk.ours)
    return FALSE;
  const uint64_t mine = __atomic_add_fetch (&count, 1, __ATOMIC_RELAXED);
  if (mine <= n_sites)
    all_sites[mine - 1] = walk.direct ? walk.site | SL_FAIL_DIRECT : walk.site & ~SL_FAIL_DIRECT;
  if (mine != wanted)
    return FALSE;
  __atomic_store_n (&has_failed, 1, __ATOMIC_RELAXED);
  tell ();
  errno = ENOMEM;
  return TRUE;
}

#define CALLER __builtin_extract_return_addr (__builtin_return_address (0))

void *
malloc (size_t bytes)
{
  return fails (bytes, CALLER) ? NULL : __libc_malloc (bytes);
}

void *
calloc (size_t n, size_t bytes)
{
  return fails (n * bytes, CALLER) ? NULL : __libc_calloc (n, bytes);
}

void *
realloc (void *memory, size_t bytes)
{
  return fails (bytes, CALLER) ? NULL : __libc_realloc (memory, bytes);
}

void *
aligned_alloc (size_t alignment, size_t bytes)
{
  return fails (bytes, CALLER) ? NULL : __libc_memalign (alignment, bytes);
}

int
posix_memalign (void **memory, size_t alignment, size_t bytes)
{
  if (fails (bytes, CALLER))
    return ENOMEM;
  *memory = __libc_memalign (alignment, bytes);
  return *memory != NULL ? 0 : ENOMEM;
}

#if defined(__LP64__) && defined(SYS_mmap)
static void *
map (void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
  return (void *) syscall (SYS_mmap, address, bytes, protection, flags, fd, offset);
}

void *
mmap (void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
  return (flags & MAP_ANONYMOUS) != 0 && fails (bytes, CALLER)
           ? MAP_FAILED
           : map (address, bytes, protection, flags, fd, offset);
}

void *
mmap64 (void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
  return (flags & MAP_ANONYMOUS) != 0 && fails (bytes, CALLER)
           ? MAP_FAILED
           : map (address, bytes, protection, flags, fd, offset);
}
#endif

gboolean
sl_fail_alloc_works (void)
{
  return TRUE;
}

void
sl_fail_alloc_arm (guint64 at, gsize least, guint32 *sites, gsize n)
{
  wanted = at;
  least_bytes = least;
  all_sites = sites;
  n_sites = sites != NULL ? n : 0;
  __atomic_store_n (&count, 0, __ATOMIC_RELAXED);
  __atomic_store_n (&has_failed, 0, __ATOMIC_RELAXED);
  __atomic_store_n (&armed, 1, __ATOMIC_RELEASE);
}

guint64
sl_fail_alloc_disarm (gboolean *failed)
{
  __atomic_store_n (&armed, 0, __ATOMIC_RELEASE);
  if (failed != NULL)
    *failed = __atomic_load_n (&has_failed, __ATOMIC_RELAXED);
  return __atomic_load_n (&count, __ATOMIC_RELAXED);
}

#else

gboolean
sl_fail_alloc_works (void)
{
  return FALSE;
}

void
sl_fail_alloc_arm (guint64 at, gsize least, guint32 *sites, gsize n)
{
}

guint64
sl_fail_alloc_disarm (gboolean *failed)
{
  return 0;
}
#endif
