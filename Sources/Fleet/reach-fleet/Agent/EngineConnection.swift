internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop

/// The agent's connection: it makes one at a time, and returns answers on the loop's thread. Answers of a connection
/// that was closed do not come.
final class EngineConnection {
    typealias Handler = (FleetMachine.Input) -> Void

    private let host: String
    private let settings: NATSSettings
    private let loop: EventLoop
    private let handler: Handler
    private var link: NATSLink?
    private var subscriptions: [NATSSubscription] = []
    /// Counts connections; a callback of an older one is dropped.
    private var number = 0
    private var lastFault: NATSError?
    private let reference = LoopReference<EngineConnection>()
    private var onAnnouncement: (([UInt8]) -> Void)?
    /// Counts readings of the operator's documents; an answer to an older one is dropped.
    private var reading = 0
    private var desired: Reading?

    private struct Reading {
        var missing: Int
        var documents: [DesiredMachine.Document]
        let handler: ([DesiredMachine.Document]?) -> Void
    }
    /// What the daemon says of the Internet, to name the reason of a failed handshake.
    var connectivity: Connectivity = .unknown
    private(set) var lastError: String?
    /// Where the lease is that this connection wrote; `nil` if the next one is written whatever is there.
    private var leaseSequence: UInt64?

    init(_ host: String, _ settings: NATSSettings, on loop: EventLoop, handler: @escaping Handler) {
        self.host = host
        self.settings = settings
        self.loop = loop
        self.handler = handler
        reference.owner = self
    }

    deinit { reference.owner = nil }

    func connect() {
        number += 1
        (lastFault, leaseSequence) = (nil, nil)
        let (number, settings, mailbox, reference) = (number, settings, loop.mailbox, reference)
        BackgroundThread.start(named: "connect") {
            let result: Result<NATSLink, NATSError>
            do throws(NATSError) {
                result = .success(
                    try NATSLink.connect(settings) { event in
                        mailbox.post { _ in
                            guard let owner = reference.owner, owner.number == number else { return }
                            owner.handle(event)
                        }
                    })
            } catch {
                result = .failure(error)
            }
            mailbox.post { _ in
                guard let owner = reference.owner, owner.number == number else { return }
                owner.finish(result)
            }
        }
    }

    private func finish(_ result: Result<NATSLink, NATSError>) {
        switch result {
        case .success(let link):
            self.link = link
            lastError = nil
            handler(.connected(.init(start: link.connectedServerID, payloadLimit: link.maxPayload)))
        case .failure(let error): lose(error)
        }
    }

    private func handle(_ event: NATSLink.Event) {
        switch event {
        case .disconnected(let error), .closed(let error): lose(lastFault ?? error)
        case .fault(let error) where isOfAnotherHost(error):
            lastError = error.description
            close()
            handler(.disconnected(.wrongHost))
        case .fault(let error): if error.kind == .refused || error.kind == .tokenEnded { lastFault = error }
        case .reconnected, .lameDuck: break
        }
    }

    /// Whether the key has the rights of a host of another name: it may not receive this host's answers, or not write
    /// what is this host's own. Of several refusals that come at once libnats tells the last one.
    private func isOfAnotherHost(_ error: NATSError) -> Bool {
        // What servers of an earlier configuration let no host read says nothing about the name.
        error.kind == .notPermitted && !error.description.containsUTF8("DIRECT.GET.KV_")
            && (error.description.containsUTF8("\"\(settings.inbox).") || error.description.containsUTF8(".\(host)\""))
    }

    private func lose(_ error: NATSError) {
        lastError = error.description
        close()
        switch error.kind {
        case .tokenEnded: handler(.disconnected(.tokenEnded))
        case .refused, .notPermitted:
            // To a new connection the servers do not say why they refuse it.
            guard let end = endedToken else { return handler(.disconnected(.refused)) }
            lastError = "the token ended at \(end); \(error.description)"
            handler(.disconnected(.tokenEnded))
        case .untrusted where connectivity == .portal: handler(.disconnected(.portal))
        case .untrusted where SystemClock.now.wall < Self.oldestTime: handler(.disconnected(.clock))
        case .untrusted: handler(.disconnected(.untrusted))
        case .tlsFirst: handler(.disconnected(.tlsFirst))
        default: handler(.disconnected(.unreachable))
        }
    }

    /// When the token in the host's file ended; `nil` if it has not, or there is none.
    private var endedToken: Timestamp? {
        guard case .credentials(let path) = settings.identity, let seconds = NATSCredentials.read(path)?.token.expires
        else { return nil }
        let end = Timestamp(secondsSince1970: Int(seconds), nanoseconds: 0)
        return end <= SystemClock.now.wall ? end : nil
    }

    /// No certificate of today is valid at a time before this program was written.
    private static let oldestTime = Timestamp(nanosecondsSince1970: 1_760_000_000_000_000_000)

    /// Ends the connection; nothing more comes from it.
    func close() {
        number += 1
        subscriptions = []
        guard let link else { return }
        self.link = nil
        // Closing waits for libnats' threads.
        BackgroundThread.start(named: "close") { link.close() }
    }

    /// Waits until what was sent has arrived, and ends.
    func finish() {
        number += 1
        subscriptions = []
        guard let link else { return }
        self.link = nil
        try? link.flush(within: .seconds(2))
        link.close()
    }

    // MARK: - Requests

    private func request(
        _ subject: String, headers: [HeaderField] = [], _ payload: [UInt8] = [],
        noting: @escaping @Sendable (EngineConnection, Result<NATSMessage, NATSError>) -> Void = { _, _ in },
        _ answer: @escaping @Sendable (Result<NATSMessage, NATSError>) -> FleetMachine.Input
    ) {
        guard let link else { return }
        let (number, mailbox, reference) = (number, loop.mailbox, reference)
        do throws(NATSError) {
            _ = try link.request(subject, headers: headers, payload) { result in
                mailbox.post { _ in
                    guard let owner = reference.owner, owner.number == number else { return }
                    owner.note(result)
                    noting(owner, result)
                    owner.handler(answer(result))
                }
            }
        } catch {
            lastError = error.description
            let input = answer(.failure(error))
            loop.afterEvents { [weak self] in self?.handler(input) }
        }
    }

    private func note(_ result: Result<NATSMessage, NATSError>) {
        if case .failure(let error) = result { lastError = error.description }
    }

    func readTail(_ number: UInt64) {
        let subject = FleetNames.eventSubject(of: host)
        request(DirectGet.subject(stream: FleetNames.events, last: subject)) { result in
            .tail(number, EngineAnswer.tail(result))
        }
    }

    func readMark(_ number: UInt64) {
        let subject = FleetNames.subject(ofKey: host, in: FleetNames.state)
        request(DirectGet.subject(stream: FleetNames.stream(of: FleetNames.state), last: subject)) { result in
            .mark(number, EngineAnswer.mark(result))
        }
    }

    func readLease() {
        let subject = FleetNames.subject(ofKey: host, in: FleetNames.lease)
        request(DirectGet.subject(stream: FleetNames.stream(of: FleetNames.lease), last: subject)) { result in
            .lease(EngineAnswer.lease(result))
        }
    }

    func publish(_ number: UInt64, _ chunk: EventChunk, expecting tail: UInt64) {
        request(FleetNames.eventSubject(of: host), headers: chunk.headers(expecting: tail), chunk.payload) { result in
            .published(number, EngineAnswer.published(result))
        }
    }

    func put(_ state: HostState) {
        request(FleetNames.subject(ofKey: host, in: FleetNames.state), state.bytes) { result in
            .stateStored(EngineAnswer.isStored(result))
        }
    }

    func put(_ lease: HostLease) {
        let expectation = leaseSequence.map { HeaderField(EventChunk.expectation, String($0)) }
        request(
            FleetNames.subject(ofKey: host, in: FleetNames.lease), headers: expectation.map { [$0] } ?? [], lease.bytes
        ) { owner, result in
            owner.leaseSequence = EngineAnswer.sequence(result)
        } _: { result in
            EngineAnswer.renewed(result)
        }
    }

    // MARK: - What the operator wants

    /// Calls `handler` with each value that somebody writes on one of the subjects, until the connection ends.
    func watch(_ subjects: [String], _ handler: @escaping ([UInt8]) -> Void) {
        guard let link else { return }
        let (number, mailbox, reference) = (number, loop.mailbox, reference)
        onAnnouncement = handler
        do throws(NATSError) {
            for subject in subjects {
                subscriptions.append(
                    try link.subscribe(subject) { message in
                        let value = message.payload
                        mailbox.post { _ in
                            guard let owner = reference.owner, owner.number == number else { return }
                            owner.onAnnouncement?(value)
                        }
                    })
            }
        } catch {
            lastError = error.description
        }
    }

    /// Reads what keys of the operator's bucket hold.
    ///
    /// - Parameter handler: Called once with their documents in the order of the keys, or with `nil` if one could not
    ///   be read. Not called if the connection ends first.
    func readDesired(_ keys: [String], _ handler: @escaping ([DesiredMachine.Document]?) -> Void) {
        guard let link else { return }
        reading += 1
        desired = Reading(missing: keys.count, documents: keys.map { _ in .init() }, handler: handler)
        let (number, mailbox, reference, reading) = (number, loop.mailbox, reference, reading)
        for (index, key) in keys.enumerated() {
            let subject = FleetNames.subject(ofKey: key, in: FleetNames.desired)
            let stream = FleetNames.stream(of: FleetNames.desired)
            do throws(NATSError) {
                _ = try link.request(DirectGet.subject(stream: stream, last: subject), []) { result in
                    let document = EngineAnswer.document(result)
                    mailbox.post { _ in
                        guard let owner = reference.owner, owner.number == number, owner.reading == reading else {
                            return
                        }
                        owner.collect(document, index)
                    }
                }
            } catch {
                loop.afterEvents { [weak self] in self?.collect(nil, index) }
            }
        }
    }

    private func collect(_ document: DesiredMachine.Document?, _ index: Int) {
        guard let document else {
            let handler = desired?.handler
            desired = nil
            handler?(nil)
            return
        }
        desired?.documents[index] = document
        desired?.missing -= 1
        guard let whole = desired, whole.missing == 0 else { return }
        desired = nil
        whole.handler(whole.documents)
    }

    func deleteLease() {
        let subject = FleetNames.subject(ofKey: host, in: FleetNames.lease)
        try? link?.publish(subject, headers: [HeaderField("KV-Operation", "DEL")], [])
    }
}

/// What the engine's answers mean to the machine.
enum EngineAnswer {
    static func tail(_ result: Result<NATSMessage, NATSError>) -> FleetMachine.TailAnswer {
        do throws(NATSError) {
            guard let message = try DirectGet.message(try result.get()) else { return .none }
            guard let chunk = try? EventChunk(headers: message.headers, payload: message.payload) else {
                return .foreign(sequence: message.sequence)
            }
            return .message(sequence: message.sequence, chunk)
        } catch {
            return error.kind == .notPermitted ? .refused : .unavailable
        }
    }

    static func mark(_ result: Result<NATSMessage, NATSError>) -> FleetMachine.MarkAnswer {
        do throws(NATSError) {
            guard let message = try DirectGet.message(try result.get()),
                let state = try? HostState(message.payload), let log = state.log
            else { return .none }
            return .had(JournalCursor(log: log, n: state.n))
        } catch {
            // Servers of an earlier configuration do not let a host read its state.
            return error.kind == .notPermitted ? .none : .unavailable
        }
    }

    static func lease(_ result: Result<NATSMessage, NATSError>) -> FleetMachine.LeaseAnswer {
        // Servers of an earlier configuration do not let a host read its lease.
        guard let answer = try? result.get(), let message = try? DirectGet.message(answer),
            let entry = KeyValueEntry(message, bucket: FleetNames.lease), !entry.isExpired
        else { return .none }
        guard let value = entry.value else { return .deleted(at: entry.time) }
        return (try? HostLease(value)).map { .renewed($0, at: entry.time) } ?? .none
    }

    /// - Returns: `nil` if it could not be read.
    static func document(_ result: Result<NATSMessage, NATSError>) -> DesiredMachine.Document? {
        do throws(NATSError) {
            guard let message = try DirectGet.message(try result.get()) else { return .init() }
            let entry = KeyValueEntry(message, bucket: FleetNames.desired)
            return .init(revision: message.sequence, value: entry?.value ?? [])
        } catch {
            return nil
        }
    }

    static func published(_ result: Result<NATSMessage, NATSError>) -> FleetMachine.PublishAnswer {
        do throws(NATSError) {
            let ack = try JetStreamReply.ack(try result.get())
            return .stored(sequence: ack.sequence, isDuplicate: ack.isDuplicate)
        } catch {
            switch error.kind {
            case .wrongLastSequence(let last): return .wrongTail(last: last)
            case .tooLarge: return .tooLarge
            case .full: return .full
            case .notPermitted: return .refused
            default: return .unavailable
            }
        }
    }

    /// What became of a lease.
    static func renewed(_ result: Result<NATSMessage, NATSError>) -> FleetMachine.Input {
        do throws(NATSError) {
            _ = try JetStreamReply.ack(try result.get())
            return .leaseStored(true)
        } catch {
            switch error.kind {
            case .full: return .leaseFull
            case .wrongLastSequence: return .leaseTaken
            default: return .leaseStored(false)
            }
        }
    }

    /// Where the engine stored a message; `nil` if it did not.
    static func sequence(_ result: Result<NATSMessage, NATSError>) -> UInt64? {
        guard case .success(let message) = result else { return nil }
        return (try? JetStreamReply.ack(message))?.sequence
    }

    static func isStored(_ result: Result<NATSMessage, NATSError>) -> Bool {
        sequence(result) != nil
    }
}
