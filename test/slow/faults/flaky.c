/* LD_PRELOAD: a device that goes away and comes back.

   FAULT_PREFIX  the files whose path begins so
   FAULT_GONE    a file; while it exists, the device is about to go, and then is gone:
                 where it says "sync", with the next sync of the write-ahead log, which had been written;
                 where it says "write", with the third write to it from then on, in the midst of a commit.
                 From then on every write and sync fails with EIO, until the file is removed.

   The calls go straight to the kernel, since nothing here may depend on what it stands in for. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_gone, writes;

/* Whether a file is one of the database: 2 if it is its write-ahead log. */
static int is_ours(int fd) {
  const char *prefix = getenv("FAULT_PREFIX");
  char link[64], path[4096];
  if (prefix == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (strncmp(path, prefix, strlen(prefix)) != 0) return 0;
  return strcmp(path + strlen(prefix), "-wal") == 0 ? 2 : 1;
}

/* What FAULT_GONE says begins with this letter; 0 where it does not exist. */
static char coming(void) {
  char letter = 0;
  const char *path = getenv("FAULT_GONE");
  int fd = path == NULL ? -1 : syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return 0;
  if (syscall(SYS_read, fd, &letter, 1) != 1) letter = 0;
  syscall(SYS_close, fd);
  return letter;
}

/* Whether this write ('w') or sync ('s') fails. */
static int fails(int fd, char call) {
  char letter = coming();
  if (letter == 0) {
    is_gone = writes = 0;
    return 0;
  }
  int file = is_ours(fd);
  if (file == 0) return 0;
  pthread_mutex_lock(&lock);
  if (!is_gone && letter == call && file == 2 && (call == 's' || ++writes == 3)) is_gone = 1;
  int result = is_gone;
  pthread_mutex_unlock(&lock);
  if (result) errno = EIO;
  return result;
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) {
  return fails(fd, 'w') ? -1 : syscall(SYS_pwrite64, fd, data, length, offset);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  return pwrite64(fd, data, length, offset);
}
int fsync(int fd) { return fails(fd, 's') ? -1 : syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return fails(fd, 's') ? -1 : syscall(SYS_fdatasync, fd); }
