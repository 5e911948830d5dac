/*
 * Shows the thread sanitizer the locks that Synchronization.Mutex takes when it has to wait.
 *
 * Mutex's quick path, a compare-and-exchange, is compiled into whoever uses it and so is seen. Its slow path is in
 * libswiftSynchronization.so, which is not instrumented: after it the sanitizer does not know that the one who waited
 * comes after the one who let go, and reports races on what the lock guards. The three functions below stand in for
 * those of the library, whose names are part of Swift's stable ABI: a program's own definition comes before a library's.
 * They do what stdlib/public/Synchronization/Mutex/LinuxImpl.swift does (a futex that inherits priority), without the
 * spinning, and say so. Nothing is hidden: what is not guarded by the lock is reported as before.
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

/* Swift hands `self` over in the context register. */
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
