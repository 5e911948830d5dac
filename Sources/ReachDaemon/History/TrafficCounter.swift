internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop

/// Counts the bytes of metered links for reports. It samples the kernel's counters when the daemon leaves a sign of life, when the
/// path to the Internet changes, and at the end, so it wakes nothing. Confined to the loop.
final class TrafficCounter {
    private let file: MeteredTrafficFile
    private let queries: QueryPool
    private let writer = SerialThread.files
    private var traffic: MeteredTraffic
    private var lastSample: BootTime?
    private var isSampling = false

    /// A path that flaps causes no more samples than this.
    private static let shortestInterval: Duration = .seconds(5)

    init(stateDirectory: String, queries: QueryPool) {
        file = MeteredTrafficFile(directory: stateDirectory)
        self.queries = queries
        traffic = file.read() ?? MeteredTraffic()
    }

    /// Samples the counters on another thread, unless that was done a moment ago.
    func sample(_ options: EngineOptions, at moment: Instant) {
        guard !isSampling, lastSample.map({ moment.boot >= $0 + Self.shortestInterval }) ?? true else { return }
        let isFirst = lastSample == nil
        lastSample = moment.boot
        isSampling = true
        queries.run(for: 0) { () throws(NetlinkError) in
            Self.samples(try KernelSnapshot(options: options).links())
        } reply: { [weak self] result in
            guard let self else { return }
            isSampling = false
            guard case .success(let samples) = result, traffic.add(samples, at: SystemClock.now.wall) || isFirst else {
                return
            }
            writer.run { [file, traffic] in try? file.write(traffic) }
        }
    }

    /// Samples once more, and writes the file. Blocks on the disk.
    func finish(_ options: EngineOptions) {
        guard let links = try? KernelSnapshot(options: options).links() else { return }
        if traffic.add(Self.samples(links), at: SystemClock.now.wall) { try? file.write(traffic) }
    }

    /// The counters, which the kernel shows in /sys for the links of the namespace in which that was mounted.
    private static func samples(_ links: [LinkReport]) -> [MeteredTraffic.Sample] {
        links.compactMap { report in
            let name = report.link.name
            guard report.linkClass != .loopback, let received = counter("rx_bytes", of: name),
                let sent = counter("tx_bytes", of: name)
            else { return nil }
            return MeteredTraffic.Sample(
                index: report.link.index, interface: name, linkClass: report.linkClass.rawValue,
                isMetered: report.isMetered, received: received, sent: sent)
        }
    }

    private static func counter(_ counter: String, of link: String) -> UInt64? {
        guard !link.contains("/"), link != "..",
            let text = SmallFile.text("/sys/class/net/\(link)/statistics/\(counter)", limit: 64)
        else { return nil }
        return UInt64(text.prefix { $0.isNumber })
    }
}
