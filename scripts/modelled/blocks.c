/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A plug-in of QEMU's user emulation (7.2 or later) for scripts/modelled.py: how often each block
 * of instructions runs between two calls of clock_gettime(), which a program that measures makes.
 *   qemu-aarch64 -plugin ./blocks.so,clock=113,cache=2097152,out=FILE PROGRAM
 * FILE has a line "block N ADDRESS BYTES..." for each, an instruction a word, and for each call a
 * line "clock NANOSECONDS LINES" behind the lines "N TIMES" of what ran since the last one: the
 * emulation's own time, and lines that a cache of that many bytes had to fetch.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__ ((visibility ("default")))
#define BUCKETS 65536
#define LINE 64
#define WAYS 16
#define MOST_SETS 65536
#define LOADS_AND_STORES 3

/* What Debian's packages of QEMU have no header of. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*TranslateFunction) (uint64_t id, struct qemu_plugin_tb *tb);
typedef void (*SyscallFunction) (uint64_t id, unsigned int cpu, int64_t number, uint64_t a,
                                 uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                                 uint64_t g, uint64_t h);
typedef void (*MemoryFunction) (unsigned int cpu, uint32_t info, uint64_t address, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb (uint64_t id, TranslateFunction function);
void qemu_plugin_register_vcpu_syscall_cb (uint64_t id, SyscallFunction function);
void qemu_plugin_register_vcpu_tb_exec_inline (struct qemu_plugin_tb *tb, int operation,
                                               void *value, uint64_t by);
void qemu_plugin_register_vcpu_mem_cb (struct qemu_plugin_insn *insn, MemoryFunction function,
                                       int flags, int kind, void *data);
size_t qemu_plugin_tb_n_insns (const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr (const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn (const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data (const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size (const struct qemu_plugin_insn *insn);

EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install (uint64_t id, const void *info, int argc, char **argv);

/** A block; @told: runs that FILE has */
typedef struct Block
{
  struct Block *next, *same_bucket;
  uint64_t address, runs, told;
  size_t n;
  unsigned int number;
} Block;

static Block *buckets[BUCKETS], *first;
static unsigned int blocks;
static int64_t clock_number;
static FILE *out;

/* Lines of each set, the one used last first. */
static uint64_t cache[MOST_SETS][WAYS], fetched;
static unsigned int sets;

static void
touched (unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
  const uint64_t line = address / LINE + 1;
  uint64_t *ways = cache[line % sets];
  unsigned int way = 0;
  (void) cpu, (void) info, (void) data;
  if (ways[0] == line)
    return;
  while (way < WAYS - 1 && ways[way] != line)
    way++;
  fetched += ways[way] != line;
  memmove (ways + 1, ways, way * sizeof ways[0]);
  ways[0] = line;
}

static void
write_block (const Block *block, const struct qemu_plugin_tb *tb)
{
  fprintf (out, "block %u %" PRIx64, block->number, block->address);
  for (size_t i = 0; i < block->n; i++) {
    const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn (tb, i);
    const unsigned char *bytes = qemu_plugin_insn_data (insn);
    fputc (' ', out);
    for (size_t b = 0; b < qemu_plugin_insn_size (insn); b++)
      fprintf (out, "%02x", bytes[b]);
  }
  fputc ('\n', out);
}

static void
translated (uint64_t id, struct qemu_plugin_tb *tb)
{
  const uint64_t address = qemu_plugin_tb_vaddr (tb);
  const size_t n = qemu_plugin_tb_n_insns (tb);
  Block **bucket = &buckets[address / 4 % BUCKETS], *block = *bucket;
  (void) id;
  while (block != NULL && (block->address != address || block->n != n))
    block = block->same_bucket;
  if (block == NULL) {
    block = calloc (1, sizeof *block);
    if (block == NULL)
      abort ();
    *block = (Block){ first, *bucket, address, 0, 0, n, blocks++ };
    first = *bucket = block;
    write_block (block, tb);
  }
  qemu_plugin_register_vcpu_tb_exec_inline (tb, 0, &block->runs, 1);
  for (size_t i = 0; i < n; i++)
    qemu_plugin_register_vcpu_mem_cb (qemu_plugin_tb_get_insn (tb, i), touched, 0, LOADS_AND_STORES,
                                      NULL);
}

static uint64_t
now_ns (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static void
called (uint64_t id, unsigned int cpu, int64_t number, uint64_t a, uint64_t b, uint64_t c,
        uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
  (void) id, (void) cpu, (void) a, (void) b, (void) c, (void) d, (void) e, (void) f, (void) g;
  (void) h;
  static uint64_t before;
  if (number != clock_number)
    return;
  const uint64_t now = now_ns ();
  for (Block *block = first; block != NULL; block = block->next)
    if (block->runs != block->told) {
      fprintf (out, "%u %" PRIu64 "\n", block->number, block->runs - block->told);
      block->told = block->runs;
    }
  fprintf (out, "clock %" PRIu64 " %" PRIu64 "\n", now - before, fetched);
  fflush (out);
  fetched = 0;
  before = now_ns ();
}

int
qemu_plugin_install (uint64_t id, const void *info, int argc, char **argv)
{
  (void) info;
  for (int i = 0; i < argc; i++)
    if (strncmp (argv[i], "clock=", 6) == 0)
      clock_number = strtoll (argv[i] + 6, NULL, 10);
    else if (strncmp (argv[i], "cache=", 6) == 0)
      sets = (unsigned int) strtoul (argv[i] + 6, NULL, 10) / LINE / WAYS;
    else if (strncmp (argv[i], "out=", 4) == 0)
      out = fopen (argv[i] + 4, "w");
  if (out == NULL || clock_number == 0 || sets == 0 || sets > MOST_SETS)
    return -1;
  qemu_plugin_register_vcpu_tb_trans_cb (id, translated);
  qemu_plugin_register_vcpu_syscall_cb (id, called);
  return 0;
}
