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

    /// The most hosts that wait. A host asks again.
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
            case .disconnected, .reconnected, .lameDuck, .fault: break
            }
        }
        let session = OperatorSession(link)
        let subscription = try link.subscribe(Enrolment.subject(host: "*", key: "*")) { inbox.add($0) }
        try link.flush()
        StandardOutput.write(lines: "waiting for hosts\n")
        var pace = EnrolmentPace(life: life)
        while let message = try inbox.next() { try answer(message, session, &pace) }
        withExtendedLifetime(subscription) {}
    }

    private func answer(_ message: NATSMessage, _ session: OperatorSession, _ pace: inout EnrolmentPace) throws {
        guard let reply = message.reply else { return }
        // The server lets each publish one subject only, so what is asked too often is the host's own doing.
        if case .refused(let isFirst) = pace.ask(message.subject, at: SystemClock.boot) {
            try? session.link.publish(reply, Enrolment.Answer(.unavailable("this host asks too often")).payload)
            let host = message.subject.split(scalar: ".").dropFirst(3).first.map(String.init) ?? "?"
            if isFirst { StandardOutput.write(lines: "\(DisplayText.sanitized(host)): refused: it asks too often\n") }
            return
        }
        let request = Enrolment.Request(subject: message.subject, message.payload)
        let outcome = request.map { result(of: $0, session) } ?? .failure(.damaged)
        let host = request?.host ?? "?"
        switch outcome {
        case .success(let token):
            try? session.link.publish(reply, Enrolment.Answer.token(token).payload)
            let end = Timestamp(secondsSince1970: Int(token.expires ?? 0), nanoseconds: 0)
            StandardOutput.write(lines: "\(host): enrolled until \(TimeText.describe(end)), key \(token.subject)\n")
        case .failure(let refusal):
            try? session.link.publish(reply, Enrolment.Answer(refusal).payload)
            StandardOutput.write(lines: "\(host): refused: \(DisplayText.sanitized(refusal.sentence))\n")
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
        var waiting: EnrolmentTurns<NATSMessage>
        var end: NATSError?
    }

    private let state: Mutex<State>
    private let arrived = DispatchSemaphore(value: 0)

    init(limit: Int) { state = Mutex(State(waiting: EnrolmentTurns(limit: limit))) }

    func add(_ message: NATSMessage) {
        if state.withLock({ $0.waiting.add(message, of: message.subject) }) { arrived.signal() }
    }

    func end(_ error: NATSError) {
        state.withLock { $0.end = error }
        arrived.signal()
    }

    /// Waits for the next one.
    func next() throws(NATSError) -> NATSMessage? {
        arrived.wait()
        let (message, end) = state.withLock { ($0.waiting.next(), $0.end) }
        if let message { return message }
        if let end { throw end }
        return nil
    }
}
