#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// Never raises what is lower already: root could.
static int lower_both(int resource, rlim_t soft, rlim_t hard) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return -1;
    if (limit.rlim_cur > soft) limit.rlim_cur = soft;
    if (limit.rlim_max > hard) limit.rlim_max = hard;
    return setrlimit(resource, &limit);
}
static int lower(int resource, rlim_t most) { return lower_both(resource, most, most); }

#ifdef OWN_ARCHITECTURE
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define WRITES (O_ACCMODE | O_CREAT | O_TRUNC)
// Opening is allowed when the flags, which are the given argument, ask for reading alone.
#define ALLOW_READING(call, argument)                                                                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 4),                                                            \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[argument])),                             \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITES, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),     \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// Loads the number of the call; a call by the numbers of another architecture ends the process.
#define THE_CALL                                                                                                       \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),                                           \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),                                                   \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),                                                           \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))

// What reading files, memory and one thread need; everything else fails with EPERM.
static struct sock_filter reading_alone[] = {
    THE_CALL,
    ALLOW(read), ALLOW(readv), ALLOW(pread64), ALLOW(write), ALLOW(writev), ALLOW(close), ALLOW(lseek),
    ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx), ALLOW(readlinkat), ALLOW(faccessat), ALLOW(getcwd), ALLOW(fcntl),
    ALLOW(brk), ALLOW(mmap), ALLOW(munmap), ALLOW(mremap), ALLOW(mprotect), ALLOW(madvise), ALLOW(futex),
    ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(sigaltstack), ALLOW(restart_syscall),
    ALLOW(getpid), ALLOW(getppid), ALLOW(gettid), ALLOW(sched_yield), ALLOW(sched_getaffinity),
    ALLOW(getrandom), ALLOW(clock_gettime), ALLOW(exit), ALLOW(exit_group),
#ifdef __x86_64__
    ALLOW(stat), ALLOW(lstat), ALLOW(readlink), ALLOW(access),
#endif
    ALLOW_READING(openat, 2),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
};

// A thread of this process is allowed, another process is not.
#define ALLOW_THREAD                                                                                                   \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 4),                                                             \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),                                    \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),                                                      \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define ALLOW_VALUE(call, argument, wanted)                                                                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 4),                                                            \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[argument])),                             \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wanted, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),       \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LACKING(call)                                                                                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)

// The same for a program that also computes: threads, their waits, and what libraries ask about the machine.
static struct sock_filter running_models[] = {
    THE_CALL,
    ALLOW(read), ALLOW(readv), ALLOW(pread64), ALLOW(write), ALLOW(writev), ALLOW(close), ALLOW(lseek),
    ALLOW(fstat), ALLOW(newfstatat), ALLOW(statx), ALLOW(statfs), ALLOW(fstatfs), ALLOW(readlinkat), ALLOW(faccessat),
    ALLOW(getdents64), ALLOW(getcwd), ALLOW(fcntl), ALLOW(dup), ALLOW(dup3), ALLOW(fadvise64),
    ALLOW(brk), ALLOW(mmap), ALLOW(munmap), ALLOW(mremap), ALLOW(mprotect), ALLOW(madvise), ALLOW(mincore),
    ALLOW(futex), ALLOW(set_robust_list), ALLOW(get_robust_list), ALLOW(set_tid_address), ALLOW(rseq),
    ALLOW(membarrier), ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(sigaltstack),
    ALLOW(restart_syscall), ALLOW(getpid), ALLOW(getppid), ALLOW(gettid), ALLOW(getuid), ALLOW(geteuid), ALLOW(getgid),
    ALLOW(getegid), ALLOW(sched_yield), ALLOW(sched_getaffinity), ALLOW(sched_setaffinity), ALLOW(sched_getparam),
    ALLOW(sched_getscheduler), ALLOW(sched_get_priority_max), ALLOW(sched_get_priority_min), ALLOW(getcpu),
    ALLOW(uname), ALLOW(sysinfo), ALLOW(getrusage), ALLOW(times), ALLOW(getrandom), ALLOW(clock_gettime),
    ALLOW(clock_getres), ALLOW(clock_nanosleep), ALLOW(nanosleep), ALLOW(gettimeofday), ALLOW(ppoll), ALLOW(eventfd2),
    ALLOW(epoll_create1), ALLOW(epoll_ctl), ALLOW(epoll_pwait), ALLOW(exit), ALLOW(exit_group),
#ifdef __x86_64__
    ALLOW(stat), ALLOW(lstat), ALLOW(readlink), ALLOW(access), ALLOW(poll), ALLOW(epoll_wait), ALLOW(time),
    ALLOW(arch_prctl),
#endif
    // What is not there is done in an older way.
    LACKING(clone3), LACKING(openat2), LACKING(faccessat2),
    // Limits may be asked for: the new ones are then no address, of which the lower half is looked at.
    ALLOW_READING(openat, 2), ALLOW_THREAD, ALLOW_VALUE(prctl, 0, PR_SET_NAME), ALLOW_VALUE(prlimit64, 2, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
};

static int filter_calls(struct sock_filter *filter, size_t size) {
    struct sock_fprog program = {size / sizeof *filter, filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#define FILTER(name) filter_calls(name, sizeof name)
#else
#define FILTER(name) (-1)
#endif

static int confine(uint64_t memory, uint64_t seconds, uint64_t files) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    if (lower(RLIMIT_AS, memory) != 0 || lower(RLIMIT_NOFILE, files) != 0) return -1;
    if (lower_both(RLIMIT_CPU, seconds, clinux_processor_hard(seconds)) != 0) return -1;
    return lower(RLIMIT_FSIZE, 0) != 0 || lower(RLIMIT_CORE, 0) != 0 ? -1 : 0;
}

int clinux_confine(uint64_t memory, uint64_t seconds, uint64_t files) {
    if (confine(memory, seconds, files) != 0 || lower(RLIMIT_NPROC, 0) != 0) return -1;
    return FILTER(reading_alone) == 0 ? 0 : 1;
}

// When memory runs out, the system ends the process that may end first.
static void offer_to_be_ended(void) {
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    if (write(file, "1000", 4) != 4) errno = 0;
    close(file);
}

int clinux_confine_computing(uint64_t memory, uint64_t seconds, uint64_t files) {
    offer_to_be_ended();
    if (confine(memory, seconds, files) != 0) return -1;
    return FILTER(running_models) == 0 ? 0 : 1;
}
