internal import Glibc
internal import Synchronization

/// Lets one thread wait for another without Swift concurrency, as for the start of a server.
package final class ThreadGate: Sendable {
    private let isOpen = Atomic(false)

    package init() {}

    package func open() { isOpen.store(true, ordering: .releasing) }

    package func wait() {
        while !isOpen.load(ordering: .acquiring) { usleep(200) }
    }
}
