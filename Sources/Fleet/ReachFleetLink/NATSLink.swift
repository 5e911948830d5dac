internal import CNats
package import ReachCore
internal import Synchronization

/// A connection to a NATS server, by libnats.
///
/// libnats runs threads of its own (about seven), and its objects lock themselves: any thread may call any method.
/// Handlers run on libnats' threads, without a lock held; hand what they get to a mailbox and return. Nothing here
/// blocks but what says so.
package final class NATSLink: Sendable {
    /// What happens to the connection.
    package enum Event: Sendable {
        case disconnected(NATSError)
        case reconnected
        /// The connection ended, and libnats does not connect again. The last event.
        case closed(NATSError)
        /// The server shuts down soon: leave for another.
        case lameDuck
        /// The server refused a publication or a subscription, or a reader is too slow.
        case fault(NATSError)
    }

    /// libnats' connection. natsConnection locks itself, so threads may share the pointer.
    struct Handle: @unchecked Sendable { let pointer: OpaquePointer }

    let handle: Handle
    package let settings: NATSSettings
    let requests: NATSRequests
    private let numbers: [UInt]
    private let isClosed = Atomic(false)

    private init(_ handle: Handle, _ settings: NATSSettings, _ requests: NATSRequests, _ numbers: [UInt]) {
        self.handle = handle
        self.settings = settings
        self.requests = requests
        self.numbers = numbers
    }

    deinit {
        close()
        requests.freeAll()
        natsConnection_Destroy(handle.pointer)
    }

    /// Connects to one of the servers. Blocks until one has accepted or all have failed: at most
    /// ``NATSSettings/connectLimit`` for each, and before that ``NATSSettings/firstConnectLimit``.
    package static func connect(
        _ settings: NATSSettings, onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws(NATSError) -> NATSLink {
        // What libnats looks for in a certificate in place of a bracketed address counts for all servers of a
        // connection.
        guard settings.servers.count > 1, settings.reconnection == .never,
            settings.servers.contains(where: { $0.isEncrypted && $0.bracketedAddress != nil })
        else { return try connectToAny(settings, onEvent) }
        var failure: NATSError?
        for server in settings.servers.shuffled() {
            var single = settings
            single.servers = [server]
            do throws(NATSError) {
                return try connectToAny(single, onEvent)
            } catch {
                failure = error
            }
        }
        throw failure ?? NATSError(.invalid, "no server is named")
    }

    private static func connectToAny(
        _ settings: NATSSettings, _ onEvent: @escaping @Sendable (Event) -> Void
    ) throws(NATSError) -> NATSLink {
        let requests = NATSRequests()
        let signals = NATSCallbacks.add(.signal { signal in handle(signal, requests, onEvent) })
        var numbers = [signals]
        var signer: NATSSigner?
        if settings.identity.signs {
            let made = NATSSigner(settings.identity)
            signer = made
            numbers.append(NATSCallbacks.add(.signer(made)))
        }
        do throws(NATSError) {
            let options = try NATSOptions.make(settings, signals: signals, signer: numbers.dropFirst().first)
            let pointer = try open(options, signer, settings)
            let link = NATSLink(Handle(pointer: pointer), settings, requests, numbers)
            try requests.start(on: link)
            return link
        } catch {
            for number in numbers { NATSCallbacks.remove(number) }
            throw explained(error, settings)
        }
    }

    /// A server that begins with TLS waits for it, and libnats for its greeting.
    private static func explained(_ error: NATSError, _ settings: NATSSettings) -> NATSError {
        guard [.timedOut, .unreachable, .disconnected].contains(error.kind),
            let server = settings.servers.first(where: { ServerGreeting.beginsWithTLS($0) })
        else { return error }
        return NATSError(
            .tlsFirst,
            "\(server) begins with TLS (handshake_first), which libnats \(NATSLibrary.version) cannot; "
                + "set 'handshake_first: auto' in the server's tls block")
    }

    /// Asks each of several servers for a short time first, and then longer if none answers.
    private static func open(
        _ options: borrowing NATSOptions, _ signer: NATSSigner?, _ settings: NATSSettings
    ) throws(NATSError) -> OpaquePointer {
        if settings.servers.count > 1, settings.reconnection == .never {
            try options.setConnectLimit(settings.firstConnectLimit)
            do throws(NATSError) {
                return try open(options, signer)
            } catch {
                guard error.kind == .timedOut || error.kind == .unreachable else { throw error }
            }
        }
        try options.setConnectLimit(settings.connectLimit)
        return try open(options, signer)
    }

    /// Connects, again while the only reason is a signature that libnats would not have sent (``NATSSigner``).
    private static func open(_ options: borrowing NATSOptions, _ signer: NATSSigner?) throws(NATSError) -> OpaquePointer
    {
        while true {
            var made: OpaquePointer?
            let status = natsConnection_Connect(&made, options.handle)
            if status == NATS_OK, let made { return made }
            let error = NATSError(status, in: "connect", detail: NATSLibrary.lastError)
            guard let signer, signer.hadUnusable() else { throw error }
        }
    }

    private static func handle(
        _ signal: NATSCallbacks.Signal, _ requests: NATSRequests, _ onEvent: @Sendable (Event) -> Void
    ) {
        switch signal {
        case .disconnected(let error):
            requests.failAll(error)
            onEvent(.disconnected(error))
        case .reconnected: onEvent(.reconnected)
        case .closed(let error):
            requests.failAll(error)
            onEvent(.closed(error))
        case .lameDuck: onEvent(.lameDuck)
        case .fault(let error):
            requests.failRefused(error)
            onEvent(.fault(error))
        }
    }

    /// The largest payload that the server accepts, in bytes.
    package var maxPayload: Int { Int(natsConnection_GetMaxPayload(handle.pointer)) }

    /// The address of the server that answers; `nil` without a connection.
    package var connectedServer: String? {
        var text = [CChar](repeating: 0, count: 512)
        // Without a connection libnats succeeds and leaves the text empty.
        guard natsConnection_GetConnectedUrl(handle.pointer, &text, text.count) == NATS_OK, text[0] != 0 else {
            return nil
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The name that the server which answers gave itself when it started; `nil` without a connection.
    package var connectedServerID: String? {
        var text = [CChar](repeating: 0, count: 128)
        guard natsConnection_GetConnectedServerId(handle.pointer, &text, text.count) == NATS_OK, text[0] != 0 else {
            return nil
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Publishes without waiting for anybody.
    ///
    /// - Throws: ``NATSError`` of kind `tooLarge`, `disconnected` or `invalid`. A refusal by the server comes later, as
    ///   an ``Event``.
    package func publish(
        _ subject: String, reply: String? = nil, headers: [HeaderField] = [], _ payload: [UInt8]
    ) throws(NATSError) {
        let pointer = handle.pointer
        try NATSMessage.withOutgoing(subject, reply: reply, headers, payload) { message throws(NATSError) in
            try NATSError.check("publish to '\(subject)'") { natsConnection_PublishMsg(pointer, message) }
        }
    }

    /// Waits until the server has processed what was published before. Blocks at most as long as `limit`.
    package func flush(within limit: Duration = .seconds(10)) throws(NATSError) {
        try NATSError.check("flush") {
            natsConnection_FlushTimeout(handle.pointer, max(1, limit.nanoseconds / 1_000_000))
        }
    }

    /// Ends the connection. Requests that wait fail with `disconnected`.
    package func close() {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        natsConnection_Close(handle.pointer)
        requests.failAll(NATSError(.disconnected, "connection: closed"))
        for number in numbers { NATSCallbacks.remove(number) }
    }
}
