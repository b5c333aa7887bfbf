/* Library for LD_PRELOAD: makes the n-th call to the file system below given folders fail.

The state is a file that all processes map, so that calls are counted across a tree of processes. Set
FAIL_CALLS_STATE to its path. check_faults.py writes the state; its layout is `struct state`.

Calls of the C library's own buffered files, and of programs without it, are not seen. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { FAIL, SHORT, KILL };

struct state {
    uint64_t armed;      /* 0: nothing is counted */
    uint64_t count;      /* calls so far */
    uint64_t at;         /* number of the call that fails, from 1; 0: none */
    uint64_t kind;
    uint64_t error;      /* errno of the call that fails */
    char prefixes[2048]; /* of paths, each ended by a newline; "socket:" for sockets */
    char call[256];      /* the call that failed */
};

static struct state *state;

__attribute__((constructor)) static void map_state(void) {
    const char *path = getenv("FAIL_CALLS_STATE");
    if (!path) return;
    int file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (file < 0) return;
    void *found =
        (void *)syscall(SYS_mmap, NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) state = found;
    syscall(SYS_close, file);
}

static int is_below(const char *path) {
    for (const char *prefix = state->prefixes; *prefix;) {
        size_t length = strcspn(prefix, "\n");
        if (!strncmp(path, prefix, length)) return 1;
        prefix += length + (prefix[length] == '\n');
    }
    return 0;
}

/* Whether this call shall fail; errno is set then. */
static int fails(const char *call, const char *path) {
    uint64_t number = __atomic_add_fetch(&state->count, 1, __ATOMIC_SEQ_CST);
    if (number != state->at) return 0;
    snprintf(state->call, sizeof state->call, "%s %.200s", call, path);
    if (state->kind == KILL) syscall(SYS_kill, getpid(), SIGKILL);
    errno = (int)state->error;
    return 1;
}

static int fails_at(const char *call, int folder, const char *path) {
    char whole[PATH_MAX];
    if (!state || !state->armed || !path) return 0;
    if (*path != '/') {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/%s", "cwd");
        if (folder != AT_FDCWD) snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, whole, sizeof whole - 1);
        if (length < 0) return 0;
        snprintf(whole + length, sizeof whole - length, "/%s", path);
        path = whole;
    }
    return is_below(path) && fails(call, path);
}

static int fails_on(const char *call, int file) {
    char link[64], path[PATH_MAX];
    if (!state || !state->armed) return 0;
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = before;
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path) && fails(call, path);
}

#define NEXT(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

#define PATH_CALL(name, parameters, arguments, folder, path, ...)                                   \
    int name parameters {                                                                           \
        if (fails_at(#name, folder, path)) return -1;                                               \
        return NEXT(int, #name, __VA_ARGS__) arguments;                                             \
    }
#define FILE_CALL(type, name, parameters, arguments, file, ...)                                     \
    type name parameters {                                                                          \
        if (fails_on(#name, file)) return -1;                                                       \
        return NEXT(type, #name, __VA_ARGS__) arguments;                                            \
    }
/* Calls that may transfer a part; the half of one byte is a failure. */
#define WRITE_CALL(name, parameters, arguments, half, file, size, ...)                              \
    ssize_t name parameters {                                                                       \
        if (fails_on(#name, file)) {                                                                \
            if (state->kind != SHORT || size < 2) return -1;                                        \
            return NEXT(ssize_t, #name, __VA_ARGS__) half;                                          \
        }                                                                                           \
        return NEXT(ssize_t, #name, __VA_ARGS__) arguments;                                         \
    }
#define OPEN_CALL(name, folder, ...)                                                                \
    int name(__VA_ARGS__ const char *path, int flags, ...) {                                        \
        va_list rest;                                                                               \
        va_start(rest, flags);                                                                      \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                     \
        va_end(rest);                                                                               \
        if (fails_at(#name, folder, path)) return -1;                                               \
        return syscall(SYS_openat, folder, path, flags | O_LARGEFILE, mode);                        \
    }

OPEN_CALL(open, AT_FDCWD, )
OPEN_CALL(open64, AT_FDCWD, )
OPEN_CALL(openat, folder, int folder, )
OPEN_CALL(openat64, folder, int folder, )
PATH_CALL(creat, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path, const char *, mode_t)
PATH_CALL(rename, (const char *old, const char *path), (old, path), AT_FDCWD, path, const char *,
          const char *)
PATH_CALL(renameat, (int from, const char *old, int folder, const char *path),
          (from, old, folder, path), folder, path, int, const char *, int, const char *)
PATH_CALL(renameat2, (int from, const char *old, int folder, const char *path, unsigned flags),
          (from, old, folder, path, flags), folder, path, int, const char *, int, const char *, unsigned)
PATH_CALL(link, (const char *old, const char *path), (old, path), AT_FDCWD, path, const char *,
          const char *)
PATH_CALL(unlink, (const char *path), (path), AT_FDCWD, path, const char *)
PATH_CALL(unlinkat, (int folder, const char *path, int flags), (folder, path, flags), folder, path, int,
          const char *, int)
PATH_CALL(rmdir, (const char *path), (path), AT_FDCWD, path, const char *)
PATH_CALL(mkdir, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path, const char *, mode_t)
PATH_CALL(mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), folder, path, int,
          const char *, mode_t)
PATH_CALL(truncate, (const char *path, off_t size), (path, size), AT_FDCWD, path, const char *, off_t)
FILE_CALL(int, fsync, (int file), (file), file, int)
FILE_CALL(int, fdatasync, (int file), (file), file, int)
FILE_CALL(int, ftruncate, (int file, off_t size), (file, size), file, int, off_t)
FILE_CALL(int, ftruncate64, (int file, off64_t size), (file, size), file, int, off64_t)
WRITE_CALL(write, (int file, const void *data, size_t size), (file, data, size), (file, data, size / 2),
           file, size, int, const void *, size_t)
WRITE_CALL(pwrite, (int file, const void *data, size_t size, off_t at), (file, data, size, at),
           (file, data, size / 2, at), file, size, int, const void *, size_t, off_t)
WRITE_CALL(pwrite64, (int file, const void *data, size_t size, off64_t at), (file, data, size, at),
           (file, data, size / 2, at), file, size, int, const void *, size_t, off64_t)
WRITE_CALL(writev, (int file, const struct iovec *data, int size), (file, data, size),
           (file, data, size / 2), file, size, int, const struct iovec *, int)
WRITE_CALL(send, (int file, const void *data, size_t size, int flags), (file, data, size, flags),
           (file, data, size / 2, flags), file, size, int, const void *, size_t, int)
WRITE_CALL(recv, (int file, void *data, size_t size, int flags), (file, data, size, flags),
           (file, data, size / 2, flags), file, size, int, void *, size_t, int)

static void *mapped(const char *call, void *at, size_t size, int access, int flags, int file, off_t from) {
    if (!(flags & MAP_ANONYMOUS) && fails_on(call, file)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, access, flags, file, from);
}

void *mmap(void *at, size_t size, int access, int flags, int file, off_t from) {
    return mapped("mmap", at, size, access, flags, file, from);
}

void *mmap64(void *at, size_t size, int access, int flags, int file, off64_t from) {
    return mapped("mmap64", at, size, access, flags, file, from);
}
