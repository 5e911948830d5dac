import Glibc
import ReachCore
import ReachQueue
import ReachTransfer
import Testing

@testable import ReachQueueRuntime

/// What ends of transfers mean to the queue.
@Suite struct AttemptEndTests {
    private static let verdicts: [(TransferFailure.Reason, Int32, FailureClassifier.Verdict)] = [
        (.networkUnreachable, ENETUNREACH, .network), (.networkDown, 0, .network), (.noDevice, ENODEV, .network),
        (.addressNotAvailable, EADDRNOTAVAIL, .network), (.networkChanged, 0, .undecided),
        (.nameNotFound, 0, .undecided), (.nameServerSilent, 0, .undecided),
        (.connectionRefused, ECONNREFUSED, .undecided),
        (.hostUnreachable, EHOSTUNREACH, .undecided), (.connectTimeout, 0, .undecided), (.truncated, 0, .undecided),
        (.badRange, 0, .undecided), (.badEncoding, 0, .permanent(.unreadable)), (.bindRefused, EPERM, .uncounted),
        (.wrongPath, 0, .uncounted),
        (.redirectRefused, 0, .permanent(.redirects)), (.tooManyRedirects, 0, .permanent(.redirects)),
        (.responseTooLarge, 0, .permanent(.unreadable)), (.headerTooLarge, 0, .permanent(.unreadable)),
        (.badRequest, 0, .permanent(.invalid)), (.unsupportedProtocol, 0, .permanent(.invalid)),
        (.certificateUntrusted, 0, .permanent(.untrusted)), (.certificateWrongHost, 0, .permanent(.untrusted)),
        (.pinMismatch, 0, .permanent(.pinMismatch)), (.clientCertificate, 0, .permanent(.file)),
        (.fileFailed, ENOSPC, .disk), (.fileFailed, EDQUOT, .disk), (.fileFailed, EIO, .uncounted),
        (.fileFailed, ENOENT, .permanent(.file)), (.outOfMemory, 0, .uncounted),
        (.engineFailed, 0, .uncounted),
    ]

    @Test func `every reason is the network's, the destination's, the request's or no one's fault`() {
        for (reason, number, verdict) in Self.verdicts {
            let fault = AttemptFault(TransferFailure(reason, "", systemError: number), isClockUnset: { false })
            #expect(FailureClassifier.judge(fault, pathChanged: false) == verdict, "\(reason)")
        }
    }

    @Test(arguments: TransferFailure.Reason.allCases)
    func `a reason of security or of the request itself is never tried again`(reason: TransferFailure.Reason) {
        let fault = AttemptFault(TransferFailure(reason, ""), isClockUnset: { false })
        let verdict = FailureClassifier.judge(fault, pathChanged: false)
        guard reason.kind == .security || reason.kind == .request, reason != .badRange else { return }
        if case .permanent = verdict { return }
        Issue.record("\(reason) is \(verdict)")
    }

    @Test func `a failure has the words that a person reads, and a full disk says so`() {
        let words: [(TransferFailure.Reason, Int32, String?)] = [
            (.nameNotFound, 0, "there is no such name"), (.nameServerSilent, 0, "no name server answered"),
            (.connectionRefused, ECONNREFUSED, "the connection was refused"),
            (.proxyAuthentication, 0, "the proxy wants other credentials"),
            (.fileFailed, ENOSPC, "the disk has no room for the answer"), (.fileFailed, ENOENT, nil),
            (.networkUnreachable, ENETUNREACH, nil),
        ]
        for (reason, number, text) in words {
            let fault = AttemptFault(TransferFailure(reason, "", systemError: number), isClockUnset: { false })
            #expect(fault.trouble?.words == text, "\(reason)")
        }
        #expect(AttemptFault(delivery: ENOSPC).kind == .disk && AttemptFault(delivery: EIO).kind == .local)
        #expect(AttemptFault(delivery: EACCES).kind == .file)
        // Unlike the proxy that the request itself names.
        #expect(FailureClassifier.judge(.ofUsualProxy, pathChanged: false) == .network)
    }

    @Test func `certificates are judged when the clock is set`() {
        for reason in [TransferFailure.Reason.certificateExpired, .certificateNotYetValid] {
            let unset = AttemptFault(TransferFailure(reason, ""), isClockUnset: { true })
            #expect(FailureClassifier.judge(unset, pathChanged: false) == .clock)
        }
        let wrong = AttemptFault(TransferFailure(.certificateWrongHost, ""), isClockUnset: { true })
        #expect(FailureClassifier.judge(wrong, pathChanged: false) == .permanent(.untrusted))
    }

    @Test func `keys have the form of a UUID of version 7, and grow with time`() {
        var generator = SystemRandomNumberGenerator()
        let early = UniqueKey.make(milliseconds: 0x0123_4567_89ab, using: &generator)
        let late = UniqueKey.make(milliseconds: 0x0123_4567_89ac, using: &generator)
        #expect(early.hasPrefix("01234567-89ab-7"))
        #expect(early < late)
        let variant = early.split(separator: "-")[3].first
        #expect(variant.map { "89ab".contains($0) } == true)
        #expect(early.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12])
    }
}

/// What attempts show of paths.
@Suite struct PathWitnessTests {
    private func time(_ seconds: Int64) -> BootTime { BootTime(nanoseconds: seconds * 1_000_000_000) }
    private let one = Destination(stored: "http://a.example:80")
    private let two = Destination(stored: "http://b.example:80")

    @Test func `one silent host says nothing, two speak against the path, and one answer proves it`() {
        var health = PassiveHealth()
        #expect(health.evidence(on: 1, at: time(0)) == .none)
        health.note(silenceOf: one, by: 1, at: time(0))
        health.note(silenceOf: one, by: 1, at: time(1))
        #expect(health.evidence(on: 1, at: time(1)) == .none)
        health.note(silenceOf: two, by: 1, at: time(2))
        #expect(health.evidence(on: 1, at: time(2)) == .fails)
        #expect(health.evidence(on: 2, at: time(2)) == .none, "another path is another matter")
        health.note(answerFrom: one, by: 1, at: time(3))
        #expect(health.evidence(on: 1, at: time(3)) == .works)
        #expect(health.evidence(on: 1, at: time(14)) == .none, "an answer of long ago proves nothing")
    }

    @Test func `what was silent long ago says nothing`() {
        var health = PassiveHealth()
        health.note(silenceOf: one, by: 1, at: time(0))
        health.note(silenceOf: two, by: 1, at: time(29))
        #expect(health.evidence(on: 1, at: time(29)) == .fails)
        #expect(health.evidence(on: 1, at: time(31)) == .none)
    }
}
