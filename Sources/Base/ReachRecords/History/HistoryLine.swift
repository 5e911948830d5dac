internal import ReachCore

/// Encodes a record as one line of JSON that ends with a checksum of itself, by which a reader detects torn or damaged
/// lines.
package enum HistoryLine {
    /// The result of decoding a line.
    package enum Reading: Hashable, Sendable {
        case entry(HistoryEntry)
        /// A whole record of a type that this version does not know.
        case unknown
        case damaged
    }

    /// Encodes a record as a line, including its newline.
    package static func encode(_ entry: HistoryEntry) -> [UInt8] { ChecksummedLine.encode(json(entry)) }

    /// Encodes a record as a JSON object without checksum, as `reach history --json` prints it.
    package static func json(_ entry: HistoryEntry) -> [UInt8] {
        var json = JSONWriter(capacity: 512)
        json.object { json in
            json.field("v", 1)
            json.field("type", entry.content.typeWord)
            json.times(entry.moment.wall, entry.moment.boot)
            json.field("boot", entry.boot)
            if let target = entry.target { json.field("target", target) }
            json.details(of: entry.content)
        }
        return json.bytes
    }

    /// - Parameter line: The line without its newline.
    package static func decode(_ line: ArraySlice<UInt8>) -> Reading {
        guard let document = ChecksummedLine.decode(line), let json = try? JSONReader.read(document),
            let type = json["type"]?.string
        else { return .damaged }
        guard let entry = HistoryEntry(type, json) else { return .unknown }
        return .entry(entry)
    }
}

extension HistoryEntry.Content {
    fileprivate var typeWord: String {
        switch self {
        case .started: "started"
        case .stopped: "stopped"
        case .state: "state"
        case .unwatched: "unwatched"
        case .quality: "quality"
        case .evidence: "evidence"
        case .dropped: "dropped"
        }
    }
}

extension JSONWriter {
    /// All but the target.
    fileprivate mutating func details(of content: HistoryEntry.Content) {
        switch content {
        case .started(let lastSeen): if let lastSeen { field("last_seen", lastSeen) }
        case .stopped, .unwatched: break
        case .dropped(let count): field("count", count.wide)
        case .evidence(let evidence):
            field("target", evidence.target)
            field("outcome", evidence.outcome)
            field("party", evidence.party)
            field("text", evidence.text)
            field("steps", evidence.steps)
        case .quality(let period):
            field("interface", period.interface as String?)
            field("length_ms", period.length.milliseconds)
            field("packets", period.packets.wide)
            field("lost", period.lost.wide)
            guard let trips = period.trips else { break }
            field("low_us", trips.low.microseconds)
            field("median_us", trips.median.microseconds)
            field("high_us", trips.high.microseconds)
        case .state(let state):
            field("status", state.status.rawValue)
            field("class", state.linkClass)
            field("interface", state.interface)
            field("reason", state.reason?.word)
            if let rootCause = state.rootCause { field("root_cause", rootCause) }
            if let rootInterface = state.rootInterface { field("root_interface", rootInterface) }
            if let gateway = state.gateway { field("gateway", gateway) }
            if let network = state.network { field("network", network) }
            field("cause", state.cause)
            if let connectivity = state.connectivity { field("connectivity", connectivity) }
            if let reason = state.connectivityReason { field("connectivity_reason", reason) }
            if let quality = state.quality { field("quality", quality) }
            field("change", state.isChange)
        }
    }
}

extension HistoryEntry {
    fileprivate init?(_ type: String, _ json: JSONValue) {
        guard json["v"]?.integer == 1, let wall = json["time"]?.string.flatMap({ Timestamp($0) }),
            let nanoseconds = json["boottime_ns"]?.integer, let boot = json["boot"]?.string,
            let content = Content(type, json)
        else { return nil }
        self.init(content, at: Instant(wall: wall, boot: BootTime(nanoseconds: nanoseconds)), boot: boot)
    }
}

extension HistoryEntry.Content {
    fileprivate init?(_ type: String, _ json: JSONValue) {
        switch type {
        case "started": self = .started(lastSeen: json["last_seen"]?.string.flatMap { Timestamp($0) })
        case "stopped": self = .stopped
        case "unwatched":
            guard let target = json["target"]?.string else { return nil }
            self = .unwatched(target: target)
        case "quality":
            guard let period = QualityPeriod(json) else { return nil }
            self = .quality(period)
        case "evidence":
            guard let target = json["target"]?.string, let outcome = json["outcome"]?.string else { return nil }
            let steps = (json["steps"]?.array ?? []).compactMap(\.string)
            self = .evidence(
                OutageEvidence(
                    target: target, outcome: outcome, party: json["party"]?.string, text: json["text"]?.string ?? "",
                    steps: steps))
        case "dropped": self = .dropped(count: Int(json["count"]?.integer ?? 1))
        case "state":
            guard let target = json["target"]?.string, let status = json["status"]?.string else { return nil }
            var state = HistoryEntry.State(
                target: target, status: ReachabilityStatus(rawValue: status) ?? .unknown,
                linkClass: json["class"]?.string, interface: json["interface"]?.string,
                reason: json["reason"]?.string, rootCause: json["root_cause"]?.string,
                rootInterface: json["root_interface"]?.string, cause: json["cause"]?.string,
                connectivity: json["connectivity"]?.string, isChange: json["change"]?.bool ?? true)
            state.gateway = json["gateway"]?.string
            state.network = json["network"]?.string
            state.connectivityReason = json["connectivity_reason"]?.string
            state.quality = json["quality"]?.string
            self = .state(state)
        default: return nil
        }
    }
}

extension QualityPeriod {
    fileprivate init?(_ json: JSONValue) {
        func time(_ key: String) -> Duration? { json[key]?.integer.flatMap { $0 >= 0 ? .microseconds($0) : nil } }
        guard let interface = json["interface"]?.string, let length = json["length_ms"]?.integer, length > 0,
            let packets = json["packets"]?.integer, let lost = json["lost"]?.integer, 0...packets ~= lost
        else { return nil }
        var trips: Trips?
        if let low = time("low_us"), let median = time("median_us"), let high = time("high_us") {
            trips = Trips(low: low, median: median, high: high)
        }
        self.init(
            interface: interface, length: .milliseconds(length), packets: Int(packets), lost: Int(lost), trips: trips)
    }
}
