internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import Synchronization

/// Counts the bytes of metered links for reports. It samples the kernel's counters when the daemon leaves a sign of life, when the
/// path to the Internet changes, and at the end, so it wakes nothing. Confined to the loop.
final class TrafficCounter {
    private let file: Writer
    private let queries: QueryPool
    private let thread: SerialThread
    /// Where the kernel shows the counters of links.
    private let counters: String
    private var traffic: MeteredTraffic
    private var lastSample: BootTime?
    private(set) var isSampling = false

    /// A path that flaps causes no more samples than this.
    private static let shortestInterval: Duration = .seconds(1)

    init(
        stateDirectory: String, queries: QueryPool, counters: String = "/sys/class/net", thread: SerialThread = .files
    ) {
        let file = MeteredTrafficFile(directory: stateDirectory)
        self.file = Writer(file)
        self.queries = queries
        self.counters = counters
        self.thread = thread
        traffic = file.read() ?? MeteredTraffic()
    }

    /// Samples the counters on another thread, unless that was done a moment ago.
    func sample(_ options: ReachabilityEngine.Options, at moment: Instant) {
        guard !isSampling, lastSample.map({ moment.boot >= $0 + Self.shortestInterval }) ?? true else { return }
        let isFirst = lastSample == nil
        lastSample = moment.boot
        isSampling = true
        queries.run(for: 0) { [counters] () throws(NetlinkError) in
            Self.samples(try KernelSnapshot(options: options).links(), counters)
        } reply: { [weak self] result in
            guard let self else { return }
            isSampling = false
            guard case .success(let samples) = result, traffic.add(samples, at: SystemClock.now.wall) || isFirst else {
                return
            }
            let order = file.nextOrder()
            thread.run { [file, traffic] in file.write(traffic, order) }
        }
    }

    /// Samples once more, and writes the file. Blocks on the disk.
    func finish(_ options: ReachabilityEngine.Options) {
        guard let links = try? KernelSnapshot(options: options).links() else { return }
        if traffic.add(Self.samples(links, counters), at: SystemClock.now.wall) {
            file.write(traffic, file.nextOrder())
        }
    }

    /// The counters, which the kernel shows in /sys for the links of the namespace in which that was mounted.
    private static func samples(_ links: [LinkReport], _ counters: String) -> [MeteredTraffic.Sample] {
        links.compactMap { report in
            let name = report.link.name
            guard report.linkClass != .loopback, let traffic = LinkCounters.traffic(of: name, in: counters) else {
                return nil
            }
            return MeteredTraffic.Sample(
                index: report.link.index, interface: name, linkClass: report.linkClass.rawValue,
                isMetered: report.isMetered, received: traffic.received, sent: traffic.sent)
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
