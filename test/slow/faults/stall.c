// A disk that hangs: every fsync waits as long as the file named by STALL exists.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void stall(void) {
  const char *path = getenv("STALL");
  while (path != NULL && access(path, F_OK) == 0) usleep(10000);
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  stall();
  return real(fd);
}

int fdatasync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  stall();
  return real(fd);
}
