package import ReachCore
package import ReachKernel

/// What a look at the sockets leads to: a test of the path, a last look, a verdict.
extension SilenceMachine {
    /// Handles what a survey found.
    ///
    /// - Parameter time: The processor time that it took.
    package mutating func surveyed(
        _ ticket: Ticket, _ answer: SilenceAnswer, after time: Duration, at now: BootTime
    ) -> [SilenceCommand] {
        guard let (key, watch) = watches.first(where: { $0.value.phase.ticket == ticket }) else { return [] }
        watches[key]?.nextSurvey = now + Self.pause(after: answer, taking: time)
        if answer == .notAsked {
            let commands = failed()
            if hasGivenUp { return commands }
        } else {
            failures = 0
        }
        let sample: SilenceSample? = if case .sample(let found) = answer { found } else { nil }
        switch watch.phase {
        case .surveying:
            watches[key]?.phase = .idle
            guard let sample else { return [] }
            return suspect(key, sample, at: now)
        case .confirming(_, let test, let handshakes):
            // Something that was received before the test began is known.
            guard let sample, sample.sinceReceived.map({ $0 > now - test.began }) ?? true else {
                return refute(key, test, at: now)
            }
            return conclude(key, test, SilenceEvidence(test, handshakes: handshakes, at: now))
        default: return []
        }
    }

    /// The time to the next look at the sockets of a path.
    private static func pause(after answer: SilenceAnswer, taking time: Duration) -> Duration {
        let share = max(suspiciousInterval, time * surveyShare)
        return switch answer {
        case .notAsked: failurePause
        case .tooMany: max(share, tooManyPause)
        case .heard: max(share, readingInterval)
        case .sample: share
        }
    }

    /// Handles the result of a test.
    package mutating func tested(_ ticket: Ticket, _ result: SilenceTestResult, at now: BootTime) -> [SilenceCommand] {
        guard let (key, watch) = watches.first(where: { $0.value.phase.ticket == ticket }) else { return [] }
        switch watch.phase {
        case .testing(_, let test):
            guard !result.isAnswered, result.handshakes >= Self.leastHandshakes else {
                return refute(key, test, at: now)
            }
            lastTicket += 1
            watches[key]?.phase = .confirming(lastTicket, test, handshakes: result.handshakes)
            return [.survey(watch.path.route, hearing: now - test.began, lastTicket)]
        case .calling:
            watches[key]?.phase = .idle
            return result.isAnswered ? [.check(key)] : []
        default: return []
        }
    }

    // MARK: - Steps

    mutating func suspect(
        _ key: DefaultRoute.Key, _ sample: SilenceSample, at now: BootTime
    ) -> [SilenceCommand] {
        guard let watch = watches[key], now >= watch.nextTest, now >= watch.path.allowed,
            let suspicion = SilenceJudge.suspicion(
                in: sample, ignoring: patience[key.interface]?.ignored(at: now) ?? [], roundTrip: watch.path.roundTrip)
        else { return [] }
        statistics.tests += 1
        var commands: [SilenceCommand] = []
        for (other, watch) in watches.sorted(by: { $0.key.family.rawValue < $1.key.family.rawValue })
        where other == key || (other.interface == key.interface && watch.isFree(at: now)) {
            lastTicket += 1
            watches[other]?.phase = .testing(
                lastTicket, Test(suspicion: other == key ? suspicion : nil, began: now))
            watches[other]?.nextTest = now + Self.testGap
            let time = Self.testTime(max(watch.path.roundTrip, suspicion.roundTrip))
            commands.append(
                .test(watch.path.route, watch.path.servers, most: Self.testHandshakes, within: time, lastTicket))
        }
        return commands
    }

    /// The time for a test of a path with this round-trip time.
    static func testTime(_ roundTrip: Duration) -> Duration {
        let lastAnswer = roundTrip + testTime
        return min(max(testTime, roundTrip * 4), max(longestTestTime, min(lastAnswer, slowestTestTime)))
    }

    /// The test of a path found an answer, or could not be made.
    mutating func refute(_ key: DefaultRoute.Key, _ test: Test, at now: BootTime) -> [SilenceCommand] {
        watches[key]?.phase = .idle
        guard let suspicion = test.suspicion else { return [] }
        patience[key.interface, default: SilencePatience()].refute(suspicion.users, at: now)
        return releaseCompanions(of: key)
    }

    mutating func releaseCompanions(of key: DefaultRoute.Key) -> [SilenceCommand] {
        var commands: [SilenceCommand] = []
        for (other, watch) in companions(of: key) {
            commands += abandon(watch)
            watches[other]?.phase = .idle
        }
        return commands
    }

    /// Nothing answers by a path.
    mutating func conclude(
        _ key: DefaultRoute.Key, _ test: Test, _ evidence: SilenceEvidence
    ) -> [SilenceCommand] {
        let isFirst = test.suspicion != nil
        let isOtherSilent = watches.contains {
            $0.key.interface == key.interface && $0.value.path.state == .silent
        }
        guard isFirst || isOtherSilent else {
            watches[key]?.phase = .held(test, evidence)
            return []
        }
        watches[key]?.phase = .idle
        statistics.silent += 1
        var commands = [SilenceCommand.close(key, evidence)]
        for (other, watch) in companions(of: key) {
            guard case .held(_, let evidence) = watch.phase else { continue }
            watches[other]?.phase = .idle
            statistics.silent += 1
            commands.append(.close(other, evidence))
        }
        return commands
    }

    /// The paths that are tested together with this one.
    func companions(of key: DefaultRoute.Key) -> [DefaultRoute.Key: Watch] {
        watches.filter { other, watch in
            guard other != key, other.interface == key.interface else { return false }
            return switch watch.phase {
            case .testing(_, let test), .confirming(_, let test, _), .held(let test, _): test.suspicion == nil
            default: false
            }
        }
    }
}

extension SilenceEvidence {
    fileprivate init(_ test: SilenceMachine.Test, handshakes: Int, at now: BootTime) {
        self.init(
            transmissions: test.suspicion?.transmissions ?? 0, destinations: test.suspicion?.destinations ?? 0,
            duration: (test.suspicion?.duration ?? .zero) + (now - test.began), handshakes: handshakes)
    }
}
