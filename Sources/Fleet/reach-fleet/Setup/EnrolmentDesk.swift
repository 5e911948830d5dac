internal import Dispatch
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachTerminal
internal import Synchronization

/// Answers hosts that enrol: judges each request, stores the host in the list of hosts, and signs its token.
struct EnrolmentDesk {
    private let folder: AccountFolder
    private let issuer: TokenIssuer
    private let ticketKey: String
    private let life: Duration

    /// The most requests that wait. A host asks again.
    private static let queueLimit = 1024

    init(_ folder: AccountFolder, life: Duration) throws {
        self.folder = folder
        self.life = life
        issuer = try folder.issuer(of: .host)
        ticketKey = try folder.signer(of: .token).publicKey
    }

    /// Runs until it is stopped, or the server refuses its key.
    func serve(_ engine: EngineOptions) throws {
        let settings = try engine.settings(reconnects: true)
        let inbox = EnrolmentInbox(limit: Self.queueLimit)
        let link = try engine.connect(settings) { event in
            switch event {
            case .closed(let error): inbox.end(error)
            // A late answer is refused, too, and no reason to end.
            case .fault(let error) where error.kind == .notPermitted && error.description.containsUTF8("Subscription"):
                inbox.end(error)
            default: break
            }
        }
        let session = OperatorSession(link)
        let subscription = try link.subscribe(Enrolment.subject(host: "*", key: "*")) { inbox.add($0) }
        try link.flush()
        StandardOutput.write("waiting for hosts\n")
        while let message = try inbox.next() { try answer(message, session) }
        withExtendedLifetime(subscription) {}
    }

    private func answer(_ message: NATSMessage, _ session: OperatorSession) throws {
        guard let reply = message.reply else { return }
        let request = Enrolment.Request(subject: message.subject, message.payload)
        let outcome = request.map { result(of: $0, session) } ?? .failure(.damaged)
        let host = request?.host ?? "?"
        switch outcome {
        case .success(let token):
            try? session.link.publish(reply, Enrolment.Answer.token(token).payload)
            let end = Timestamp(secondsSince1970: Int(token.expires ?? 0), nanoseconds: 0)
            StandardOutput.write("\(host): enrolled until \(TimeText.describe(end)), key \(token.subject)\n")
        case .failure(let refusal):
            try? session.link.publish(reply, Enrolment.Answer(refusal).payload)
            StandardOutput.write("\(host): refused: \(DisplayText.sanitized(refusal.sentence))\n")
        }
    }

    private func result(
        of request: Enrolment.Request, _ session: OperatorSession
    ) -> Result<NATSToken, Enrolment.Refusal> {
        do {
            return .success(try enroll(request, session))
        } catch let refusal as Enrolment.Refusal {
            return .failure(refusal)
        } catch let error as NATSError {
            return .failure(.unavailable(error.description))
        } catch {
            return .failure(.unavailable((error as? FleetFailure)?.message ?? "\(error)"))
        }
    }

    /// Stores first: a host that is let in is in the list, and a token for one use is used up.
    private func enroll(_ request: Enrolment.Request, _ session: OperatorSession) throws -> NATSToken {
        let stored = try session.jetStream.entry(request.host, in: HostList.bucket)
        let old = stored?.value.flatMap { HostList.entry(request.host, $0) }
        var entry = try Enrolment.judge(
            request, ticketKey: ticketKey, entry: old, revoked: folder.revoked(), now: SystemClock.now.wall
        ) { $0.isSigned(by: .account) }
        let token = try issuer.token(for: request.key, name: request.host, groups: entry.groups, life: life)
        entry.expires = Timestamp(secondsSince1970: Int(token.expires ?? 0), nanoseconds: 0)
        try session.jetStream.put(
            request.host, in: HostList.bucket, HostList.value(entry), revision: stored?.revision ?? 0)
        if old?.key != entry.key {
            var note = try session.hostNote(request.host)
            if note.retired != nil {
                note.retired = nil
                try session.write(note, of: request.host)
            }
            session.record(OperatorAction(.enroll, on: request.host, text: "key \(entry.key)"))
        }
        return token
    }
}

/// Requests that wait for the thread that answers them.
private final class EnrolmentInbox: Sendable {
    private struct State: Sendable {
        var waiting: [NATSMessage] = []
        var end: NATSError?
    }

    private let state = Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func add(_ message: NATSMessage) {
        let isAdded = state.withLock { state in
            guard state.waiting.count < limit else { return false }
            state.waiting.append(message)
            return true
        }
        if isAdded { arrived.signal() }
    }

    func end(_ error: NATSError) {
        state.withLock { $0.end = error }
        arrived.signal()
    }

    /// Waits for the next one.
    func next() throws(NATSError) -> NATSMessage? {
        arrived.wait()
        let (message, end) = state.withLock { state in
            (state.waiting.isEmpty ? nil : state.waiting.removeFirst(), state.end)
        }
        if let message { return message }
        if let end { throw end }
        return nil
    }
}
