internal import ReachCore

/// The root causes that the targets of one evaluation share: those with the same verdict, the same state before, and the
/// same memory.
struct SharedRootCauses {
    private struct Known {
        let shared: SharedVerdict
        let state: ReachabilityState
        let before: PathMemory
        let verdict: SharedVerdict
        let after: PathMemory
    }

    private let view: KernelView
    private let options: EngineOptions
    private(set) lazy var reader = RootCauseReader(view: view, options: options)
    private var known: [Known] = []
    private static let limit = 8

    init(view: KernelView, options: EngineOptions) {
        self.view = view
        self.options = options
    }

    /// - Returns: The verdict with its root cause, and what the target then remembers; `nil` if no target like this came
    ///   before.
    func find(
        _ shared: SharedVerdict, after state: ReachabilityState, _ memory: PathMemory
    ) -> (verdict: SharedVerdict, memory: PathMemory)? {
        for entry in known where entry.shared === shared && entry.state.sharesStorage(with: state) {
            if entry.before == memory { return (entry.verdict, entry.after) }
        }
        return nil
    }

    mutating func note(
        _ shared: SharedVerdict, after state: ReachabilityState, _ before: PathMemory, is verdict: SharedVerdict,
        _ after: PathMemory
    ) throws(NetlinkError) {
        guard known.count < Self.limit else { return }
        // A rule that refuses packets may do so for some destinations only.
        guard try !view.rules().contains(where: { $0.action.errorNumber != nil }) else { return }
        known.append(Known(shared: shared, state: state, before: before, verdict: verdict, after: after))
    }
}
