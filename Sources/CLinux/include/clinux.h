#pragma once
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What Glibc's Swift module leaves out. Every function returns what the system call returns, and sets errno.

int clinux_accept4(int listener, int flags);
int clinux_eventfd(void);
int clinux_open_tmpfile(const char *directory, int mode);
int clinux_rename_exchange(const char *left, const char *right);
int clinux_rename_noreplace(const char *from, const char *to);
int clinux_reflink(int to, int from);
int clinux_reserve(int file, off_t length);
int clinux_sync_filesystem(int file);
// Lets the kernel start writing a part to the disk, so that a later fsync finds little to do.
int clinux_start_writing(int file, off_t offset, off_t length);
int clinux_pipe(int ends[2]);

// A file that exists in memory alone, or -1.
int clinux_memory_file(void);
int clinux_die_with_parent(void);
void clinux_trim_heap(void);

// One heap for all threads, instead of one that each thread grows page by page; before the first thread starts.
void clinux_use_one_heap(void);

// Opens a library in a child process. The signal that ended the child, -1 if the library ended it, -2 if it was not
// open after `seconds`, else 0.
int clinux_attempt_library(const char *path, unsigned seconds);

// Nanoseconds on CLOCK_MONOTONIC, asked of the kernel itself: a library that fakes the date does not fake it.
uint64_t clinux_monotonic_nanoseconds(void);

// open(2) with a mode is variadic.
int clinux_open(const char *path, int flags, int mode);
int clinux_open_at(int directory, const char *name, int flags, int mode);

int clinux_spawn_in(posix_spawn_file_actions_t *actions, const char *directory);

// All descriptors from `first` on, whoever forgot to mark them.
int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

// Makes this process one that can only read files, write to what is open, and end, for good: with so many bytes of
// address space, seconds of processor and open files, no new process or thread, no new privileges, no file written,
// and killed when its parent ends. 0 when also the system calls are bounded to that, 1 where the system cannot, -1
// when something else failed.
int clinux_confine(uint64_t memory, uint64_t seconds, uint64_t files);

// The same for a process that runs a model: with threads of its own, and the first to end when memory runs out.
int clinux_confine_computing(uint64_t memory, uint64_t seconds, uint64_t files);

// The hard limit of a process with so many seconds of processor. At the hard one the system kills as it does for want of
// memory, which is nobody's fault; at the soft one, which comes first, with a signal of its own.
static inline uint64_t clinux_processor_hard(uint64_t seconds) {
    return seconds > UINT64_MAX - 5 ? UINT64_MAX : seconds + 5;
}

// prlimit: bounds what another process may use; `resource` is one of the constants.
int clinux_limit(pid_t process, int resource, uint64_t most);
extern const int clinux_limit_address_space, clinux_limit_processor, clinux_limit_file_size, clinux_limit_files;

// epoll, with the event flattened to what the server reads.
struct clinux_event {
    uint32_t events;
    uint64_t token;
};
int clinux_epoll_create(void);
int clinux_epoll_add(int epoll, int file, uint32_t events, uint64_t token);
int clinux_epoll_change(int epoll, int file, uint32_t events, uint64_t token);
int clinux_epoll_remove(int epoll, int file);
int clinux_epoll_wait(int epoll, struct clinux_event *events, int capacity, int milliseconds);
extern const uint32_t clinux_epoll_in, clinux_epoll_out, clinux_epoll_hangup, clinux_epoll_edge;
// For a listener that several epolls watch: a connection wakes one of them, not all.
extern const uint32_t clinux_epoll_exclusive;

ssize_t clinux_sendfile(int socket, int file, off_t offset, size_t length);
