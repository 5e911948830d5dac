package import ReachCore
package import ReachLoop

/// Asks name servers for addresses, from one interface where that is wanted, and never waits for them.
///
/// The system's resolver is not used: getaddrinfo(3) blocks a thread for each name, asks over whatever interface routing
/// prefers, and cannot be cancelled. /etc/hosts and the servers and options of /etc/resolv.conf are read; NSS modules and
/// search lists are not used. Confined to the loop's thread.
package final class Resolver {
    package typealias Completion = (Result<[IPAddress], NameFailure>) -> Void

    package struct ID: Hashable, Sendable {
        let rawValue: UInt64
    }

    package init(loop: EventLoop) {
    }

    /// - Parameters:
    ///   - limit: How long it may take, all servers together.
    ///   - completion: Called once, later, unless it is cancelled: with one address at least, IPv6 and IPv4 in turn.
    package func resolve(_ question: NameQuestion, within limit: Duration, completion: @escaping Completion) -> ID {
        fatalError("follows")
    }

    /// Its completion is not called.
    package func cancel(_ id: ID) {
    }

    /// What was answered before does not hold any more.
    package func newEpoch() {
    }
}
