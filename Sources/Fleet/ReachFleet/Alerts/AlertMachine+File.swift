internal import ReachCore

extension AlertMachine {
    /// The most bytes of what is written down.
    package static let sizeLimit = 64 << 20

    /// What a watch that starts again has to know: what was reported and is not over, and what flaps.
    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", "fleet-alerts")
            json.field(
                "open",
                array: { json in
                    for (name, alert) in open.sorted(by: { $0.key < $1.key }) {
                        json.object {
                            $0.field("alert", name)
                            $0.field("hosts", alert.hosts.sorted())
                            $0.field("since", alert.since)
                            $0.field("reported", alert.reported)
                            $0.field("raised", alert.raised)
                            $0.field("level", Int64(alert.level))
                            $0.field("told_as", alert.told?.name)
                            $0.field("told", alert.told?.time.description)
                            $0.share(alert.shared)
                        }
                    }
                })
            json.field(
                "flapping",
                array: { json in
                    for (name, flap) in flapping.sorted(by: { $0.key < $1.key }) {
                        json.object {
                            $0.field("alert", name)
                            $0.field("hosts", flap.hosts)
                            $0.field("since", flap.since)
                            $0.field("changed", flap.changed)
                            $0.field("count", Int64(flap.count))
                            $0.share(flap.shared)
                        }
                    }
                })
            json.field(
                "raised",
                array: { json in
                    for (name, times) in raised.sorted(by: { $0.key < $1.key }) {
                        json.object {
                            $0.field("alert", name)
                            $0.field("times", times.map(\.description))
                        }
                    }
                })
        }
        return json.bytes
    }

    /// Restores what ``bytes`` wrote.
    ///
    /// - Returns: `false` if it is not that; then nothing changes.
    package mutating func restore(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= Self.sizeLimit, let json = try? JSONReader.read(bytes),
            json["type"]?.string == "fleet-alerts"
        else { return false }
        for entry in json["open"]?.array ?? [] {
            guard let name = entry["alert"]?.string, let since = Self.time(entry["since"]),
                let reported = Self.time(entry["reported"])
            else { return false }
            open[name] = Open(
                hosts: Set(Self.hosts(entry["hosts"])), shared: Self.share(entry["shared"]), since: since,
                reported: reported, raised: Self.time(entry["raised"]),
                level: Int(clamping: max(0, entry["level"]?.integer ?? 0)))
            if let other = entry["told_as"]?.string, let time = Self.time(entry["told"]) {
                open[name]?.told = .init(name: other, time: time)
            }
        }
        for entry in json["flapping"]?.array ?? [] {
            guard let name = entry["alert"]?.string, let since = Self.time(entry["since"]),
                let changed = Self.time(entry["changed"])
            else { return false }
            flapping[name] = Flapping(
                since: since, count: Int(clamping: entry["count"]?.integer ?? 0), changed: changed,
                hosts: Self.hosts(entry["hosts"]), shared: Self.share(entry["shared"]))
        }
        for entry in json["raised"]?.array ?? [] {
            guard let name = entry["alert"]?.string else { return false }
            raised[name] = (entry["times"]?.array ?? []).compactMap { Self.time($0) }
        }
        return true
    }

    /// It is written down as it is.
    package mutating func noteWritten() { hasChanged = false }

    private static func time(_ json: JSONValue?) -> Timestamp? { json?.string.flatMap { Timestamp($0) } }

    private static func hosts(_ json: JSONValue?) -> [String] {
        (json?.array ?? []).compactMap(\.string).filter(FleetNames.hostIsValid)
    }

    private static func share(_ json: JSONValue?) -> AlertShare? {
        guard let by = json?["by"]?.string, let value = json?["value"]?.string else { return nil }
        return AlertShare(
            by: by, value: value, phrase: json?["phrase"]?.string ?? "",
            affected: Int(clamping: json?["affected"]?.integer ?? 0), known: Int(clamping: json?["known"]?.integer ?? 0)
        )
    }
}

extension JSONWriter {
    fileprivate mutating func share(_ share: AlertShare?) {
        guard let share else { return }
        field(
            "shared",
            object: {
                $0.field("by", share.by)
                $0.field("value", share.value)
                $0.field("phrase", share.phrase)
                $0.field("affected", Int64(share.affected))
                $0.field("known", Int64(share.known))
            })
    }
}
