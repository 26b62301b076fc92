#define _GNU_SOURCE
#include <sys/mman.h>
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

const uint32_t clinux_epoll_in = EPOLLIN;
const uint32_t clinux_epoll_out = EPOLLOUT;
const uint32_t clinux_epoll_hangup = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
const uint32_t clinux_epoll_edge = EPOLLET;
const uint32_t clinux_epoll_exclusive = EPOLLEXCLUSIVE;

int clinux_accept4(int listener, int flags) {
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | flags);
}
int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
int clinux_open_tmpfile(const char *directory, int mode) {
    return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}
int clinux_rename_exchange(const char *left, const char *right) {
    return renameat2(AT_FDCWD, left, AT_FDCWD, right, RENAME_EXCHANGE);
}
int clinux_rename_noreplace(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}
int clinux_reflink(int to, int from) { return ioctl(to, FICLONE, from); }
int clinux_reserve(int file, off_t length) { return fallocate(file, FALLOC_FL_KEEP_SIZE, 0, length); }
int clinux_sync_filesystem(int file) { return syncfs(file); }
int clinux_start_writing(int file, off_t offset, off_t length) {
    return sync_file_range(file, offset, length, SYNC_FILE_RANGE_WRITE);
}
int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int clinux_memory_file(void) { return memfd_create("sealift", MFD_CLOEXEC); }
int clinux_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL); }
void clinux_trim_heap(void) { malloc_trim(0); }
void clinux_use_one_heap(void) { mallopt(M_ARENA_MAX, 1); }

uint64_t clinux_monotonic_nanoseconds(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
int clinux_open(const char *path, int flags, int mode) { return open(path, flags, mode); }
int clinux_open_at(int directory, const char *name, int flags, int mode) {
    return openat(directory, name, flags, mode);
}

int clinux_spawn_in(posix_spawn_file_actions_t *actions, const char *directory) {
    return posix_spawn_file_actions_addchdir_np(actions, directory);
}
int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
const int clinux_limit_address_space = RLIMIT_AS;
const int clinux_limit_processor = RLIMIT_CPU;
const int clinux_limit_file_size = RLIMIT_FSIZE;
const int clinux_limit_files = RLIMIT_NOFILE;
int clinux_limit(pid_t process, int resource, uint64_t most) {
    struct rlimit limit = {most, resource == RLIMIT_CPU ? clinux_processor_hard(most) : most};
    return prlimit(process, resource, &limit, NULL);
}

int clinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }
static int change(int epoll, int operation, int file, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data.u64 = token};
    return epoll_ctl(epoll, operation, file, &event);
}
int clinux_epoll_add(int epoll, int file, uint32_t events, uint64_t token) {
    return change(epoll, EPOLL_CTL_ADD, file, events, token);
}
int clinux_epoll_change(int epoll, int file, uint32_t events, uint64_t token) {
    return change(epoll, EPOLL_CTL_MOD, file, events, token);
}
int clinux_epoll_remove(int epoll, int file) { return epoll_ctl(epoll, EPOLL_CTL_DEL, file, NULL); }
int clinux_epoll_wait(int epoll, struct clinux_event *events, int capacity, int milliseconds) {
    struct epoll_event native[64];
    int found = epoll_wait(epoll, native, capacity < 64 ? capacity : 64, milliseconds);
    for (int i = 0; i < found; i++) {
        events[i].events = native[i].events;
        events[i].token = native[i].data.u64;
    }
    return found;
}
ssize_t clinux_sendfile(int socket, int file, off_t offset, size_t length) {
    return sendfile(socket, file, &offset, length);
}
