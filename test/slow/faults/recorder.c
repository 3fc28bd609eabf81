/* LD_PRELOAD: notes what a program does to its database files, in the order in which it is done.

   FAULT_PREFIX  the files whose path begins so, and the folder they are in
   FAULT_LOG     where each operation is appended (see replay.ts); nothing is noted without it
   FAULT_SHORT   every so many writes one is cut in half, as a file system is free to do

   The calls go straight to the kernel, since nothing here may depend on what it stands in for. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE, SYNC, UNLINK, RENAME, CREATE, SYNC_FOLDER };
enum { FILES = 65536, PATH_SIZE = 512 };

struct record {
  uint32_t kind, name_length;
  uint64_t offset, data_length;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *names[FILES];
static char is_folder[FILES];

static void note(uint32_t kind, const char *name, uint64_t offset, const void *data, size_t length) {
  static int log = -1;
  const char *path = getenv("FAULT_LOG");
  if (path == NULL) return;
  if (log < 0)
    log = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  struct record record = {kind, strlen(name), offset, length};
  struct iovec parts[] = {{&record, sizeof record},
                          {(void *)name, record.name_length},
                          {(void *)data, length}};
  /* A log that is not whole proves nothing. */
  if (syscall(SYS_writev, log, parts, 3) != (long)(sizeof record + record.name_length + length))
    abort();
}

static int matches(const char *path) {
  const char *prefix = getenv("FAULT_PREFIX");
  return prefix != NULL && path != NULL && strncmp(path, prefix, strlen(prefix)) == 0;
}

static int matches_folder(const char *path) {
  const char *prefix = getenv("FAULT_PREFIX");
  const char *slash = prefix == NULL ? NULL : strrchr(prefix, '/');
  return slash != NULL && path != NULL && strlen(path) == (size_t)(slash - prefix) &&
         strncmp(path, prefix, slash - prefix) == 0;
}

static const char *name_of(int fd) { return fd >= 0 && fd < FILES ? names[fd] : NULL; }

static int opened(int folder, const char *path, int flags, mode_t mode) {
  int whole = matches(path), is_ours = whole || matches_folder(path);
  if (!is_ours) return syscall(SYS_openat, folder, path, flags, mode);
  pthread_mutex_lock(&lock);
  int is_new = (flags & O_CREAT) && syscall(SYS_faccessat, folder, path, F_OK) != 0;
  int fd = syscall(SYS_openat, folder, path, flags, mode), error = errno;
  if (fd >= 0 && fd < FILES) {
    free(names[fd]);
    names[fd] = strdup(path);
    is_folder[fd] = !whole;
    if (is_new) note(CREATE, path, 0, NULL, 0);
    else if (flags & O_TRUNC) note(TRUNCATE, path, 0, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

#define MODE(flags)                      \
  mode_t mode = 0;                       \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list rest;                        \
    va_start(rest, flags);               \
    mode = va_arg(rest, mode_t);         \
    va_end(rest);                        \
  }

int open(const char *path, int flags, ...) {
  MODE(flags)
  return opened(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE(flags)
  return opened(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
  MODE(flags)
  return opened(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
  MODE(flags)
  return opened(folder, path, flags, mode);
}

int close(int fd) {
  if (name_of(fd) != NULL) {
    pthread_mutex_lock(&lock);
    free(names[fd]);
    names[fd] = NULL;
    pthread_mutex_unlock(&lock);
  }
  return syscall(SYS_close, fd);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) {
  static unsigned long writes;
  const char *name = name_of(fd);
  if (name == NULL) return syscall(SYS_pwrite64, fd, data, length, offset);
  pthread_mutex_lock(&lock);
  const char *every = getenv("FAULT_SHORT");
  if (every != NULL && length > 1 && ++writes % strtoul(every, NULL, 10) == 0) length /= 2;
  ssize_t done = syscall(SYS_pwrite64, fd, data, length, offset);
  int error = errno;
  if (done > 0) note(WRITE, name, offset, data, done);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  return pwrite64(fd, data, length, offset);
}
ssize_t write(int fd, const void *data, size_t length) {
  if (name_of(fd) == NULL) return syscall(SYS_write, fd, data, length);
  off_t offset = syscall(SYS_lseek, fd, 0, SEEK_CUR);
  ssize_t done = pwrite64(fd, data, length, offset);
  if (done > 0) syscall(SYS_lseek, fd, offset + done, SEEK_SET);
  return done;
}

int ftruncate64(int fd, off_t length) {
  const char *name = name_of(fd);
  if (name == NULL) return syscall(SYS_ftruncate, fd, length);
  pthread_mutex_lock(&lock);
  int result = syscall(SYS_ftruncate, fd, length), error = errno;
  if (result == 0) note(TRUNCATE, name, length, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static int synced(int fd, long call) {
  const char *name = name_of(fd);
  if (name == NULL) return syscall(call, fd);
  pthread_mutex_lock(&lock);
  int result = syscall(call, fd), error = errno;
  if (result == 0) note(is_folder[fd] ? SYNC_FOLDER : SYNC, name, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }

int unlink(const char *path) {
  if (!matches(path)) return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  pthread_mutex_lock(&lock);
  int result = syscall(SYS_unlinkat, AT_FDCWD, path, 0), error = errno;
  if (result == 0) note(UNLINK, path, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int rename(const char *from, const char *to) {
  if (!matches(from) && !matches(to))
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  pthread_mutex_lock(&lock);
  int result = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0), error = errno;
  if (result == 0) note(RENAME, from, 0, to, strlen(to));
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
