internal import ReachCore

/// What was moved over metered links, and what running attempts may still move before that is written down.
///
/// Invariants: a scope has an account once it has moved something; the file has at least the bytes of each account, and
/// while an attempt runs a step more, so a kill loses nothing that was reported; after it, what was set aside for the
/// attempt counts.
struct MeteredLedger: Sendable {
    private struct AttemptKey: Hashable {
        let id: RequestID
        let number: Int
    }

    /// What one attempt has moved.
    private struct Charge {
        let owner: UInt32
        var path: QueuePath
        var reported: Int64 = 0
        /// The file has the attempt as if it had moved this much.
        var covered: Int64 = 0
        /// The scopes that were charged last.
        var scopes: [MeteredScope]
    }

    private struct Day {
        let number: Int64
        let from: Timestamp
        let to: Timestamp
    }

    /// So much is set aside at a time, so that the file is written once for each 256 KiB.
    static let step: Int64 = 256 << 10
    /// Set aside for a handshake and an answer before an attempt begins.
    static let beginning: Int64 = 16 << 10
    /// The wait for a period that begins later is looked at again: the clock may be set meanwhile.
    static let longestWait: Duration = .seconds(3600)

    /// Budgets may come and go; what was moved within one counts when it is back.
    var fixed: FixedPolicy {
        didSet {
            // Other periods may have begun.
            day = nil
            if policy.isEmpty { charges = [:] }
            refreshUsedUp()
        }
    }
    /// Where midnight is.
    var zone = LocalZone.utc
    private var accounts: [MeteredScope: MeteredAccount] = [:]
    private var charges: [AttemptKey: Charge] = [:]
    private var day: Day?
    private var usedUp: Set<MeteredScope> = []

    init(_ fixed: FixedPolicy) { self.fixed = fixed }

    private var policy: MeteredPolicy { fixed.policy.metered }

    var isNeeded: Bool { !policy.isEmpty }

    // MARK: What is left

    func payer(of owner: UInt32, isOverBudget: Bool) -> MeteredPayer {
        if isOverBudget { return .exempt }
        return policy.perUser != nil && owner != 0 ? .user(owner) : .anyone
    }

    func bar(for payer: MeteredPayer) -> MeteredBar {
        if payer == .exempt || usedUp.isEmpty { return MeteredBar() }
        return policy.bar(for: payer, isUsedUp: usedUp.contains)
    }

    /// The budget with the least left for a path; `nil` where none is concerned.
    func tightest(for owner: UInt32, by path: QueuePath) -> MeteredReport? {
        policy.scopes(of: owner, by: path).compactMap(report).min { $0.left < $1.left }
    }

    private func report(of scope: MeteredScope) -> MeteredReport? {
        policy.budget(of: scope).map { budget in
            let account = accounts[scope] ?? MeteredAccount(scope)
            return MeteredReport(
                scope: scope, budget: budget, used: account.bytes, renewed: renewal(of: account, budget))
        }
    }

    /// The budgets that a user may see: those of all, of links, and their own; for root, those of all users who moved
    /// something.
    func reports(for user: UInt32) -> [MeteredReport] {
        var scopes: [MeteredScope] = policy.all == nil ? [] : [.all]
        if policy.perUser != nil {
            scopes += user == 0 ? accounts.keys.compactMap(\.owner).sorted().map { .user($0) } : [.user(user)]
        }
        scopes += policy.links.map { .link($0.match.pattern) }
        return scopes.compactMap(report)
    }

    /// When the next period begins; `nil` while the clock is not set.
    private func renewal(of account: MeteredAccount, _ budget: MeteredBudget) -> Timestamp? {
        guard let day else { return nil }
        let begins = policy.begins(in: budget.period)
        let first = account.first ?? budget.period.first(of: day.number, begins: begins)
        return midnight(of: budget.period.next(after: first, begins: begins))
    }

    /// When something is to be looked at again, since a budget is used up; `nil` while none is.
    func deadline(at moment: Instant) -> BootTime? {
        guard !usedUp.isEmpty else { return nil }
        let renewals = usedUp.compactMap { scope in report(of: scope)?.renewed }
        let left = renewals.min().map { moment.wall.duration(to: $0) } ?? Self.longestWait
        return moment.boot + min(max(left, .seconds(1)), Self.longestWait)
    }

    private func midnight(of day: Int64) -> Timestamp? {
        let (year, month, day) = Timestamp.civil(day)
        return zone.timestamp(LocalTime(Int(year), Int(month), Int(day)))
    }

    // MARK: Time

    mutating func restore(_ stored: [MeteredAccount]) {
        for account in stored { accounts[account.scope] = account }
        refreshUsedUp()
    }

    /// Begins the periods whose time has come.
    ///
    /// - Returns: The accounts that have changed, and those of which a used budget is whole again.
    mutating func advance(to time: Timestamp) -> (changed: [MeteredAccount], renewed: [MeteredReport]) {
        if let day, day.from <= time, time < day.to { return ([], []) }
        guard time >= policy.earliest else {
            day = nil
            return ([], [])
        }
        let local = zone.time(time)
        let number = Timestamp.days(to: Int64(local.year), Int64(local.month), Int64(local.day))
        day = midnight(of: number).flatMap { from in
            midnight(of: number + 1).map { Day(number: number, from: from, to: $0) }
        }
        var changed: [MeteredAccount] = []
        for scope in accounts.keys {
            guard var account = accounts[scope], let budget = policy.budget(of: scope),
                account.advance(to: number, budget.period, begins: policy.begins(in: budget.period))
            else { continue }
            accounts[scope] = account.isBlank ? nil : account
            changed.append(covering(account))
        }
        let before = usedUp
        refreshUsedUp()
        return (changed, before.subtracting(usedUp).compactMap(report))
    }

    private mutating func refreshUsedUp() {
        usedUp = Set(
            accounts.values.filter { account in
                policy.budget(of: account.scope).map(account.isUsedUp) ?? false
            }.map(\.scope))
    }

    // MARK: Attempts

    /// An attempt is about to begin. What it may move at first is set aside.
    ///
    /// - Returns: The accounts as they are to be written.
    mutating func begin(
        _ id: RequestID, _ number: Int, of owner: UInt32, by path: QueuePath, bytes: Int64
    ) -> [MeteredAccount] {
        let scopes = policy.scopes(of: owner, by: path)
        var charge = Charge(owner: owner, path: path, scopes: scopes)
        charge.covered = min(bytes.addingUpToBounds(Self.beginning), Self.step)
        charges[AttemptKey(id: id, number: number)] = charge
        return written(scopes)
    }

    /// The attempt uses another path.
    mutating func move(_ id: RequestID, _ number: Int, to path: QueuePath) {
        charges[AttemptKey(id: id, number: number)]?.path = path
    }

    /// Nothing was sent.
    mutating func withdraw(_ id: RequestID, _ number: Int) {
        charges[AttemptKey(id: id, number: number)] = nil
    }

    /// What an attempt has moved so far.
    ///
    /// - Parameters:
    ///   - present: The paths of now: a link may have become metered.
    ///   - isLast: The attempt has ended.
    /// - Returns: The accounts as they are to be written, those that reached a share of their budget with the shares,
    ///   and whether a budget is used up now that was not.
    mutating func spend(
        _ id: RequestID, _ number: Int, total: Int64, isLast: Bool, _ present: PathSet?
    ) -> (changed: [MeteredAccount], reached: [(report: MeteredReport, share: Int)], isUsedUp: Bool) {
        let key = AttemptKey(id: id, number: number)
        guard var charge = charges[key] else { return ([], [], false) }
        let path = present?[interfaceIndex: charge.path.interfaceIndex] ?? charge.path
        let scopes = policy.scopes(of: charge.owner, by: path)
        let more = total - charge.reported
        charge.reported = total
        let isBeyond = total > charge.covered || scopes != charge.scopes
        let concerned = scopes + charge.scopes.filter { !scopes.contains($0) }
        charge.scopes = scopes
        if isBeyond { charge.covered = total.addingUpToBounds(Self.step) }
        charges[key] = isLast ? nil : charge
        var reached: [(MeteredReport, Int)] = []
        for scope in scopes {
            guard let budget = policy.budget(of: scope) else { continue }
            var account = accounts[scope] ?? fresh(scope, budget)
            account.add(more)
            let shares = account.newShares(of: budget)
            accounts[scope] = account
            if let report = report(of: scope) { reached += shares.map { (report, $0) } }
        }
        let before = usedUp
        refreshUsedUp()
        let isWritten = isLast || isBeyond || !reached.isEmpty
        return (isWritten ? written(concerned) : [], reached, !usedUp.isSubset(of: before))
    }

    private func fresh(_ scope: MeteredScope, _ budget: MeteredBudget) -> MeteredAccount {
        var account = MeteredAccount(scope)
        account.first = day.map { budget.period.first(of: $0.number, begins: policy.begins(in: budget.period)) }
        return account
    }

    private func written(_ scopes: [MeteredScope]) -> [MeteredAccount] {
        scopes.compactMap { scope in
            policy.budget(of: scope).map { covering(accounts[scope] ?? fresh(scope, $0)) }
        }
    }

    /// The account with what is set aside for running attempts.
    private func covering(_ account: MeteredAccount) -> MeteredAccount {
        var account = account
        for charge in charges.values where charge.scopes.contains(account.scope) {
            account.add(max(0, charge.covered - charge.reported))
        }
        return account
    }
}
