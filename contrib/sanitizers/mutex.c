/*
 * Makes the locks of Synchronization.Mutex visible to the thread sanitizer if the mutex has to wait.
 *
 * Mutex's fast path, a compare-and-exchange, is compiled into the calling code, so the sanitizer sees it. Its slow path is
 * in libswiftSynchronization.so, which is not instrumented: after it the sanitizer does not know that the waiting thread
 * runs after the one that unlocked, and reports races on data that the lock guards. The three functions below replace
 * those of the library, whose names are part of Swift's stable ABI: a program's own definition precedes a library's. They
 * do what stdlib/public/Synchronization/Mutex/LinuxImpl.swift does (a futex that inherits priority), without the spinning,
 * and report it to the sanitizer. Nothing is hidden: accesses that the lock does not guard are reported as before.
 *
 * contrib/sanitizers/run links this into the tests of the thread sanitizer, and nothing else.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

/* Swift passes `self` in the context register. */
#define METHOD(name) __asm__("$s15Synchronization12_MutexHandleV" name) __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

void lock_slow(uint32_t thread, SELF uint32_t *lock) METHOD("9_lockSlowyys6UInt32VF");
bool try_lock_slow(SELF uint32_t *lock) METHOD("12_tryLockSlowSbyF");
void unlock_slow(SELF uint32_t *lock) METHOD("11_unlockSlowyyF");

__attribute__((swiftcall)) void lock_slow(uint32_t thread, SELF uint32_t *lock)
{
    (void)thread; /* the kernel writes it into the lock */
    while (syscall(SYS_futex, lock, FUTEX_LOCK_PI_PRIVATE, 0, NULL) != 0)
        if (errno != EINTR && errno != EAGAIN)
            abort();
    __tsan_acquire(lock);
}

__attribute__((swiftcall)) bool try_lock_slow(SELF uint32_t *lock)
{
    if (syscall(SYS_futex, lock, FUTEX_TRYLOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL) != 0)
        return false;
    __tsan_acquire(lock);
    return true;
}

__attribute__((swiftcall)) void unlock_slow(SELF uint32_t *lock)
{
    __tsan_release(lock);
    if (syscall(SYS_futex, lock, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL) != 0)
        abort();
}
