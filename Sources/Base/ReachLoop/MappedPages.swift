internal import CReachLinux
internal import ReachCore

/// The code and constants that a program has read, and reads again only when it has something to do. Confined to its loop.
///
/// The kernel maps 16 pages for each one that is read, and the loader reads the symbols of every library. So a program that
/// has started, handled a change of the network or answered a client holds several times the pages that it needs at rest. Once
/// unmapped they stay in the page cache, where the kernel may use them for something else; those that are needed come back by
/// minor faults, a microsecond for 16.
package final class MappedPages {
    /// How long a program rests before its pages are unmapped. After a start, threads still open files and databases.
    package static let delay: Duration = .milliseconds(200)

    private let loop: EventLoop
    private var lastWork = BootTime(nanoseconds: 0)
    private var isScheduled = false
    private var trimsHeap = false

    package init(on loop: EventLoop) { self.loop = loop }

    /// Unmaps the pages, once this was not called for ``delay``.
    ///
    /// - Parameter afterStart: Whether free memory of the heap is given back, too: a start frees much, a change little.
    package func releaseAtRest(afterStart: Bool = false) {
        lastWork = SystemClock.boot
        trimsHeap = trimsHeap || afterStart
        if !isScheduled { schedule() }
    }

    private func schedule() {
        isScheduled = true
        loop.schedule(at: lastWork + Self.delay) { [weak self] in self?.releaseOrWait() }
    }

    private func releaseOrWait() {
        guard SystemClock.boot >= lastWork + Self.delay else { return schedule() }
        isScheduled = false
        Self.release()
        guard trimsHeap else { return }
        trimsHeap = false
        reach_release_free_memory()
    }

    /// Unmaps them now.
    package static func release() { reach_release_read_only_pages() }
}
