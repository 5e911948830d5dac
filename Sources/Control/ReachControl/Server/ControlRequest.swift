internal import CReachLinux
package import ReachCore
internal import ReachLoop

/// An error that the caller of a method reads.
package protocol ControlFailure: Error {
    var varlink: VarlinkError { get }
}

/// A call that waits for its answer. The first answer counts; later ones are ignored, and so is an answer to a caller
/// that has hung up. A one-way call ends when an answer would have been sent.
package final class ControlRequest {
    package let call: VarlinkCall
    package let caller: Caller
    /// Whether the caller may change something, determined when the call arrived.
    var mayChange = false
    /// Whether the caller may read the events of all users' requests.
    var mayReadAll = false
    /// Whether the caller may hold the queue for the fleet.
    var mayHoldForFleet = false
    /// The cost for whose gate the call counts; `nil` while it counts for none.
    var gate: VarlinkInterface.Method.Cost?
    /// The memory whose descriptor came with the message; `nil` if there is none, or if it is not sealed.
    let passedMemory: SealedMemory?
    /// The connection, until the call is over: a call counts for its user even after the caller has hung up.
    private var connection: Connection?
    private weak var switchboard: Switchboard?

    init(
        _ call: VarlinkCall, with memory: SealedMemory? = nil, on connection: Connection, of switchboard: Switchboard
    ) {
        self.call = call
        passedMemory = memory
        caller = connection.caller
        self.connection = connection
        self.switchboard = switchboard
    }

    /// Whether the call is over, or its caller has hung up.
    var isAbandoned: Bool { connection?.isClosed ?? true }

    /// Answers with the parameters that `body` writes. Answers with an error if they exceed the length of a message.
    package func reply(_ body: (inout JSONWriter) -> Void = { _ in }) {
        answer { Self.frame(body) }
    }

    private static func frame(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        let frame = VarlinkReply.frame(body)
        guard frame.count > FrameReader.standardLimit else { return frame }
        let reason = "the answer has more than \(FrameReader.standardLimit) bytes"
        return VarlinkReply.frame(of: MonitorError.notAvailable(reason: reason).varlink)
    }

    package func fail(_ error: VarlinkError) { answer { VarlinkReply.frame(of: error) } }

    /// Answers with a result, or with its error.
    ///
    /// - Parameter key: The key of what `body` writes; `nil` if it writes its keys itself.
    package func reply<Value>(
        _ result: Result<Value, some ControlFailure>, _ key: StaticString? = nil,
        _ body: (inout JSONWriter, Value) -> Void = { _, _ in }
    ) {
        switch result {
        case .success(let value):
            reply { json in
                if let key { json.key(key) }
                body(&json, value)
            }
        case .failure(let error): fail(error.varlink)
        }
    }

    /// Answers with the events of a target from now on.
    ///
    /// - Parameter withRequests: Whether to include the events of the caller's requests.
    func stream(
        _ topics: Topics, _ target: Target, withRequests: Bool, seeksPath: Bool
    ) throws(VarlinkError) {
        guard let connection, !connection.isClosed, !call.isOneWay else { return answer { [] } }
        self.connection = nil
        do throws(MonitorError) {
            try topics.subscribe(connection, to: target, withRequests: withRequests, seeksPath: seeksPath)
        } catch {
            self.connection = connection
            throw error.varlink
        }
    }

    /// Answers with a result of the queue that takes milliseconds to encode, or with its error. Another thread encodes
    /// it and the loop serves others meanwhile. Only for calls with a large cost, since ``CallGate`` bounds their
    /// number.
    func replyLater<Value: Sendable>(
        _ result: Result<Value, QueueServiceError>, _ body: @escaping @Sendable (inout JSONWriter, Value) -> Void
    ) {
        switch result {
        case .success(let value): switchboard?.encode({ Self.frame { body(&$0, value) } }, for: self)
        case .failure(let error): fail(error.varlink)
        }
    }

    /// Sends an answer that is already encoded.
    func reply(encoded frame: [UInt8]) { answer { frame } }

    /// Continues work on this call in the next turn of its user. If the caller has hung up, ends the call instead.
    func continueInTurn(_ work: @escaping () -> Void) { switchboard?.enqueue(work, for: self) }

    /// Answers with the events of a request from now on, or of all requests if `id` is `nil`.
    func stream(_ topics: Topics, request id: Int64?) throws(VarlinkError) {
        guard let connection, !connection.isClosed, !call.isOneWay else { return answer { [] } }
        self.connection = nil
        do throws(VarlinkError) {
            try topics.subscribe(connection, toRequest: id)
        } catch {
            self.connection = connection
            throw error
        }
    }

    /// Answers with the events of the journal from a cursor on.
    func follow(_ query: JournalQuery, _ followers: JournalFollowers) throws(VarlinkError) {
        guard let connection, !connection.isClosed, !call.isOneWay else { return answer { [] } }
        do throws(MonitorError) {
            let follower = try followers.follow(query, of: journalOwner, connection)
            self.connection = nil
            connection.stream(follower)
            // It reads only while its client does, and counts no longer as a call.
            if let gate { switchboard?.finish(gate, of: caller.user) }
        } catch {
            throw error.varlink
        }
    }

    /// - Parameter frame: Makes the answer. Not called if no one receives it.
    private func answer(_ frame: () -> [UInt8]) {
        guard let connection, let switchboard else { return }
        self.connection = nil
        switchboard.work(for: caller.user) {
            connection.finish(with: call.isOneWay || connection.isClosed ? nil : frame())
            if let gate { switchboard.finish(gate, of: caller.user) }
        }
    }
}

/// The process at the other end of a connection, with its credentials at the time it connected (SO_PEERCRED).
package struct Caller: Hashable, Sendable {
    package let user: UInt32
    package let group: UInt32
    package let process: Int32

    /// Whether the number stands for one user. All users that a user namespace has no number for share the overflow
    /// number, and cannot be told apart.
    package var isKnown: Bool { user != Self.overflowUser }

    /// The kernel's number for users without one.
    package static let overflowUser =
        SmallFile.words("/proc/sys/kernel/overflowuid").first.flatMap { UInt32($0) } ?? 65534
}

extension Caller {
    init(at socket: CInt) throws(SystemError) {
        var peer = reach_peer()
        let result = reach_peer_credentials(socket, &peer)
        guard result == 0 else { throw SystemError(call: "getsockopt(SO_PEERCRED)", number: -result) }
        self.init(user: peer.user, group: peer.group, process: peer.process)
    }
}
