internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachTerminal

/// Asks the daemon for what `reach top` shows, and gives it the orders of keys. Its calls block for milliseconds.
struct TopReader {
    let path: String
    private var rates: [Int64: (began: Instant, rate: TransferRate)] = [:]

    /// The most requests that are asked for; more than a screen has lines.
    private static let most = 500
    /// The longest wait for an answer. A daemon that does not answer must not keep keys from being read.
    private static let patience: Duration = .seconds(2)

    init(path: String) { self.path = path }

    mutating func read(_ state: inout TopState) {
        state.now = SystemClock.now
        do throws(ControlError) {
            var client = try ControlClient(path: path, patience: Self.patience)
            if state.internet == nil { state.internet = try client.status(of: .internet) }
            state.links = try client.links()
            state.signals = WirelessSignals.read(ifNeededBy: state.links)
            state.probes = TopState.brokenFirst(try client.probes())
            state.away = nil
            try readQueue(&client, &state)
        } catch {
            state.away = error.description
        }
    }

    private mutating func readQueue(_ client: inout ControlClient, _ state: inout TopState) throws(ControlError) {
        var queue = TopState.Queue()
        do throws(ControlError) {
            var filter = QueueFilter()
            filter.limit = Self.most
            let groups: [Set<QueuedRequestState>] = [
                [.running, .lingering], [.ready, .backoff, .waiting, .held], [.dead],
            ]
            for states in groups {
                filter.states = states
                let page = try client.requests(filter)
                queue.items += page.items
                queue.count = page.count
            }
            queue.holds = (try? client.queueHolds()) ?? []
            state.queueTrouble = nil
        } catch {
            guard case .refused = error else { throw error }
            state.queueTrouble = "this daemon keeps none"
        }
        state.update(queue)
        updateRates(&state)
    }

    private mutating func updateRates(_ state: inout TopState) {
        var newRates: [Int64: (began: Instant, rate: TransferRate)] = [:]
        state.rates = [:]
        for item in state.queue.items {
            guard let progress = item.running else { continue }
            let previous = rates[item.id.rawValue].flatMap { $0.began == progress.began ? $0.rate : nil }
            var rate = previous ?? TransferRate()
            rate.add(progress.bytes.sent + progress.bytes.received, at: state.now.boot)
            newRates[item.id.rawValue] = (progress.began, rate)
            state.rates[item.id.rawValue] = rate.bytesPerSecond(at: state.now.boot)
        }
        rates = newRates
    }

    /// Does what a key asked for, and leaves its result in the state.
    func perform(_ order: TopState.Order, on state: inout TopState) {
        do throws(ControlError) {
            var client = try ControlClient(path: path, patience: .seconds(10))
            switch order {
            case .hold(let id):
                try client.hold(.request(id))
                state.message = "request \(id) is held"
            case .release(let id):
                try client.release(.request(id))
                state.message = "request \(id) is released"
            case .cancel(let id):
                try client.cancel(request: id)
                state.message = "request \(id) is cancelled"
            case .retry(let id):
                _ = try client.retry(.request(id))
                state.message = "request \(id) is sent again"
            case .explain(let id):
                let item = try client.explanation(ofRequest: id)
                let words = QueueText(style: .plain, width: nil, stamp: LocalTimeText.full)
                state.explanation = words.explain(item, at: SystemClock.now).split(scalar: "\n").map(String.init)
            }
        } catch {
            state.message = CommandError(queue: error).message
        }
    }
}

/// The strength of the signal of Wi-Fi links.
enum WirelessSignals {
    private static let file = "/proc/net/wireless"

    /// - Returns: Decibel-milliwatts by the names of links; empty unless a link of these is Wi-Fi and up.
    static func read(ifNeededBy links: [LinkReport]) -> [String: Int] {
        guard links.contains(where: { $0.linkClass == .wifi && $0.link.isUp }) else { return [:] }
        return SmallFile.text(file, limit: 1 << 16).map(parse) ?? [:]
    }

    /// Reads the kernel's table (net/wireless/wext-proc.c): `wlan0: 0000   54.  -56.  -256        0 ...`. The third
    /// number is the level in dBm.
    static func parse(_ text: String) -> [String: Int] {
        var signals: [String: Int] = [:]
        for line in text.split(scalar: "\n").dropFirst(2) {
            guard let colon = line.unicodeScalars.lastIndex(of: ":") else { continue }
            let fields = line[line.unicodeScalars.index(after: colon)...].split(scalar: " ")
            // 0 and -256 stand for an unknown level.
            guard fields.count >= 3, let level = Int(fields[2].prefixScalars { $0 != "." }), -255..<0 ~= level else {
                continue
            }
            signals[String(line[..<colon].dropScalars { $0 == " " })] = level
        }
        return signals
    }
}
