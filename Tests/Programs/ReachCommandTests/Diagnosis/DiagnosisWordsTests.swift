import Foundation
import ReachControl
import ReachCore
import ReachProbe
import ReachRecords
import ReachTerminal
import ReachTesting
import Testing

@testable import reach

/// What `explain --probe`, `status`, the history and a mail say of one and the same fault.
struct DiagnosisWordsTests {
    /// The kernel's faults that a test by packets finds at once. The others are asked for by packets first.
    private static let shown = RootCause.Kind.allCases.filter { kind in
        ![.gatewayUnreachable, .neighbourUnreachable, .nameNotResolved].contains(kind)
    }

    private static func broken(_ kind: RootCause.Kind) -> (cause: RootCause, reason: Reason) {
        let reason = Reason(rawValue: kind.rawValue) ?? .noRoute
        return (RootCause(kind, interface: "up0"), reason)
    }

    private static func state(_ kind: RootCause.Kind) -> ReachabilityState {
        let (cause, reason) = broken(kind)
        var state = ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
        state.status = .notReachable
        state.reason = reason
        state.rootCause = cause
        return state
    }

    /// What a diagnosis says where the kernel has no path, and nothing is sent.
    private static func diagnosis(_ kind: RootCause.Kind) throws -> Diagnosis {
        let (cause, reason) = broken(kind)
        let path = NetworkPath(status: .notReachable, reason: reason)
        var machine = DiagnosisMachine(
            DiagnosisEvidence(title: "internet", target: try DiagnosisDestination.read("tcp://198.51.100.80:22")))
        while case let tasks = machine.nextTasks(), !tasks.isEmpty {
            for task in tasks {
                switch task {
                case .servers: machine.record(.servers([]), of: task)
                default:
                    let fact = PathFact(
                        status: .notReachable, reason: reason, rootCause: cause, ipv4: path, ipv6: .notAsked)
                    machine.record(.path(fact), of: task)
                }
            }
        }
        return machine.diagnosis
    }

    @Test(arguments: shown)
    func `one fault has one sentence and one layer`(kind: RootCause.Kind) throws {
        let state = Self.state(kind)
        let sentence = try #require(state.rootCause).sentence
        let diagnosis = try Self.diagnosis(kind)
        #expect(diagnosis.blame?.text == sentence)
        let headline = DiagnosisText(style: .plain, width: 200).describe(diagnosis).split(separator: "\n").first
        #expect(headline.map(String.init)?.contains(sentence) == true)
        #expect(StatusText(style: .plain).describe(state).contains(sentence))
        var judge = OutageJudge()
        let recorded = HistoryEntry.State(
            target: "internet", status: state.status, reason: state.reason?.rawValue,
            rootCause: state.rootCause?.kind.rawValue, rootInterface: state.rootCause?.interface)
        guard case .unusable(let outage)? = judge.observe(recorded, at: .zero)?.finding else {
            Issue.record("the history has no outage")
            return
        }
        #expect(outage.layer == diagnosis.blame?.layer)
    }

    @Test(arguments: [RootCause.Kind.noCarrier, .noDefaultRoute, .selfAssignedAddress])
    func `a mail says what status says`(kind: RootCause.Kind) throws {
        let state = Self.state(kind)
        let sentence = try #require(state.rootCause).sentence
        let directory = try TemporaryDirectory()
        try directory.file("sendmail", "#!/bin/sh\ncat >>'\(directory.path)/record'\n", mode: 0o755)
        try directory.file("notify.conf", "SENDMAIL=\(directory.path)/sendmail\nMAIL_TO=a@example.org\nMAIL_BY=hook\n")
        let result = try BuiltProgram(named: "/bin/sh").run(
            ["-c", "echo '{}' | \"$0\"", ProjectFile.path("contrib/hooks/notify")],
            environment: [
                "REACH_NOTIFY_CONF": directory.path + "/notify.conf", "REACH_NOTIFY_STATE": directory.path + "/state",
                "REACH_TARGET": "internet", "REACH_CHANGED": "status", "REACH_STATUS": "not-reachable",
                "REACH_REASON": state.reason?.rawValue ?? "", "REACH_ROOT_CAUSE": kind.rawValue,
                "REACH_ROOT_INTERFACE": "up0", "REACH_ROOT_TEXT": sentence, "REACH_SKIPPED": "0",
            ])
        #expect(result.status == 0, "\(result)")
        #expect(
            try String(contentsOfFile: directory.path + "/record", encoding: .utf8).contains(
                "internet is not reachable: \(sentence)."))
    }
}
