internal import CReachLinux

/// The part of the heap that nothing uses.
package enum FreeMemory {
    /// Gives it back to the kernel (malloc_trim(3)), after work that used much and is not repeated soon.
    package static func release() { reach_release_free_memory() }
}
