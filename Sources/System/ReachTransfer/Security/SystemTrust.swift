internal import ReachCore
internal import ReachLoop

/// The system's list of trusted certificates, read on a thread for files when first needed. Confined to the loop.
final class SystemTrust {
    /// How long the list is used. Packages with certificates are updated a few times a year; a long-running daemon
    /// should notice.
    private static let lifetime = Duration.seconds(3600)

    private let path: String
    private let thread: SerialThread
    private let replies: LoopReplies
    private var store: TrustStore?
    private var readAt: BootTime?
    private var isReading = false
    private var waiting: [(TrustStore?) -> Void] = []

    /// - Parameter path: The path of a file in PEM form.
    init(path: String, thread: SerialThread, replies: LoopReplies) {
        self.path = path
        self.thread = thread
        self.replies = replies
    }

    /// Calls `completion` immediately where the list is known, and later where it has to be read; with `nil` if it
    /// cannot be read.
    func load(_ completion: @escaping (TrustStore?) -> Void) {
        if let store {
            if readAt.map({ SystemClock.boot - $0 > Self.lifetime }) ?? true { read() }
            return completion(store)
        }
        waiting.append(completion)
        read()
    }

    /// The failure of a transfer that needs the list where it cannot be read: this machine's, as libcurl's 77 is.
    var failure: TransferFailure {
        TransferFailure(
            .engineFailed, "the trusted certificates of this machine (\(path)) cannot be read, or there are none",
            curlCode: 77)
    }

    private func read() {
        guard !isReading else { return }
        isReading = true
        let reply = replies.expect { [weak self] (store: TrustStore?) in self?.arrived(store) }
        thread.run { [path] in reply(TrustStore.file(path)) }
    }

    private func arrived(_ store: TrustStore?) {
        isReading = false
        readAt = SystemClock.boot
        self.store = store ?? self.store
        let completions = waiting
        waiting = []
        completions.forEach { $0(self.store) }
    }
}
