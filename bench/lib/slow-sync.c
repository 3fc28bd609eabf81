// A disk with slow syncs: each fsync and fdatasync first waits for SYNC_DELAY_NS nanoseconds.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static void wait_first(void) {
  struct timespec delay = {0, 0};
  long ns = atol(getenv("SYNC_DELAY_NS"));
  delay.tv_sec = ns / 1000000000;
  delay.tv_nsec = ns % 1000000000;
  // The kernel may add this much to a sleep: 50 us, by default.
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  nanosleep(&delay, NULL);
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  wait_first();
  return real(fd);
}

int fdatasync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  wait_first();
  return real(fd);
}
