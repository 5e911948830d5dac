internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachRecords
internal import Synchronization

/// Counts the bytes of metered links for reports. It samples the kernel's counters when the daemon leaves a sign of
/// life, when the path to the Internet changes, and at the end, so it wakes nothing. Confined to the loop.
final class TrafficCounter {
    private let file: Writer
    private let thread: SerialThread
    private let replies: LoopReplies
    /// Where the kernel shows the counters of links.
    private let counters: String
    private var traffic: MeteredTraffic
    private var lastSample: BootTime?
    private(set) var isSampling = false

    /// A path that flaps causes no more samples than this.
    private static let shortestInterval: Duration = .seconds(1)

    /// - Parameter thread: Reads the counters and writes the file.
    init(stateDirectory: String, counters: String = "/sys/class/net", thread: SerialThread, loop: EventLoop) {
        let file = MeteredTrafficFile(directory: stateDirectory)
        self.file = Writer(file)
        self.counters = counters
        self.thread = thread
        replies = LoopReplies(loop: loop)
        traffic = file.read() ?? MeteredTraffic()
    }

    /// The links that are counted, and those that were.
    typealias Links = (_ known: Set<InterfaceIndex>) -> [CountedLink]?

    /// Samples the counters on another thread, unless that was done a moment ago.
    ///
    /// - Parameter links: Returns `nil` while it is not known which there are.
    func sample(at moment: Instant, _ links: Links) {
        guard !isSampling, lastSample.map({ moment.boot >= $0 + Self.shortestInterval }) ?? true,
            let links = links(traffic.knownLinks)
        else { return }
        let isFirst = lastSample == nil
        lastSample = moment.boot
        isSampling = true
        let reply = replies.expect { [weak self] (samples: [MeteredTraffic.Sample]) in
            guard let self else { return }
            isSampling = false
            guard traffic.add(samples, at: SystemClock.now.wall) || isFirst else { return }
            let order = file.nextOrder()
            thread.run { [file, traffic] in file.write(traffic, order) }
        }
        thread.run { [counters] in reply(Self.samples(links, counters)) }
    }

    /// Samples once more, and writes the file. Blocks on the disk.
    func finish(_ links: Links) {
        guard let links = links(traffic.knownLinks) else { return }
        if traffic.add(Self.samples(links, counters), at: SystemClock.now.wall) {
            file.write(traffic, file.nextOrder())
        }
    }

    /// The counters, which the kernel shows in /sys for the links of the namespace in which that was mounted.
    private static func samples(_ links: [CountedLink], _ counters: String) -> [MeteredTraffic.Sample] {
        links.compactMap { link in
            guard let traffic = LinkCounters.traffic(of: link.name, in: counters) else { return nil }
            return MeteredTraffic.Sample(
                index: link.index, interface: link.name, linkClass: link.linkClass.rawValue, isMetered: link.isMetered,
                received: traffic.received, sent: traffic.sent)
        }
    }

    /// Writes in order: what is still waiting for the thread at the end must not replace what was written last.
    private final class Writer: Sendable {
        private struct Orders {
            var given = 0
            var written = 0
        }

        private let file: MeteredTrafficFile
        private let orders = Mutex(Orders())

        init(_ file: MeteredTrafficFile) { self.file = file }

        func nextOrder() -> Int {
            orders.withLock { orders in
                orders.given += 1
                return orders.given
            }
        }

        func write(_ traffic: MeteredTraffic, _ order: Int) {
            orders.withLock { orders in
                guard order > orders.written else { return }
                orders.written = order
                try? file.write(traffic)
            }
        }
    }
}
