internal import CReachLinux
internal import ReachCore

/// The memory that only the start of a program uses.
package enum StartPages {
    /// Unmaps the code, constants and loader's tables that the start has read, and gives free memory of the heap back.
    ///
    /// The kernel maps 16 pages for each one that is read, and the loader reads the symbols of every library. So a program
    /// that has started holds several times the pages that it needs from then on. They stay in the page cache, where the
    /// kernel may use them for something else; those that are needed come back by minor faults, a microsecond for 16.
    package static func release() {
        reach_release_read_only_pages()
        reach_release_free_memory()
    }

    /// How long a program waits with that after a start, whose threads still open files and databases.
    package static let delay: Duration = .milliseconds(200)

    /// Calls ``release()`` once, ``delay`` from now.
    package static func releaseSoon(on loop: EventLoop) {
        loop.schedule(at: SystemClock.boot + delay) { release() }
    }
}
