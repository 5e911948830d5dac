internal import Glibc
internal import Synchronization

/// Lets one thread wait for another without a runtime of tasks: for the beginning of a server, and for loops.
package final class ThreadGate: Sendable {
    private let isOpen = Atomic(false)

    package init() {}

    package func open() { isOpen.store(true, ordering: .releasing) }

    package func wait() {
        while !isOpen.load(ordering: .acquiring) { usleep(200) }
    }
}
