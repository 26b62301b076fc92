#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// Never raises what is lower already: root could.
static int lower(int resource, rlim_t most) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return -1;
    if (limit.rlim_max < most) most = limit.rlim_max;
    limit.rlim_cur = limit.rlim_max = most;
    return setrlimit(resource, &limit);
}

#ifdef OWN_ARCHITECTURE
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define WRITES (O_ACCMODE | O_CREAT | O_TRUNC)
// Opening is allowed when the flags, which are the given argument, ask for reading alone.
#define ALLOW_READING(call, argument)                                                                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 4),                                                            \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[argument])),                             \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITES, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),     \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

// What reading files, memory and one thread need; everything else fails with EPERM.
static struct sock_filter reading_alone[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
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

static int filter_calls(void) {
    struct sock_fprog program = {sizeof reading_alone / sizeof *reading_alone, reading_alone};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static int filter_calls(void) { return -1; }
#endif

int clinux_confine(uint64_t memory, uint64_t seconds, uint64_t files) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    if (lower(RLIMIT_AS, memory) != 0 || lower(RLIMIT_CPU, seconds) != 0 || lower(RLIMIT_NOFILE, files) != 0) return -1;
    if (lower(RLIMIT_FSIZE, 0) != 0 || lower(RLIMIT_CORE, 0) != 0 || lower(RLIMIT_NPROC, 0) != 0) return -1;
    return filter_calls() == 0 ? 0 : 1;
}
