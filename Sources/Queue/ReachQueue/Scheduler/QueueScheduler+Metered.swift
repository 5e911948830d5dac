package import ReachCore

/// Budgets for metered links: what is counted, which requests wait for the next period, and which attempts end.
extension QueueScheduler {
    /// The time zone in which periods begin at midnight.
    package var zone: LocalZone {
        get { metered.zone }
        set { metered.zone = newValue }
    }

    /// The budgets that a client may see.
    package func meteredReports(for client: QueueInput.Client, at time: Timestamp) -> [MeteredReport] {
        guard metered.isNeeded else { return [] }
        var ledger = metered
        _ = ledger.advance(to: time)
        return ledger.reports(for: client.user)
    }

    // MARK: Periods

    /// Begins the periods whose time has come.
    mutating func advanceMetered() {
        guard metered.isNeeded else { return }
        let (changed, renewed) = metered.advance(to: moment.wall)
        turn.changes += changed.map(StoreChange.setMetered)
        guard !renewed.isEmpty else { return }
        for report in renewed { publishMetered(.meteredRenewed, report) }
        meteredBarsChanged()
    }

    private mutating func publishMetered(_ kind: QueueEvent.Kind, _ report: MeteredReport) {
        var event = event(kind)
        event.owner = report.scope.owner
        event.budget = report
        publish(event)
    }

    private mutating func meteredBarsChanged() {
        for group in gates.all where gates[group].key.payer != .exempt { evaluate(group) }
    }

    // MARK: Attempts

    mutating func beginCharge(_ attempt: RunningAttempt) {
        guard metered.isNeeded else { return }
        let changed = metered.begin(
            attempt.id, attempt.number, of: attempt.owner, by: attempt.path, bytes: requests[attempt.slot].bytes)
        turn.refusable += changed.map(StoreChange.setMetered)
    }

    /// An attempt has moved bytes.
    ///
    /// - Parameter left: What is left of it, as far as that is known.
    mutating func spent(_ id: RequestID, _ number: Int, total: Int64, left: Int64?, isLast: Bool) {
        guard metered.isNeeded else { return }
        let (changed, reached, isUsedUp) = metered.spend(
            id, number, total: total, isLast: isLast, network.paths)
        turn.changes += changed.map(StoreChange.setMetered)
        for (report, share) in reached { publishMetered(share < 100 ? .meteredLow : .meteredUsed, report) }
        if isUsedUp { meteredBarsChanged() }
        if !isLast { interruptIfBarred(id, number, left: left) }
    }

    /// Ends an attempt that goes on beyond a budget. What cannot be repeated finishes, and what is nearly over.
    private mutating func interruptIfBarred(_ id: RequestID, _ number: Int, left: Int64?) {
        guard let index = attempts.index(of: id), attempts[index].number == number,
            attempts[index].phase == .sending, attempts[index].lingerUntil == nil
        else { return }
        let attempt = attempts[index]
        let path = network.paths?[interfaceIndex: attempt.path.interfaceIndex] ?? attempt.path
        let bar = metered.bar(for: gates[requests[attempt.slot].group].key.payer)
        let isNearlyOver = left.map { $0 <= policy.canaries.smallBytes } ?? false
        guard bar.bars(path), facts(attempt).isRepeatable, !isNearlyOver else { return }
        interrupt(index, reason: Blocker.meteredBudget.words[0])
    }

    // MARK: Bodies that do not fit

    /// The time at which a request is looked at again whose body is larger than what is left of a budget; `nil` if it
    /// may start.
    func meteredWait(_ slot: Slot) -> BootTime? {
        let entry = requests[slot]
        let group = gates[entry.group]
        guard group.key.payer != .exempt, entry.bytes > policy.canaries.smallBytes, !entry.flags.contains(.resumable),
            let path = group.path, let tightest = metered.tightest(for: entry.owner, by: path),
            entry.bytes > tightest.left
        else { return nil }
        let wait = tightest.renewed.map { moment.wall.duration(to: $0) } ?? MeteredLedger.longestWait
        return now + min(max(wait, .seconds(1)), MeteredLedger.longestWait)
    }

    func meteredWords(of entry: QueueEntry, in group: RequestGroup) -> (text: String, remedy: String) {
        let path = group.path ?? network.paths?.paths.first { $0.traits.isMetered }
        let end = "when there is an unmetered link"
        guard let path, let report = metered.tightest(for: entry.owner, by: path) else {
            return ("A budget for metered links is used up.", "It starts \(end).")
        }
        let name =
            switch report.scope {
            case .all: "The budget of \(report.budget) for metered links"
            case .user: "The user's budget of \(report.budget) for metered links"
            case .link(let pattern): "The budget of \(report.budget) for \(DisplayText.sanitized(pattern))"
            }
        let next =
            report.renewed.map { ", or when the next period begins on \(zone.day($0))" }
            ?? "; periods begin when the clock is set"
        guard report.left > 0 else { return ("\(name) is used up.", "It starts \(end)\(next).") }
        return (
            "\(name) has \(ByteCount.describe(report.left)) left, and its body has \(ByteCount.describe(entry.bytes)).",
            "It starts \(end)\(next)."
        )
    }
}

extension LocalZone {
    /// The date of a time.
    fileprivate func day(_ time: Timestamp) -> String { self.time(time).date }
}
