internal import Glibc
internal import Synchronization
package import ReachCore

/// The system's resolver, getaddrinfo(3): hosts file, search domains, multicast DNS and whatever nsswitch.conf(5) names.
/// It blocks, so it runs on threads of its own, which end when there is nothing to do.
///
/// A name that is being looked up keeps its thread until the system gives up, whoever still waits for it.
package final class SystemResolver: Sendable {
    package struct ID: Hashable, Sendable {
        fileprivate let rawValue: UInt64
    }

    private struct Request {
        let id: ID
        let name: String
        let completion: @Sendable (NameAnswer) -> Void
    }

    private struct State {
        var waiting: [Request] = []
        var threads = 0
        var lastID: UInt64 = 0
    }

    /// The number of lookups at the same time; further ones wait. If a server is silent, each takes ten seconds or more.
    private static let threadLimit = 8
    /// The most addresses of one name. No host needs more, and trying them all would take too long.
    private static let addressLimit = 16

    private let state = Mutex(State())

    package init() {}

    /// Another name would wait for a thread.
    package var isBusy: Bool { state.withLock { $0.threads == Self.threadLimit } }

    /// Looks up `name`.
    ///
    /// - Parameter completion: Called once, on a thread of the resolver, or on the one that cancels.
    @discardableResult
    package func resolve(_ name: String, completion: @escaping @Sendable (NameAnswer) -> Void) -> ID {
        let (id, startsThread) = state.withLock { state in
            state.lastID += 1
            let id = ID(rawValue: state.lastID)
            state.waiting.append(Request(id: id, name: name, completion: completion))
            guard state.threads < Self.threadLimit else { return (id, false) }
            state.threads += 1
            return (id, true)
        }
        if startsThread, !BackgroundThread.startIfPossible(named: "reach-resolve", { self.work() }) { lackThread() }
        return id
    }

    /// Cancels a lookup that has not begun: its completion is called with ``NameAnswer/notAsked``. One that has begun
    /// continues.
    package func cancel(_ id: ID) {
        let request = state.withLock { state in
            state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
        }
        request?.completion(.notAsked)
    }

    /// Handles a lack of threads: without any thread, the waiting lookups fail.
    private func lackThread() {
        let abandoned = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [] as [Request] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for request in abandoned { request.completion(.notAsked) }
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

    /// Asks the system and waits for its answer.
    package static func resolve(_ name: String) -> NameAnswer {
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
