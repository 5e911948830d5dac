internal import CNats
internal import Glibc
internal import ReachFleet
internal import Synchronization

/// What libnats' threads call, by number.
///
/// libnats keeps a `void *` for each callback and may use it on its threads for a while after the object is gone. A
/// number that is looked up here can be late; a pointer could not.
enum NATSCallbacks {
    enum Handler: Sendable {
        case message(@Sendable (NATSMessage) -> Void)
        case signal(@Sendable (Signal) -> Void)
        case signer(NATSSigner)
    }

    /// What happens to a connection.
    enum Signal: Sendable {
        case disconnected(NATSError)
        case reconnected
        case closed(NATSError)
        case lameDuck
        case fault(NATSError)
    }

    private struct Table {
        var last: UInt = 0
        var handlers: [UInt: Handler] = [:]
    }

    private static let table = Mutex(Table())

    /// - Returns: The number under which libnats calls the handler.
    static func add(_ handler: Handler) -> UInt {
        table.withLock { table in
            table.last += 1
            table.handlers[table.last] = handler
            return table.last
        }
    }

    /// A call that is under way may still end after this.
    static func remove(_ number: UInt) { _ = table.withLock { $0.handlers.removeValue(forKey: number) } }

    static func pointer(_ number: UInt) -> UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: number) }

    private static func handler(_ closure: UnsafeMutableRawPointer?) -> Handler? {
        table.withLock { $0.handlers[UInt(bitPattern: closure)] }
    }

    // MARK: - Called by libnats, on its threads

    static let onMessage: natsMsgHandler = { _, _, message, closure in
        guard let message else { return }
        defer { natsMsg_Destroy(message) }
        guard case .message(let handle) = handler(closure) else { return }
        handle(NATSMessage(message))
    }

    static let onDisconnect: natsConnectionHandler = { connection, closure in
        signal(.disconnected(lastError(of: connection)), closure)
    }

    static let onReconnect: natsConnectionHandler = { _, closure in signal(.reconnected, closure) }

    static let onClose: natsConnectionHandler = { connection, closure in
        signal(.closed(lastError(of: connection)), closure)
    }

    static let onLameDuck: natsConnectionHandler = { _, closure in signal(.lameDuck, closure) }

    static let onError: natsErrHandler = { connection, _, status, closure in
        signal(.fault(NATSError(status, in: "connection", detail: lastText(of: connection))), closure)
    }

    static let onNonce: natsSignatureHandler = { _, signature, length, nonce, closure in
        guard let signature, let length, case .signer(let signer) = handler(closure) else { return NATS_ERR }
        return signer.sign(nonce, signature, length)
    }

    /// The texts belong to libnats, which frees them.
    static let onTokenWanted: natsUserJWTHandler = { token, words, closure in
        guard let token, case .signer(let signer) = handler(closure), let text = signer.token else {
            words?.pointee = strdup("the file of the credentials cannot be read")
            return NATS_ERR
        }
        token.pointee = strdup(text)
        return NATS_OK
    }

    private static func signal(_ signal: Signal, _ closure: UnsafeMutableRawPointer?) {
        guard case .signal(let handle) = handler(closure) else { return }
        handle(signal)
    }

    private static func lastText(of connection: OpaquePointer?) -> String? {
        var text: UnsafePointer<CChar>?
        guard let connection, natsConnection_GetLastError(connection, &text) != NATS_OK else { return nil }
        return text.map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func lastError(of connection: OpaquePointer?) -> NATSError {
        var text: UnsafePointer<CChar>?
        guard let connection else { return NATSError(.disconnected, "connection: closed") }
        let status = natsConnection_GetLastError(connection, &text)
        guard status != NATS_OK else { return NATSError(.disconnected, "connection: closed") }
        return NATSError(status, in: "connection", detail: text.map { String(cString: $0) })
    }
}

/// Signs what the server asks for at each connection, and shows the token if there is one.
final class NATSSigner: Sendable {
    private let identity: NATSIdentity
    private let metUnusable = Atomic(false)
    /// The credentials of the connection that begins, since the file may be replaced between the token and the
    /// signature.
    private let current = Mutex<NATSCredentials?>(nil)

    init(_ identity: NATSIdentity) { self.identity = identity }

    /// Whether a signature since the last call of this was unusable: connecting again gets another.
    func hadUnusable() -> Bool { metUnusable.exchange(false, ordering: .relaxed) }

    /// The token; `nil` if the file cannot be read. libnats asks for it before it asks for a signature.
    fileprivate var token: String? {
        let found: NATSCredentials? =
            switch identity {
            case .none, .key: nil
            case .credentials(let path): NATSCredentials.read(path)
            case .token(let token, let key): NATSCredentials(token: token, key: key)
            }
        current.withLock { $0 = found }
        return found?.token.text
    }

    private var seed: String? {
        if case .key(let pair) = identity { return pair.seed }
        return current.withLock { $0?.key.seed }
    }

    /// libnats 3.4.1 takes a signature whose first byte is 0, one in 256, for an empty text and sends none: the server
    /// refuses the right key. Failing here is no refusal, and the next connection has something else to sign.
    fileprivate func sign(
        _ nonce: UnsafePointer<CChar>?, _ signature: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        _ length: UnsafeMutablePointer<CInt>
    ) -> natsStatus {
        guard let seed else { return NATS_ERR }
        let status = nats_Sign(seed, nonce, signature, length)
        guard status == NATS_OK, signature.pointee?.pointee == 0 else { return status }
        free(signature.pointee)
        signature.pointee = nil
        length.pointee = 0
        metUnusable.store(true, ordering: .relaxed)
        return NATS_ERR
    }
}
