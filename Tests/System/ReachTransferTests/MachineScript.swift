import ReachCore
import ReachTesting
import Testing

@testable import ReachTransfer

/// Sends events to a ``TransferMachine``, and records the actions that it returns, as texts.
struct MachineScript {
    enum Step: Sendable {
        case begin
        /// The body is open, with this many bytes.
        case opened(UInt64)
        case resolved(Result<[IPAddress], NameFailure>)
        case trusted
        /// A file, a name or an attempt could not be opened, resolved or started.
        case failed(TransferFailure.Reason)
        /// The request begins to be sent.
        case sending
        /// The same, by a connection that was used before.
        case sendingOnUsed
        case head(Int)
        case body(Int)
        case moved(received: UInt64 = 0, sent: UInt64 = 0)
        case paused(received: UInt64)
        case diskMoved(received: UInt64)
        case interrupted(TransferFailure.Reason)
        case stopped(received: UInt64 = 0)
        case ended(received: UInt64, sent: UInt64 = 0)
        case endedWithoutHead
        /// The attempt failed before its request was sent.
        case endedBefore(TransferFailure.Reason)
        case endedAfter(TransferFailure.Reason, received: UInt64 = 0)
        case redirect(to: String, received: UInt64 = 0, sent: UInt64 = 0)
        case decided(Bool)
        case closed(TransferFailure.Reason?)
        /// Seconds since the start; the deadline is reported where it has come.
        case clock(Double)
        /// The same, where nothing was acknowledged and the kernel has sent it again so often.
        case silent(Double, UInt32)
    }

    var machine: TransferMachine
    private(set) var actions: [String] = []
    private(set) var steps: [Step] = []
    private(set) var report: TransferReport?
    /// Which of the handler's calls cancels the transfer.
    var cancelsInCall: Int?
    /// What the handler sets in the call with the head.
    var sinkAtHead: TransferSink?
    private var calls = 0
    private var now = BootTime(nanoseconds: 0)
    private var phases = TransferPhases(started: BootTime(nanoseconds: 0))
    private var status: Int?

    init(_ request: TransferRequest) { machine = TransferMachine(request, startedAt: now) }

    var isOver: Bool { machine.hasEnded }

    // MARK: - Events

    mutating func apply(_ step: Step) {
        steps.append(step)
        switch step {
        case .begin: run(machine.begin(at: now))
        case .opened(let count): run(machine.bodyOpened(count: count, at: now))
        case .resolved(let answer): run(machine.resolved(answer, at: now))
        case .trusted: run(machine.trustFound(at: now))
        case .failed(let reason): run(machine.failed(TransferFailure(reason, "it"), at: now))
        case .interrupted(let reason): run(machine.interrupt(TransferFailure(reason, "it"), at: now))
        case .decided(let isAllowed): run(machine.redirectDecided(isAllowed, at: now))
        case .closed(let reason): run(machine.fileClosed(reason.map { TransferFailure($0, "it") }, at: now))
        case .clock(let seconds): advance(to: seconds)
        case .silent(let seconds, let timeouts):
            let time = Duration.seconds(seconds)
            advance(
                to: seconds,
                ConnectionSilence(
                    unacknowledged: 1, timeouts: timeouts, sinceAcknowledgment: time, sinceRequest: time))
        default: applyToAttempt(step)
        }
    }

    private mutating func applyToAttempt(_ step: Step) {
        switch step {
        case .sending:
            phases.requestStarted = now
            run(machine.requestStarted(phases, AttemptCounts(), at: now))
        case .sendingOnUsed:
            phases.requestStarted = now
            run(machine.requestStarted(phases, AttemptCounts(), isReused: true, at: now))
        case .head(let status):
            self.status = status
            run(machine.received(head: Self.head(status)))
        case .body(let count): run(machine.received(body: [UInt8](repeating: 1, count: count)))
        case .moved(let received, let sent): run(machine.moved(count(received, sent), at: now))
        case .paused(let received): run(machine.moved(count(received, 0, isPaused: true), at: now))
        case .diskMoved(let received):
            run(machine.becameReady(count(received, 0, isPaused: true), at: now))
            counts.isPaused = false
        case .stopped(let received): run(machine.attemptStopped(result(received), at: now))
        case .ended(let received, let sent): end(result(received, sent), head: status ?? 200)
        case .endedWithoutHead: end(result(0), head: nil)
        case .endedBefore(let reason), .endedAfter(let reason, _):
            var received: UInt64 = 0
            if case .endedAfter(_, let count) = step { received = count }
            var result = result(received)
            result.failure = TransferFailure(reason, "it")
            run(machine.attemptEnded(result, at: now))
        case .redirect(let target, let received, let sent):
            var result = result(received, sent)
            result.redirect = target
            end(result, head: 302)
        default: break
        }
    }

    private var counts = AttemptCounts()

    private mutating func count(_ received: UInt64, _ sent: UInt64, isPaused: Bool = false) -> AttemptCounts {
        counts = AttemptCounts(sent: sent, received: received, moved: sent + received, isPaused: isPaused)
        return counts
    }

    private mutating func result(_ received: UInt64, _ sent: UInt64 = 0) -> AttemptResult {
        var result = AttemptResult(phases: phases)
        result.counts = count(received, sent)
        return result
    }

    private mutating func end(_ result: AttemptResult, head: Int?) {
        var result = result
        result.status = head
        result.response = head.map(Self.head)
        run(machine.attemptEnded(result, at: now))
    }

    private mutating func advance(to seconds: Double, _ silence: ConnectionSilence? = nil) {
        now = max(now, BootTime(nanoseconds: Int64(seconds * 1e9)))
        guard let deadline = machine.deadline, deadline <= now else { return }
        run(machine.deadlineReached(machine.isTransferring ? counts : nil, silence, at: now))
    }

    private static func head(_ status: Int) -> ResponseHead {
        ResponseHead(status: status, version: "HTTP/1.1", fields: [HeaderField("ETag", "\"one\"")])
    }

    // MARK: - Actions

    private mutating func run(_ first: TransferMachine.Action?) {
        var next = first
        while let action = next {
            if case .route(let addresses) = action {
                run(machine.routed(addresses.map { TransferWay($0, by: nil) }, at: now))
            } else {
                note(action)
            }
            next = machine.proceed()
        }
    }

    static func isCall(_ action: String) -> Bool {
        ["sending", "head", "body", "progress", "ask", "end"].contains(action.prefix { $0 != " " })
    }

    private mutating func note(_ action: TransferMachine.Action) {
        let text = text(action)
        actions.append(text)
        guard Self.isCall(text) else { return }
        if text.hasPrefix("head"), let sinkAtHead { machine.request.sink = sinkAtHead }
        if calls == cancelsInCall { machine.cancel() }
        calls += 1
    }

    private mutating func text(_ action: TransferMachine.Action) -> String {
        switch action {
        case .openBody: return "open body"
        case .resolve(let question, _): return "resolve \(question.host)"
        case .findTrust: return "trust"
        case .route: return "route"
        case .attempt(let way):
            phases = machine.attemptPhases
            (status, counts) = (nil, AttemptCounts())
            return "attempt \(way.address)"
        case .stopAttempt: return "stop"
        case .leaveConnection: return "leave"
        case .reportSending: return "sending"
        case .openFile(let opening): return "file keep \(opening.keep) first \(opening.first.count)"
        case .write(let bytes): return "write \(bytes.count)"
        case .resumeAttempt: return "resume"
        case .decideRedirect(let redirect): return "ask \(redirect.to)"
        case .closeFile: return "close"
        case .report(.head(let head)): return "head \(head.status)"
        case .report(.body(let bytes)): return "body \(bytes.count)"
        case .report(.progress(let progress)): return "progress \(progress.sent)/\(progress.received)"
        case .report(.finished): return "the end is no event of these"
        case .finish(.finished(let report)):
            self.report = report
            return text(report)
        case .finish: return "no end"
        }
    }

    private func text(_ report: TransferReport) -> String {
        let file = report.fileBytes.map { " file \($0)" } ?? ""
        switch report.outcome {
        case .failure(let failure):
            return "end \(failure.reason.rawValue)\(file)" + (report.resume.map { " resume \($0.offset)" } ?? "")
        case .success(nil): return "end connected"
        case .success(let head?):
            let bytes = "sent \(report.sentBytes) of \(machine.record.bodyBytes ?? 0) got \(report.receivedBytes)"
            return "end \(head.status) \(bytes)\(file)"
        }
    }
}

// MARK: - Random courses

extension MachineScript {
    /// Takes a random step that is possible now: an attempt's events only while it is running, answers of other threads
    /// at any time, since they may be late.
    mutating func applyRandom(using random: inout SeededGenerator) {
        let seconds = Double((now.nanoseconds + Int64.random(in: 0...3_000_000_000, using: &random))) / 1e9
        var steps: [Step] = [
            .begin, .opened(5), .trusted,
            .resolved(.success([IPAddress(ipv4: 0xc000_0201), IPAddress(ipv4: 0xc000_0202)])),
            .clock(seconds), .clock(seconds), .interrupted(.networkChanged), .closed(nil), .closed(.fileFailed),
            .decided(true), .decided(false),
        ]
        switch machine.state {
        case .openingBody, .findingTrust: steps += [.failed(.fileFailed)]
        case .connecting:
            steps += [.sending, .sending, .sending, .endedBefore(.connectionRefused), .failed(.outOfMemory)]
        case .exchanging: steps += exchange(using: &random)
        case .stopping: steps += [.stopped(received: counts.received), .stopped(received: counts.received)]
        default: break
        }
        guard let step = steps.randomElement(using: &random) else { return }
        apply(step)
    }

    private func exchange(using random: inout SeededGenerator) -> [Step] {
        let received = counts.received + UInt64.random(in: 0...200, using: &random)
        guard status != nil else {
            let head = Step.head([200, 206, 404].randomElement(using: &random) ?? 200)
            return [head, head, head, .redirect(to: "/next"), .endedAfter(.connectionReset), .endedWithoutHead]
        }
        return [
            .body(2), .body(2), .body(2), .moved(received: received), .moved(received: received),
            .paused(received: received), .diskMoved(received: received), .ended(received: received),
            .endedAfter(.truncated, received: received),
        ]
    }

    /// Answers what the machine waits for without a timeout.
    mutating func answer() {
        switch machine.state {
        case .waiting: apply(.begin)
        case .openingBody: apply(.opened(5))
        case .routing: break
        case .findingTrust: apply(.trusted)
        case .stopping: apply(.stopped(received: counts.received))
        case .decidingRedirect: apply(.decided(false))
        case .flushing: apply(.closed(nil))
        case .resolving, .connecting, .exchanging, .finishing, .ended: break
        }
    }

    /// Whether the actions are in the order that handlers, attempts and files rely on.
    func check() {
        var order = ActionOrder()
        for action in actions { order.add(action) }
        #expect(order.faults.isEmpty, "\(order.faults): \(actions) after \(steps)")
        #expect(isOver && order.hasEnded && machine.deadline == nil, "\(actions) after \(steps)")
    }
}

/// The rules of ``MachineScript/check()``.
private struct ActionOrder {
    private(set) var faults: [String] = []
    private(set) var hasEnded = false
    private var (isSent, hasHead, hasFile, isClosed, isStopped) = (false, false, false, false, false)
    private var hasAttempt = false
    private var moved: (sent: UInt64, received: UInt64) = (0, 0)

    mutating func add(_ action: String) {
        let words = action.split(separator: " ").map(String.init)
        require(!hasEnded, "an action after the end")
        switch words[0] {
        case "attempt":
            hasAttempt = true
            (isSent, hasHead, isStopped) = (false, false, false)
            require(!hasFile, "an attempt after a file was opened")
        case "sending":
            require(hasAttempt && !isSent && !isStopped, "a request sent twice, or by no attempt")
            isSent = true
        case "head":
            require(isSent && !hasHead, "a head that is not the first")
            hasHead = true
        case "body": require(hasHead, "a body before its head")
        case "progress": addProgress(words[1])
        case "ask":
            require(isSent && !hasHead, "a redirect after a head")
            hasAttempt = false
        case "file":
            require(hasHead && !hasFile, "a file opened twice, or before the head")
            hasFile = true
        case "write", "close":
            require(hasFile && !isClosed, "a file used before it is open, or after its end")
            isClosed = words[0] == "close"
        case "stop":
            require(hasAttempt && !isStopped, "an attempt stopped twice")
            isStopped = true
        case "resume": require(hasAttempt && !isStopped, "an attempt resumed after its end")
        case "end":
            require(hasFile == isClosed, "a file left open")
            hasEnded = true
        default: break
        }
    }

    private mutating func addProgress(_ text: String) {
        let numbers = text.split(separator: "/").compactMap { UInt64($0) }
        require(numbers[0] >= moved.sent && numbers[1] >= moved.received, "progress that goes back")
        moved = (numbers[0], numbers[1])
    }

    private mutating func require(_ holds: Bool, _ fault: String) { if !holds { faults.append(fault) } }
}
