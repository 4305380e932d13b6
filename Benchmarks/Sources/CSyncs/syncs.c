// Stands in front of the C library: symbols of a program come before those of the libraries that it
// loads, so that the calls of all engines pass through here and are counted in the same way.
#include "syncs.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long count;

long memobench_sync_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

static int counted(long result) {
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  return (int)result;
}

int fsync(int file) { return counted(syscall(SYS_fsync, file)); }

int fdatasync(int file) { return counted(syscall(SYS_fdatasync, file)); }

int msync(void *start, size_t size, int flags) {
  return counted(syscall(SYS_msync, start, size, flags));
}
