/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The dynamic linker maps the segments that a file's header states, and reads them. A file that
 * ends before them, such as one of a full disk, is a signal then and no error. So the header is
 * read here first; of what it makes no sense of, the linker says what is wrong.
 */
#include "core/base/shared_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/printable.h"

#define OWN_CLASS (sizeof (void *) == 8 ? ELFCLASS64 : ELFCLASS32)
/* Far more than any library has. */
#define MOST_SEGMENTS 1024

static gboolean
read_at (int fd, void *into, gsize size, guint64 offset)
{
  return offset <= G_MAXINT64 && pread (fd, into, size, (off_t) offset) == (gssize) size;
}

/* The bytes that a file with the header has at least; 0 = the linker refuses it. */
static guint64
least_size (int fd)
{
  ElfW (Ehdr) header;
  guint64 least = 0;
  if (!read_at (fd, &header, sizeof header, 0) || memcmp (header.e_ident, ELFMAG, SELFMAG) != 0
      || header.e_ident[EI_CLASS] != OWN_CLASS || header.e_phentsize != sizeof (ElfW (Phdr))
      || header.e_phnum > MOST_SEGMENTS)
    return 0;
  least = header.e_phoff + header.e_phnum * sizeof (ElfW (Phdr));
  for (guint i = 0; i < header.e_phnum; i++) {
    ElfW (Phdr) segment;
    guint64 end;
    if (!read_at (fd, &segment, sizeof segment, header.e_phoff + i * sizeof segment))
      break;
    if (segment.p_type == PT_LOAD
        && g_uint64_checked_add (&end, segment.p_offset, segment.p_filesz))
      least = MAX (least, end);
  }
  return least;
}

/* (transfer full) (nullable): what is wrong with the file at @path. */
static char *
find_fault (const char *path)
{
  struct stat about;
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0 || fstat (fd, &about) != 0) {
    char *fault = g_strdup (g_strerror (errno));
    if (fd >= 0)
      close (fd);
    return fault;
  }
  const guint64 least = S_ISREG (about.st_mode) ? least_size (fd) : 0;
  close (fd);
  if (!S_ISREG (about.st_mode))
    return g_strdup ("not a file; expected a shared object");
  return least > (guint64) about.st_size
           ? g_strdup_printf ("the file is cut off: it has %" G_GUINT64_FORMAT
                              " bytes, expected at least %" G_GUINT64_FORMAT ": copy it again",
                              (guint64) about.st_size, least)
           : NULL;
}

void *
sl_shared_object_open (const char *name, int flags, char **said)
{
  *said = strchr (name, '/') != NULL ? find_fault (name) : NULL;
  void *handle = *said == NULL ? dlopen (name, flags) : NULL;
  if (handle == NULL && *said == NULL) {
    const char *text = dlerror ();
    *said = sl_printable (text != NULL ? text : "cannot be opened", SL_PRINTABLE_MESSAGE);
  }
  return handle;
}
