#define _GNU_SOURCE
#include "clinux.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// The child that a signal or an exit ends is not this process.
int clinux_attempt_library(const char *path, unsigned seconds) {
    pid_t child = fork();
    if (child < 0) return 0;
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGALRM, SIGTERM};
        sigset_t every;
        sigemptyset(&every);
        for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++) {
            signal(fatal[i], SIG_DFL);
            sigaddset(&every, fatal[i]);
        }
        sigprocmask(SIG_UNBLOCK, &every, NULL);
        int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (nowhere >= 0) {
            dup2(nowhere, STDOUT_FILENO);
            dup2(nowhere, STDERR_FILENO);
        }
        // A library that hangs, or this child of a process with threads does, on a lock that one of them held.
        alarm(seconds);
        dlopen(path, RTLD_NOW | RTLD_LOCAL);
        _exit(77);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return 0;
    }
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? -2 : WTERMSIG(status);
    return WIFEXITED(status) && WEXITSTATUS(status) != 77 ? -1 : 0;
}
