internal import CCurl
internal import ReachLoop

/// What one connection may receive below TLS, by its ``ReceiveBudget``. OpenSSL asks before each read of its socket,
/// and a read that has to wait finds nothing, as if nothing had arrived. Confined to the loop.
///
/// The connection owns it, and gives it up when it is closed.
final class ReceiveGate {
    let socket: CInt
    private let gates: ReceiveGates
    private var budget: ReceiveBudget
    /// Whether nothing is read for a while.
    var isResting = false
    /// Whether a read had to wait since ``ReceiveGates/takeStopped()``.
    fileprivate var isStopped = false
    fileprivate(set) var isClosed = false

    /// - Parameter source: What the connection reads from.
    init(_ source: OpaquePointer, socket: CInt, gates: ReceiveGates) {
        self.socket = socket
        self.gates = gates
        budget = ReceiveBudget(at: SystemClock.boot)
        gates.bySocket[socket] = self
        BIO_set_callback_arg(source, UnsafeMutablePointer(OpaquePointer(Unmanaged.passRetained(self).toOpaque())))
        BIO_set_callback_ex(source, watchSource)
    }

    var mustRest: Bool { budget.mustRest }
    var isMostlyFraming: Bool { budget.isMostlyFraming }

    func addContent(_ count: Int) { budget.addContent(count) }

    fileprivate func mayRead() -> Bool {
        budget.begin(turn: gates.loop.turn, at: SystemClock.boot)
        if !isResting, budget.mayRead { return true }
        if !isStopped {
            isStopped = true
            gates.stopped.append(self)
        }
        return false
    }

    fileprivate func hasRead(_ count: Int) { budget.addRead(count) }

    fileprivate func close() {
        isClosed = true
        if gates.bySocket[socket] === self { gates.bySocket[socket] = nil }
    }
}

/// The gates of the connections of one multi handle. Confined to the loop.
final class ReceiveGates {
    fileprivate let loop: EventLoop
    fileprivate var stopped: [ReceiveGate] = []
    fileprivate(set) var bySocket: [CInt: ReceiveGate] = [:]

    init(loop: EventLoop) { self.loop = loop }

    /// The gates at which a read had to wait since the last call.
    func takeStopped() -> [ReceiveGate] {
        guard !stopped.isEmpty else { return [] }
        let gates = stopped
        stopped = []
        for gate in gates { gate.isStopped = false }
        return gates
    }
}

extension Attempt {
    /// Puts a gate before each connection that this attempt makes with this context.
    func watchConnections(of context: OpaquePointer) {
        guard reach_tls_set_owner(context, Unmanaged.passUnretained(handle).toOpaque()) == 1 else { return }
        SSL_CTX_set_info_callback(context, handshakeMoved)
    }

    fileprivate func beganHandshake(reading source: OpaquePointer) {
        guard let multi, socket >= 0 else { return }
        gate = ReceiveGate(source, socket: socket, gates: multi.gates)
    }
}

/// OpenSSL calls this at each step of a handshake: the first is before the first byte is read.
private func handshakeMoved(_ connection: OpaquePointer?, _ step: CInt, _: CInt) {
    guard step == SSL_CB_HANDSHAKE_START, let connection, let owner = reach_tls_owner(connection),
        let source = SSL_get_rbio(connection)
    else { return }
    // The context outlives the attempt, and there is one gate for a connection.
    reach_tls_set_owner(SSL_get_SSL_CTX(connection), nil)
    Unmanaged<EasyHandle>.fromOpaque(owner).takeUnretainedValue().attempt?.beganHandshake(reading: source)
}

/// OpenSSL calls this before and after each operation of a source (BIO_set_callback_ex(3)).
private func watchSource(
    _ source: OpaquePointer?, _ operation: CInt, _: UnsafePointer<CChar>?, _: Int, _: CInt, _: Int, _ result: CInt,
    _ processed: UnsafeMutablePointer<Int>?
) -> Int {
    guard let source, let argument = BIO_get_callback_arg(source) else { return Int(result) }
    let gate = Unmanaged<ReceiveGate>.fromOpaque(UnsafeRawPointer(argument))
    switch operation {
    case BIO_CB_READ:
        guard gate.takeUnretainedValue().mayRead() else {
            reach_bio_retry_read(source)
            return -1
        }
    case BIO_CB_READ | BIO_CB_RETURN:
        if result > 0, let count = processed?.pointee { gate.takeUnretainedValue().hasRead(count) }
    case BIO_CB_FREE:
        BIO_set_callback_arg(source, nil)
        gate.takeUnretainedValue().close()
        gate.release()
    default: break
    }
    return Int(result)
}
