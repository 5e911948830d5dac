internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachTerminal

/// The events of the queue as JSON, one per line.
final class QueueTop {
    private let path: String
    private let loop: EventLoop
    private var follower: QueueFollower?
    private var stream = EventStream(source: .daemon)
    /// The error that stopped the loop.
    private(set) var failure: CommandError?

    init(path: String, on loop: EventLoop) {
        self.path = path
        self.loop = loop
    }

    func start() {
        let follower = QueueFollower(nil, path: path, on: loop) { [unowned self] in handle($0) }
        self.follower = follower
        follower.start()
    }

    private func handle(_ event: QueueFollower.Event) {
        switch event {
        case .began: StandardOutput.write(stream.line(.queueWatching(at: SystemClock.now)))
        case .notice(let notice): StandardOutput.write(stream.line(notice.encoded))
        case .away: break
        case .failed(let error):
            failure = error
            loop.stop()
        }
    }
}
