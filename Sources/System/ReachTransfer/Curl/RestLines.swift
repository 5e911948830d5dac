internal import ReachCore
internal import ReachLoop

/// Spreads the pauses of what wastes the loop's time: of each owner one connection resumes at a time, however many it has.
/// Confined to the loop.
final class RestLines {
    private let loop: EventLoop
    private var resting: [ConnectionOwner: Int] = [:]

    init(loop: EventLoop) { self.loop = loop }

    /// Calls `resume` after a pause.
    func rest(_ owner: ConnectionOwner, _ resume: @escaping () -> Void) {
        let count = resting[owner, default: 0] + 1
        resting[owner] = count
        loop.schedule(at: SystemClock.boot + TurnBudget.restTime * count) { [weak self] in
            if let self, let count = resting[owner] { resting[owner] = count > 1 ? count - 1 : nil }
            resume()
        }
    }
}
