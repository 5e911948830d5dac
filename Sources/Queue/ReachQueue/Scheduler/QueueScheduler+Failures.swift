internal import ReachCore

/// What follows from a failed attempt: whose fault it counts as, how long to wait, and what others are spared.
extension QueueScheduler {
    enum Failure { case network, destination, uncounted, clock, disk }

    mutating func failed(_ index: Int, _ failure: Failure, _ result: RequestResult? = nil) {
        let attempt = attempts[index]
        let slot = attempt.slot
        let trigger: RequestTransition.Trigger =
            switch failure {
            case .network: .failedByNetwork
            case .destination: .failedByDestination
            case .uncounted, .clock, .disk: .failedUncounted
            }
        let state: QueuedRequestState = attempt.lingerUntil == nil ? .running : .lingering
        let outcome = RequestTransition.outcome(of: trigger, in: state, facts(attempt))
        if failure == .network || failure == .destination { canaryFailed(index) }
        _ = remove(index)
        // What a proxy says is no silence.
        if result == nil, failure == .network || failure == .destination, attempt.trouble != .proxyAuthentication {
            noteSilence(of: attempt)
        }
        requests[slot].failure = AttemptFailure(
            status: Int16(clamping: result?.status ?? 0), trouble: result == nil ? attempt.trouble : nil)
        let destination = requests[slot].destination
        if failure == .destination {
            destinationFailed(
                destination, by: attempt.path.interface, requests[slot].failure)
        }
        let asked = failure == .destination ? retryAfter(result) : nil
        if let asked { destinations.leaveAlone(destination, until: now + asked, at: now) }
        let wait = wait(slot, after: failure, asked: asked)
        if attempt.isCanary, failure == .network || failure == .destination {
            // The others are not sent after it into the same wall.
            destinations.hold(
                off: destination, until: now + wait, inEpoch: failure == .network ? epoch : nil, at: now)
        }
        if case .dies(let reason) = outcome { return finish(slot, .dead(reason), result) }
        if requests[slot].attempts >= requests[slot].maximumAttempts {
            return finish(slot, .dead(.exhausted), result)
        }
        if asked != nil, now + wait >= requests[slot].deadline { return finish(slot, .dead(.expired), result) }
        requests[slot].notBefore = now + wait
        if failure == .network, attempt.isSent { lose(slot) }
        publishRetry(slot, failure, result)
        place(slot)
        turn.changes.append(.update(progress(slot)))
        turn.asked.append(slot)
    }

    /// Counts the failure, and draws its wait.
    private mutating func wait(_ slot: Slot, after failure: Failure, asked: Duration?) -> Duration {
        var failures = Int(requests[slot].tries) - 1
        switch failure {
        case .network:
            failures = Int(requests[slot].networkFailures)
            requests[slot].networkFailures += 1
            requests[slot].startClass = .backlog
        case .destination:
            failures = Int(requests[slot].attempts)
            requests[slot].attempts += 1
            requests[slot].startClass = .retry
        case .uncounted: requests[slot].startClass = .backlog
        case .clock:
            requests[slot].startClass = .backlog
            requests[slot].flags.insert(.awaitsClock)
            requests[slot].flags.remove(.networkFailure)
            return policy.retries.clock
        case .disk:
            requests[slot].startClass = .backlog
            requests[slot].flags.remove(.networkFailure)
            return policy.retries.disk
        }
        if failure == .destination {
            requests[slot].flags.remove(.networkFailure)
        } else {
            requests[slot].flags.insert(.networkFailure)
        }
        let wait = policy.retryDelay(afterFailures: failures, using: &turn.random)
        return max(wait, asked ?? .zero)
    }

    private mutating func retryAfter(_ result: RequestResult?) -> Duration? {
        guard let result, let value = result.header("retry-after"),
            let wait = RetryAfter.parse(
                value, date: result.header("date"), now: moment.wall, longest: policy.retries.afterLongest)
        else { return nil }
        return min(RetryAfter.jittered(wait, using: &turn.random), policy.retries.afterLongest)
    }

    private mutating func publishRetry(_ slot: Slot, _ failure: Failure, _ result: RequestResult?) {
        let word =
            switch failure {
            case .network: "network"
            case .destination: "destination"
            case .uncounted: "interface"
            case .clock: "clock"
            case .disk: "disk"
            }
        var event = event(.retrying, slot, reason: word)
        event.status = result?.status
        event.notBefore = moment.at(requests[slot].notBefore).wall
        publish(event)
    }
}
