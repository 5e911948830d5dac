internal import ReachCore
internal import ReachLoop
internal import ReachRecords

/// Tests the way to the Internet in an outage, once it has lasted, on a thread of its own. Confined to the engine's
/// loop.
final class OutageTester {
    private let loop: EventLoop
    private let loopReference = LoopReference<OutageTester>()
    private let thread = SerialThread(named: "reach-tests")
    private let test: () -> Test
    private let record: (OutageEvidence) -> Void
    private var timer: TimerQueue.ID?
    private var isTesting = false
    /// When the last test began.
    private var last: BootTime?

    /// A test that may take long and runs on another thread; `nil` if nothing could be tested.
    typealias Test = @Sendable () -> OutageEvidence?

    /// Most outages that end by themselves are shorter, and the connectivity checks need some seconds to decide.
    static let delay: Duration = .seconds(10)
    /// A line that is lost again and again must not be filled with tests.
    static let shortestInterval: Duration = .seconds(600)

    /// - Parameters:
    ///   - test: Called on the loop's thread, for the test of an outage.
    ///   - record: Receives what was found.
    init(on loop: EventLoop, test: @escaping () -> Test, record: @escaping (OutageEvidence) -> Void) {
        self.loop = loop
        self.test = test
        self.record = record
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    /// The time for the test of an outage that begins now.
    static func time(at now: BootTime, after last: BootTime?) -> BootTime {
        max(now + delay, last.map { $0 + shortestInterval } ?? now)
    }

    func begin() {
        guard timer == nil, !isTesting else { return }
        timer = loop.schedule(at: Self.time(at: SystemClock.boot, after: last)) { [weak self] in self?.run() }
    }

    func end() {
        timer.map(loop.cancel)
        timer = nil
    }

    private func run() {
        timer = nil
        isTesting = true
        last = SystemClock.boot
        let (test, reference, mailbox) = (test(), loopReference, loop.mailbox)
        thread.run {
            let evidence = test()
            mailbox.post { _ in
                reference.owner?.isTesting = false
                if let evidence { reference.owner?.record(evidence) }
            }
        }
    }
}

extension OutageEvidence {
    /// - Parameter target: The target by which the history names it.
    init(_ diagnosis: Diagnosis, of target: String) {
        let steps = diagnosis.steps.map { step in
            let time = step.duration.map { " (" + DurationText.milliseconds($0) + ")" } ?? ""
            return "\(step.subject.rawValue) \(step.finding.rawValue): \(step.text)\(time)"
        }
        self.init(
            target: target, outcome: diagnosis.outcome.rawValue, party: diagnosis.blame?.party.rawValue,
            text: diagnosis.blame?.text ?? "", steps: steps)
    }
}
