// A disk that fails, for one process and one folder: loaded before everything else (LD_PRELOAD), it
// lets calls to the system go wrong that concern a file below a folder. The runtime's own files,
// pipes and wake-ups, which the same calls write and read, are spared; strace can spare them only
// for files whose names are known beforehand, and those of a writer are random.
//
//   FAULTS_FOLDER  the folder, absolute
//   FAULTS_CALL    which calls: write, read, open, sync, rename, truncate, link, mkdir, unlink
//   FAULTS_ERROR   the number of the error
//   FAULTS_FROM    from the so-manieth such call on, all of them
//   FAULTS_LOG     grows by one byte with each that went wrong

// The names with 64 are made below, each for itself.
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *folder, *chosen, *log_path;
static int error, from;
static atomic_int seen;

__attribute__((constructor)) static void begin(void) {
  folder = getenv("FAULTS_FOLDER");
  chosen = getenv("FAULTS_CALL");
  log_path = getenv("FAULTS_LOG");
  error = atoi(getenv("FAULTS_ERROR"));
  from = atoi(getenv("FAULTS_FROM"));
}

static int fails(const char *call, const char *path) {
  if (chosen == NULL || strcmp(call, chosen) != 0) return 0;
  if (strncmp(path, folder, strlen(folder)) != 0) return 0;
  if (atomic_fetch_add(&seen, 1) + 1 < from) return 0;
  int log = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (log >= 0) {
    syscall(SYS_write, log, "x", 1);
    syscall(SYS_close, log);
  }
  errno = error;
  return 1;
}

static int fails_on(const char *call, int file) {
  if (chosen == NULL || strcmp(call, chosen) != 0) return 0;
  char name[64], path[PATH_MAX];
  int before = errno;
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  ssize_t length = readlink(name, path, sizeof path - 1);
  errno = before;
  if (length < 0) return 0;
  path[length] = 0;
  return fails(call, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// Looked up once: a disk that works must not be slow.
#define ON_FILE(type, name, call, parameters, ...)                      \
  type name parameters {                                                \
    static __typeof__(&name) real;                                      \
    if (real == NULL) real = REAL(name);                                \
    return fails_on(call, file) ? (type)-1 : real(__VA_ARGS__);         \
  }

ON_FILE(ssize_t, write, "write", (int file, const void *b, size_t n), file, b, n)
ON_FILE(ssize_t, writev, "write", (int file, const struct iovec *v, int n), file, v, n)
ON_FILE(ssize_t, pwrite, "write", (int file, const void *b, size_t n, off_t at), file, b, n, at)
ON_FILE(ssize_t, pwrite64, "write", (int file, const void *b, size_t n, off64_t at), file, b, n, at)
ON_FILE(ssize_t, pwritev, "write", (int file, const struct iovec *v, int n, off_t at), file, v, n, at)
ON_FILE(ssize_t, pwritev64, "write", (int file, const struct iovec *v, int n, off64_t at), file, v, n, at)
ON_FILE(ssize_t, read, "read", (int file, void *b, size_t n), file, b, n)
ON_FILE(ssize_t, readv, "read", (int file, const struct iovec *v, int n), file, v, n)
ON_FILE(ssize_t, pread, "read", (int file, void *b, size_t n, off_t at), file, b, n, at)
ON_FILE(ssize_t, pread64, "read", (int file, void *b, size_t n, off64_t at), file, b, n, at)
ON_FILE(int, fsync, "sync", (int file), file)
ON_FILE(int, fdatasync, "sync", (int file), file)
ON_FILE(int, ftruncate, "truncate", (int file, off_t n), file, n)
ON_FILE(int, ftruncate64, "truncate", (int file, off64_t n), file, n)

#define ON_PATH(name, call, parameters, path, ...)                      \
  int name parameters {                                                 \
    static __typeof__(&name) real;                                      \
    if (real == NULL) real = REAL(name);                                \
    return fails(call, path) ? -1 : real(__VA_ARGS__);                  \
  }

ON_PATH(rename, "rename", (const char *a, const char *b), b, a, b)
ON_PATH(link, "link", (const char *a, const char *b), b, a, b)
ON_PATH(mkdir, "mkdir", (const char *path, mode_t mode), path, path, mode)
ON_PATH(unlink, "unlink", (const char *path), path, path)

#define ON_OPEN(name, head, ...)                                        \
  int name head {                                                       \
    static __typeof__(&name) real;                                      \
    if (real == NULL) real = REAL(name);                                \
    va_list rest;                                                       \
    va_start(rest, flags);                                              \
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                       \
    return fails("open", path) ? -1 : real(__VA_ARGS__, mode);          \
  }

ON_OPEN(open, (const char *path, int flags, ...), path, flags)
ON_OPEN(open64, (const char *path, int flags, ...), path, flags)
ON_OPEN(openat, (int at, const char *path, int flags, ...), at, path, flags)
ON_OPEN(openat64, (int at, const char *path, int flags, ...), at, path, flags)
