// Swift's tasks run in the process's own network namespace, whichever thread resumes them.
//
// libdispatch makes a worker for tasks on the thread that has a task for it, once all workers ended, which they do after five
// seconds without work. A thread begins in the namespace of the thread that made it. So a test's thread that is in a namespace
// and resumes a task could move all later tests of the process into that namespace: what they listened on was not to be reached
// from threads made before. Therefore libdispatch's own call of pthread_create comes here, and each thread it makes enters the
// namespace in which the process began.

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
// A sanitizer has its own pthread_create.
#define REACH_SANITIZED
#endif
#endif

#ifndef REACH_SANITIZED

typedef void *(*thread_body)(void *);
typedef int (*thread_maker)(pthread_t *, const pthread_attr_t *, thread_body, void *);

struct start {
    thread_body body;
    void *argument;
};

static int home = -1;

__attribute__((constructor)) static void remember_namespace(void)
{
    home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

static void *run_at_home(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    // Fails without CAP_SYS_ADMIN, and then no thread can have left the namespace.
    setns(home, CLONE_NEWNET);
    return start.body(start.argument);
}

static int is_libdispatch(const void *caller)
{
    Dl_info place;
    return dladdr(caller, &place) != 0 && place.dli_fname != NULL && strstr(place.dli_fname, "libdispatch") != NULL;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, thread_body body, void *argument)
{
    thread_maker make = (thread_maker)dlsym(RTLD_NEXT, "pthread_create");
    struct start *start;
    if (home < 0 || !is_libdispatch(__builtin_return_address(0)) || (start = malloc(sizeof *start)) == NULL)
        return make(thread, attributes, body, argument);
    *start = (struct start){body, argument};
    int result = make(thread, attributes, run_at_home, start);
    if (result != 0) free(start);
    return result;
}

#endif
