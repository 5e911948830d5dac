internal import Glibc
internal import Synchronization
package import ReachCore

/// The system's resolver, getaddrinfo(3): hosts file, search domains, multicast DNS and whatever nsswitch.conf(5)
/// names. It blocks, so it runs on threads of its own, which end when there is nothing to do.
///
/// A name that is being looked up keeps its thread until the system gives up, whoever still waits for it. So each owner
/// of names has half of the threads at most: one user's names, whose servers are silent, do not stop another user's.
package final class SystemResolver: Sendable {
    package struct ID: Hashable, Sendable {
        fileprivate let rawValue: UInt64
    }

    private struct Request {
        let id: ID
        let name: String
        let owner: UInt32?
        let completion: @Sendable (NameAnswer) -> Void
    }

    private struct State {
        /// What waits, by owner, so that one owner's many names cost the others no time.
        private var lines: [UInt32?: [Request]] = [:]
        var threads = 0
        /// Names of each owner that are being looked up.
        var running: [UInt32: Int] = [:]
        var lastID: UInt64 = 0

        func mayLookUp(_ owner: UInt32?) -> Bool {
            owner.map { running[$0, default: 0] < SystemResolver.ownerLimit } ?? true
        }

        mutating func add(_ request: Request) { lines[request.owner, default: []].append(request) }

        /// Takes a request back that cannot be looked up.
        mutating func restore(_ request: Request) { lines[request.owner, default: []].insert(request, at: 0) }

        mutating func remove(_ id: ID) -> Request? {
            for (owner, line) in lines {
                if let index = line.firstIndex(where: { $0.id == id }) { return remove(at: index, of: owner) }
            }
            return nil
        }

        mutating func removeAll() -> [Request] {
            defer { lines = [:] }
            return lines.values.joined().sorted { $0.id.rawValue < $1.id.rawValue }
        }

        private mutating func remove(at index: Int, of owner: UInt32?) -> Request? {
            guard var line = lines.removeValue(forKey: owner) else { return nil }
            defer { if !line.isEmpty { lines[owner] = line } }
            return line.remove(at: index)
        }

        /// Takes out the first request whose owner has a thread left.
        mutating func next() -> Request? {
            let heads = lines.values.compactMap(\.first).filter { mayLookUp($0.owner) }
            guard let first = heads.min(by: { $0.id.rawValue < $1.id.rawValue }),
                let request = remove(at: 0, of: first.owner)
            else { return nil }
            if let owner = request.owner { running[owner, default: 0] += 1 }
            return request
        }

        mutating func finish(_ owner: UInt32?) {
            guard let owner, let count = running[owner] else { return }
            running[owner] = count > 1 ? count - 1 : nil
        }
    }

    /// The number of lookups at the same time; further ones wait. If a server is silent, each takes ten seconds or
    /// more.
    private static let threadLimit = 8
    /// The number of lookups of one owner at the same time.
    private static let ownerLimit = 4
    /// The most addresses of one name. No host needs more, and trying them all would take too long.
    private static let addressLimit = 16

    private let state = Mutex(State())
    private let ask: @Sendable (String) -> NameAnswer

    /// - Parameter ask: Looks up a name; a test sets it.
    package init(asking ask: @escaping @Sendable (String) -> NameAnswer = { resolve($0) }) { self.ask = ask }

    /// Whether another name of this owner would wait for a thread.
    package func isBusy(for owner: UInt32?) -> Bool {
        state.withLock { $0.threads == Self.threadLimit || !$0.mayLookUp(owner) }
    }

    /// Looks up `name`.
    ///
    /// - Parameters:
    ///   - owner: The user whose name it is; `nil` for names of this program, which may use all threads.
    ///   - completion: Called once, on a thread of the resolver, or on the one that cancels.
    @discardableResult
    package func resolve(
        _ name: String, for owner: UInt32? = nil, completion: @escaping @Sendable (NameAnswer) -> Void
    ) -> ID {
        let (id, first) = state.withLock { state in
            state.lastID += 1
            let id = ID(rawValue: state.lastID)
            state.add(Request(id: id, name: name, owner: owner, completion: completion))
            guard state.threads < Self.threadLimit, let first = state.next() else { return (id, nil as Request?) }
            state.threads += 1
            return (id, first)
        }
        guard let first else { return id }
        if !BackgroundThread.startIfPossible(named: "reach-resolve", { self.work(first) }) { lackThread(for: first) }
        return id
    }

    /// Cancels a lookup that has not begun: its completion is called with ``NameAnswer/notAsked``. One that has begun
    /// continues.
    package func cancel(_ id: ID) {
        let request = state.withLock { $0.remove(id) }
        request?.completion(.notAsked)
    }

    /// Handles a lack of threads: without any thread, the waiting lookups fail.
    private func lackThread(for request: Request) {
        let abandoned = state.withLock { state in
            state.threads -= 1
            state.finish(request.owner)
            state.restore(request)
            return state.threads == 0 ? state.removeAll() : []
        }
        for request in abandoned { request.completion(.notAsked) }
    }

    private func work(_ first: Request) {
        var request: Request? = first
        while let current = request {
            current.completion(ask(current.name))
            request = next(after: current)
        }
    }

    private func next(after last: Request) -> Request? {
        state.withLock { state in
            state.finish(last.owner)
            let next = state.next()
            if next == nil { state.threads -= 1 }
            return next
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
            if let address = IPAddress(current.ai_addr), !addresses.contains(address) { addresses.append(address) }
            entry = current.ai_next
        }
        return addresses.isEmpty ? .noAddress : .addresses(Array(addresses.prefix(addressLimit)))
    }

    /// EAI_NODATA of netdb.h, which wants _GNU_SOURCE: the name exists, without an address.
    private static let existsWithoutAddress: CInt = -5
}

extension IPAddress {
    /// The address of a `sockaddr_in` or `sockaddr_in6`; `nil` for other families.
    init?(_ generic: UnsafeMutablePointer<sockaddr>?) {
        guard let generic else { return nil }
        switch CInt(generic.pointee.sa_family) {
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
