package import ReachCore

/// What of the host's events leaves it. It copies only keys that it knows; whatever a later journal adds stays on the
/// host.
///
/// The host's name, MAC addresses, SSIDs, portals' addresses, sentences, headers and bodies never leave.
package struct PrivacyFilter: Hashable, Sendable {
    package enum Addresses: String, Hashable, Sendable, CaseIterable {
        case none
        /// The first hop, and of the source address the network: 24 bits of IPv4, 56 of IPv6.
        case gateway
        case full
    }

    package enum URLs: String, Hashable, Sendable, CaseIterable {
        case none
        /// Scheme, host and port.
        case origin
        case full
    }

    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case status
        case connectivity
        case probe
        case queue
        case wake
        case probeResult = "probe-result"
    }

    package var addresses: Addresses = .gateway
    package var urls: URLs = .origin
    package var kinds: Set<Kind> = [.status, .connectivity, .probe, .queue]
    package var targets: Set<String> = ["internet"]

    package init() {}

    /// The line of an event that leaves the host.
    ///
    /// - Parameter event: As the journal has it.
    /// - Returns: `nil` if the event stays.
    package func line(of event: JSONValue, log: String, n: UInt64) -> [UInt8]? {
        guard let type = event["type"]?.string, let body = body(of: event, type) else { return nil }
        var members = body
        for key in ["v", "type", "time", "boottime_ns"] { members[key] = event[key] }
        members["log"] = .string(log)
        members["n"] = .integer(Int64(clamping: n))
        var json = JSONWriter()
        json.value(.object(members))
        return json.bytes
    }

    private func body(of event: JSONValue, _ type: String) -> [String: JSONValue]? {
        switch type {
        case "snapshot", "change": change(event)
        case "started": kinds.contains(.status) ? copy(event, ["last_seen"]) : nil
        case "stopped": kinds.contains(.status) ? [:] : nil
        case "wake": kinds.contains(.wake) ? copy(event, ["slept_ms"]) : nil
        case "probe": probe(event)
        case "queue": queue(event)
        default: nil
        }
    }

    private func copy(_ json: JSONValue, _ keys: [String]) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for key in keys { members[key] = json[key] }
        return members
    }

    // MARK: - Status

    private func change(_ event: JSONValue) -> [String: JSONValue]? {
        let changed = event["changed"]?.array?.compactMap(\.string) ?? []
        let kind =
            !changed.isEmpty && changed.allSatisfy { ["connectivity", "portal"].contains($0) }
            ? Kind.connectivity : .status
        guard kinds.contains(kind), let status = event["status"], let read = try? HostStatus(reading: status),
            targets.contains(status["target"]?.string ?? "internet")
        else { return nil }
        var json = JSONWriter()
        filtered(read).write(to: &json)
        var members = copy(event, ["initial", "cause", "changed"])
        members["status"] = try? JSONReader.read(json.bytes)
        if let previous = event["previous"] {
            var summary = copy(previous, ["status", "class", "reason", "root_cause"])
            summary["interface"] = interface(previous["interface"])
            summary["root_interface"] = interface(previous["root_interface"])
            members["previous"] = .object(summary)
        }
        return members
    }

    package func filtered(_ status: HostStatus) -> HostStatus {
        var status = status
        status.target = status.target.utf8Range(of: "://") != nil ? url(status.target) ?? "" : status.target
        status.interface = status.interface.map(Self.withoutHardwareAddress)
        let broken = status.rootCause?.interface.map(Self.withoutHardwareAddress)
        status.rootCause?.interface = broken
        status.ipv4 = filtered(status.ipv4)
        status.ipv6 = filtered(status.ipv6)
        return status
    }

    private func filtered(_ path: HostStatus.Path) -> HostStatus.Path {
        var path = path
        path.interface = path.interface.map(Self.withoutHardwareAddress)
        if addresses == .none { (path.gateway, path.source) = (nil, nil) }
        if addresses == .gateway {
            path.gateway = path.gateway.map(Self.withoutHardwareAddress)
            path.source = path.source.flatMap { IPPrefix($0.address, length: $0.address.family == .ipv4 ? 24 : 56) }
        }
        return path
    }

    // MARK: - Probes and the queue

    private func probe(_ event: JSONValue) -> [String: JSONValue]? {
        let kind: Kind = event["event"]?.string == "result" ? .probeResult : .probe
        guard kinds.contains(kind), let report = event["probe"] else { return nil }
        var members = copy(event, ["event"])
        var probe = copy(report, ["probe", "state", "since", "paused", "interval_ms"])
        probe["target"] = url(report["target"])
        if let last = report["last"] {
            var result = copy(
                last, ["outcome", "reason", "duration_us", "http_status", "certificate_until", "certificate_days"])
            result["interface"] = interface(last["interface"])
            if addresses == .full { result["address"] = last["address"] }
            probe["last"] = .object(result)
        }
        members["probe"] = .object(probe)
        return members
    }

    private func queue(_ event: JSONValue) -> [String: JSONValue]? {
        guard kinds.contains(.queue) else { return nil }
        var members = copy(
            event, ["event", "epoch", "id", "attempt", "reason", "status", "blockers", "not_before", "count"])
        members["interface"] = interface(event["interface"])
        members["destination"] = url(event["destination"])
        return members
    }

    // MARK: - Texts

    private func interface(_ json: JSONValue?) -> JSONValue? {
        json?.string.map { .string(Self.withoutHardwareAddress($0)) }
    }

    private func url(_ json: JSONValue?) -> JSONValue? { json?.string.flatMap(url).map(JSONValue.string) }

    /// A URL as far as the configuration lets it leave.
    package func url(_ text: String) -> String? {
        guard urls != .none else { return nil }
        let pieces = URLPieces(text)
        guard let scheme = pieces.scheme, let authority = pieces.authority, !authority.host.isEmpty else {
            // `ping:192.0.2.1` and the like have no path and no query.
            let isPlain = !text.utf8.contains {
                [UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@")].contains($0)
            }
            return urls == .full || isPlain && !text.utf8.contains(UInt8(ascii: "/")) ? text : nil
        }
        let origin = "\(scheme)://\(authority.host)\(authority.port.map { ":" + $0 } ?? "")"
        guard urls == .full else { return origin }
        // Credentials in a URL are secrets, not its place.
        return origin + pieces.path + (pieces.query.map { "?" + $0 } ?? "")
    }

    /// An interface's name without a MAC address: udev names some `enx` and its twelve digits.
    package static func withoutHardwareAddress(_ name: String) -> String {
        var digits = 0
        for (offset, byte) in name.utf8.enumerated() {
            let isDigit = Unicode.Scalar(byte).hexDigit != nil
            digits = isDigit ? digits + 1 : 0
            guard digits == 12 else { continue }
            return String(decoding: name.utf8.prefix(offset - 11), as: UTF8.self) + "*"
        }
        return name
    }

    /// An address without an interface identifier that is made of a MAC address (RFC 4291, appendix A).
    static func withoutHardwareAddress(_ address: IPAddress) -> IPAddress {
        let isMade = address.family == .ipv6 && address.low >> 24 & 0xffff == 0xfffe
        return isMade ? IPPrefix(address, length: 64)?.address ?? address : address
    }
}
