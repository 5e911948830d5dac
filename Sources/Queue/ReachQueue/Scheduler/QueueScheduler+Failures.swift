internal import ReachCore

/// What follows from a failed attempt: whose fault it counts as, how long to wait, and what others are spared.
extension QueueScheduler {
    enum Failure { case network, destination, uncounted, clock }

    mutating func failed(_ index: Int, _ failure: Failure, _ result: RequestResult? = nil) {
        let attempt = running[index]
        let slot = attempt.slot
        let trigger: RequestTransition.Trigger =
            switch failure {
            case .network: .failedByNetwork
            case .destination: .failedByDestination
            case .uncounted, .clock: .failedUncounted
            }
        let state: QueuedRequestState = attempt.lingerUntil == nil ? .running : .lingering
        let outcome = RequestTransition.outcome(of: trigger, in: state, facts(attempt))
        if failure == .network || failure == .destination { canaryFailed(index) }
        _ = remove(index)
        entries[Int(slot)].place = .parked
        entries[Int(slot)].failureStatus = Int16(clamping: result?.status ?? 0)
        let destination = entries[Int(slot)].destination
        if failure == .destination {
            destinationFailed(
                destination, by: attempt.path.interface, status: entries[Int(slot)].failureStatus)
        }
        let asked = failure == .destination ? retryAfter(result) : nil
        if let asked { leaveAlone(destination, until: now + asked) }
        let wait = wait(slot, after: failure, asked: asked)
        if attempt.isCanary, failure == .network || failure == .destination {
            // The others are not sent after it into the same wall.
            hold(off: destination, until: now + wait, isNetworkFailure: failure == .network)
        }
        if case .dies(let reason) = outcome { return finish(slot, .dead(reason), result) }
        if entries[Int(slot)].attempts >= entries[Int(slot)].maximumAttempts {
            return finish(slot, .dead(.exhausted), result)
        }
        if asked != nil, now + wait >= entries[Int(slot)].deadline { return finish(slot, .dead(.expired), result) }
        entries[Int(slot)].notBefore = now + wait
        if failure == .network, attempt.isSent { lose(slot) }
        publishRetry(slot, failure, result)
        place(slot)
        turn.changes.append(.update(progress(slot)))
        turn.asked.append(slot)
    }

    /// Counts the failure, and draws its wait.
    private mutating func wait(_ slot: Int32, after failure: Failure, asked: Duration?) -> Duration {
        let index = Int(slot)
        var failures = Int(entries[index].tries) - 1
        switch failure {
        case .network:
            failures = Int(entries[index].networkFailures)
            entries[index].networkFailures += 1
            entries[index].startClass = .backlog
        case .destination:
            failures = Int(entries[index].attempts)
            entries[index].attempts += 1
            entries[index].startClass = .retry
        case .uncounted: entries[index].startClass = .backlog
        case .clock:
            entries[index].startClass = .backlog
            entries[index].flags.insert(.awaitsClock)
            entries[index].flags.remove(.networkFailure)
            return policy.clockRetry
        }
        if failure == .destination {
            entries[index].flags.remove(.networkFailure)
        } else {
            entries[index].flags.insert(.networkFailure)
        }
        let wait = policy.retryDelay(afterFailures: failures, using: &random)
        return max(wait, asked ?? .zero)
    }

    private mutating func retryAfter(_ result: RequestResult?) -> Duration? {
        guard let result, let value = result.header("retry-after"),
            let wait = RetryAfter.parse(
                value, date: result.header("date"), now: moment.wall, longest: policy.retryAfterLongest)
        else { return nil }
        return min(RetryAfter.jittered(wait, using: &random), policy.retryAfterLongest)
    }

    private mutating func publishRetry(_ slot: Int32, _ failure: Failure, _ result: RequestResult?) {
        let word =
            switch failure {
            case .network: "network"
            case .destination: "destination"
            case .uncounted: "interface"
            case .clock: "clock"
            }
        var event = event(.retrying, slot, reason: word)
        event.status = result?.status
        event.notBefore = moment(of: entries[Int(slot)].notBefore).wall
        publish(event)
    }
}
