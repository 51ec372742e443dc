/* Stand between a process and its disk: count the calls that change files under one folder, stop the process at one of
   them, make them fail, and write down each, so that a power cut can be played afterwards.

   Loaded with LD_PRELOAD; does nothing until medium_begin. Built and used by _medium.py, which says what the ways mean.
   Every journal record is a struct record, then the first name or the data (first bytes), then the second name (second
   bytes). It is written after the call it tells of, so a record that is missing is a call that may not have happened. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT, DIE, TEAR, FAIL_ONCE, FAIL_ON, SHORT };
enum { SYNC = 1, MAKE = 2, WRITE = 4, OTHER = 8 }; /* kinds of calls; those that make a name or write need space */

struct record {
    char magic[8];
    uint32_t kind, first, second, unused;
    uint64_t inode;
    int64_t offset, length;
};

static char root[PATH_MAX];
static size_t root_length;
static long at, made;
static int active, way, failure, what, lying, journal = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void medium_begin(const char *folder, long number, int how, int error, int among, int lie, const char *notes) {
    root_length = (size_t)snprintf(root, sizeof root, "%s", folder);
    at = number, way = how, failure = error, what = among, lying = lie, made = 0;
    journal = notes && *notes ? REAL(open64)(notes, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    active = 1;
}

void medium_end(void) {
    active = 0;
    if (journal >= 0) close(journal);
    journal = -1;
}

long medium_made(void) { return made; }

static int inside(const char *path) {
    return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

/* Write the whole path of a name beside dirfd; say whether it lies under the folder. */
static int place(int dirfd, const char *name, char *path) {
    char folder[PATH_MAX];
    if (!active) return 0;
    if (*name == '/') snprintf(path, PATH_MAX, "%s", name);
    else {
        if (dirfd == AT_FDCWD ? !getcwd(folder, sizeof folder) : !path_of(dirfd, folder)) return 0;
        if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX) return 0;
    }
    return inside(path);
}

static int watched(int fd) {
    char path[PATH_MAX];
    return active && path_of(fd, path) && inside(path);
}

/* Count a call; 1 when it has to fail. */
static int step(int kind) {
    if (!(kind & what)) return 0;
    long number = __sync_add_and_fetch(&made, 1);
    if (number == at && way == DIE) kill(getpid(), SIGKILL), pause();
    if ((way == FAIL_ONCE && number == at) || ((way == FAIL_ON || way == SHORT) && at && number >= at)) {
        errno = failure;
        return 1;
    }
    return 0;
}

static void note(int kind, uint64_t inode, int64_t offset, int64_t length, const void *first, size_t n, const char *second) {
    if (journal < 0) return;
    int kept = errno;
    struct record record = {"MEDIUM:", kind, n, second ? strlen(second) : 0, 0, inode, offset, length};
    struct iovec parts[] = {{&record, sizeof record}, {(void *)first, n}, {(void *)second, record.second}};
    if (REAL(writev)(journal, parts, 3) < 0) abort();
    errno = kept;
}

static uint64_t inode_of(int fd) {
    struct stat status;
    return fstat(fd, &status) ? 0 : status.st_ino;
}

static uint64_t inode_at(const char *path) {
    struct stat status;
    return lstat(path, &status) ? 0 : status.st_ino;
}

static void note_data(int fd, int64_t offset, const void *data, ssize_t n) {
    if (n > 0) note('W', inode_of(fd), offset, n, data, n, NULL);
}

/* --- files come, go and are opened ---------------------------------------------------------------------------- */

static int opened(int (*real)(int, const char *, int, ...), int dirfd, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    if ((flags & (O_CREAT | O_TRUNC)) == 0 || !place(dirfd, name, path)) return real(dirfd, name, flags, mode);
    int there = inode_at(path) != 0;
    if (there && (flags & O_TRUNC) == 0) return real(dirfd, name, flags, mode);
    if (step(MAKE)) return -1;
    int fd = real(dirfd, name, flags, mode);
    if (fd >= 0 && !there) note('C', inode_of(fd), 0, 0, path, strlen(path), NULL);
    else if (fd >= 0) note('T', inode_of(fd), 0, 0, NULL, 0, NULL);
    return fd;
}

#define MODE(flags)                                                                                                    \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & O_CREAT) {                                                                                           \
        va_list rest;                                                                                                  \
        va_start(rest, flags), mode = va_arg(rest, mode_t), va_end(rest);                                              \
    }
int open(const char *name, int flags, ...) { MODE(flags) return opened(REAL(openat), AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE(flags) return opened(REAL(openat64), AT_FDCWD, name, flags, mode); }
int openat(int dirfd, const char *name, int flags, ...) { MODE(flags) return opened(REAL(openat), dirfd, name, flags, mode); }
int openat64(int dirfd, const char *name, int flags, ...) { MODE(flags) return opened(REAL(openat64), dirfd, name, flags, mode); }

/* One name: the call, its record. */
#define NAMED(name_, kind, needs, dirfd, name, call, inode)                                                            \
    char path[PATH_MAX];                                                                                               \
    if (!place(dirfd, name, path)) return call;                                                                        \
    if (step(needs)) return -1;                                                                                        \
    int done = call;                                                                                                   \
    if (done == 0) note(kind, inode, 0, 0, path, strlen(path), NULL);                                                  \
    return done;
int mkdir(const char *n, mode_t m) { NAMED(mkdir, 'D', MAKE, AT_FDCWD, n, REAL(mkdir)(n, m), inode_at(path)) }
int mkdirat(int d, const char *n, mode_t m) { NAMED(mkdirat, 'D', MAKE, d, n, REAL(mkdirat)(d, n, m), inode_at(path)) }
int unlink(const char *n) { NAMED(unlink, 'U', OTHER, AT_FDCWD, n, REAL(unlink)(n), 0) }
int unlinkat(int d, const char *n, int f) { NAMED(unlinkat, 'U', OTHER, d, n, REAL(unlinkat)(d, n, f), 0) }
int rmdir(const char *n) { NAMED(rmdir, 'U', OTHER, AT_FDCWD, n, REAL(rmdir)(n), 0) }
int remove(const char *n) { NAMED(remove, 'U', OTHER, AT_FDCWD, n, REAL(remove)(n), 0) }
int chmod(const char *n, mode_t m) { NAMED(chmod, 'M', OTHER, AT_FDCWD, n, REAL(chmod)(n, m), 0) }
int fchmodat(int d, const char *n, mode_t m, int f) { NAMED(fchmodat, 'M', OTHER, d, n, REAL(fchmodat)(d, n, m, f), 0) }

static int two(int kind, int olddir, const char *old, int newdir, const char *new, int (*call)(int, const char *, int, const char *)) {
    char from[PATH_MAX], to[PATH_MAX];
    int here = place(olddir, old, from), there = place(newdir, new, to);
    if (!here && !there) return call(olddir, old, newdir, new);
    if (step(kind == 'L' ? MAKE : OTHER)) return -1;
    int done = call(olddir, old, newdir, new);
    if (done == 0) note(kind, 0, 0, 0, from, strlen(from), to);
    return done;
}
static int really_rename(int a, const char *o, int b, const char *n) { return REAL(renameat)(a, o, b, n); }
static int really_link(int a, const char *o, int b, const char *n) { return REAL(linkat)(a, o, b, n, 0); }
int rename(const char *o, const char *n) { return two('R', AT_FDCWD, o, AT_FDCWD, n, really_rename); }
int renameat(int a, const char *o, int b, const char *n) { return two('R', a, o, b, n, really_rename); }
int link(const char *o, const char *n) { return two('L', AT_FDCWD, o, AT_FDCWD, n, really_link); }
int linkat(int a, const char *o, int b, const char *n, int f) { (void)f; return two('L', a, o, b, n, really_link); }

/* --- what files hold ------------------------------------------------------------------------------------------- */

/* How many bytes a write of n may take: all, or half of them when the process dies within it or the disk is full. */
static ssize_t allowed(ssize_t n, int *dies) {
    *dies = 0;
    int fails = step(WRITE);
    if (way == TEAR && made == at) return *dies = 1, n / 2;
    if (fails && way == SHORT && made == at && n > 1) return n / 2;
    return fails ? -1 : n;
}

ssize_t write(int fd, const void *data, size_t n) {
    if (!watched(fd)) return REAL(write)(fd, data, n);
    int dies;
    ssize_t take = allowed(n, &dies), done = take < 0 ? -1 : REAL(write)(fd, data, take);
    if (done > 0) note_data(fd, lseek(fd, 0, SEEK_CUR) - done, data, done);
    if (dies) kill(getpid(), SIGKILL), pause();
    return done;
}

static ssize_t placed(int fd, const void *data, size_t n, off_t offset) {
    if (!watched(fd)) return REAL(pwrite64)(fd, data, n, offset);
    int dies;
    ssize_t take = allowed(n, &dies), done = take < 0 ? -1 : REAL(pwrite64)(fd, data, take, offset);
    note_data(fd, offset, data, done);
    if (dies) kill(getpid(), SIGKILL), pause();
    return done;
}
ssize_t pwrite(int fd, const void *data, size_t n, off_t offset) { return placed(fd, data, n, offset); }
ssize_t pwrite64(int fd, const void *data, size_t n, off64_t offset) { return placed(fd, data, n, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) { /* as so many single writes */
    if (!watched(fd)) return REAL(writev)(fd, parts, count);
    ssize_t all = 0;
    for (int part = 0; part < count; part++) {
        ssize_t done = write(fd, parts[part].iov_base, parts[part].iov_len);
        if (done < 0) return all ? all : -1;
        all += done;
        if ((size_t)done < parts[part].iov_len) break;
    }
    return all;
}

/* Copies inside the kernel are refused, so that those who ask go on to write, which is watched. */
ssize_t sendfile64(int out, int in, off64_t *offset, size_t n) {
    if (watched(out)) return errno = EINVAL, -1;
    return ((ssize_t(*)(int, int, off64_t *, size_t))dlsym(RTLD_NEXT, "sendfile64"))(out, in, offset, n);
}
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags) {
    if (watched(out)) return errno = EXDEV, -1;
    return REAL(copy_file_range)(in, from, out, to, n, flags);
}

static int cut(int fd, off64_t length) {
    if (!watched(fd)) return REAL(ftruncate64)(fd, length);
    if (step(OTHER)) return -1;
    int done = REAL(ftruncate64)(fd, length);
    if (done == 0) note('T', inode_of(fd), 0, length, NULL, 0, NULL);
    return done;
}
int ftruncate(int fd, off_t length) { return cut(fd, length); }
int ftruncate64(int fd, off64_t length) { return cut(fd, length); }

int fallocate(int fd, int mode, off_t offset, off_t length) {
    if (!watched(fd)) return REAL(fallocate)(fd, mode, offset, length);
    if (step(WRITE)) return -1;
    int done = REAL(fallocate)(fd, mode, offset, length);
    if (done == 0 && (mode & FALLOC_FL_PUNCH_HOLE)) note('Z', inode_of(fd), offset, length, NULL, 0, NULL);
    return done;
}
int fchmod(int fd, mode_t mode) {
    if (watched(fd) && step(OTHER)) return -1;
    return REAL(fchmod)(fd, mode);
}

static int synced(int fd, int (*real)(int)) {
    if (!watched(fd)) return real(fd);
    if (step(SYNC)) return -1;
    if (lying) return 0;
    int done = real(fd);
    if (done == 0) note('S', inode_of(fd), 0, 0, NULL, 0, NULL);
    return done;
}
int fsync(int fd) { return synced(fd, REAL(fsync)); }
int fdatasync(int fd) { return synced(fd, REAL(fdatasync)); }
