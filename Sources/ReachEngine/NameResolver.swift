internal import Glibc
internal import Synchronization
package import ReachCore
package import ReachLoop

/// Resolves names with the system's resolver, which blocks: on threads of its own, so that the engine never waits.
package final class NameResolver: Sendable {
    package typealias Answer = NameAnswer

    private typealias Request = (name: String, completion: @Sendable (Answer) -> Void)

    private struct State {
        var waiting: [Request] = []
        var threads = 0
    }

    /// So many names at a time; the rest wait. A resolver whose server is silent takes ten seconds and more for each.
    private static let threadLimit = 8
    /// Enough for any host that is meant to be reached; more would only be looked up for nothing.
    private static let addressLimit = 16

    private let state = Mutex(State())

    package init() {}

    /// Resolves `name`, then runs `completion` on the loop behind `mailbox`.
    package func resolve(
        _ name: String, replyTo mailbox: Mailbox, completion: @escaping @Sendable (Answer) -> Void
    ) {
        let startsThread = state.withLock { state in
            state.waiting.append((name, { answer in mailbox.post { _ in completion(answer) } }))
            guard state.threads < Self.threadLimit else { return false }
            state.threads += 1
            return true
        }
        if startsThread { BackgroundThread.start(named: "reach-resolve") { self.work() } }
    }

    private func work() {
        while let request = next() { request.completion(Self.resolve(request.name)) }
    }

    private func next() -> Request? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.threads -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    /// Asks the system's resolver and waits for it.
    package static func resolve(_ name: String) -> Answer {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        switch getaddrinfo(name, nil, &hints, &list) {
        case 0: break
        case EAI_NONAME, existsWithoutAddress: return .noAddress
        default: return .notAsked
        }
        defer { freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        var entry = list
        while let current = entry?.pointee {
            if let address = IPAddress(current), !addresses.contains(address) { addresses.append(address) }
            entry = current.ai_next
        }
        return addresses.isEmpty ? .noAddress : .addresses(Array(addresses.prefix(addressLimit)))
    }

    /// EAI_NODATA of netdb.h, which wants _GNU_SOURCE: the name exists, without an address.
    private static let existsWithoutAddress: CInt = -5
}

extension IPAddress {
    fileprivate init?(_ info: addrinfo) {
        guard let generic = info.ai_addr else { return nil }
        switch info.ai_family {
        case AF_INET:
            let bits = generic.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr.s_addr }
            self.init(ipv4: UInt32(bigEndian: bits))
        case AF_INET6:
            let bytes = generic.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
            }
            self.init(bytes: bytes)
        default: return nil
        }
    }
}
