package import ReachCore

/// The hosts that the operator knows, with their keys: a text with a host a line, `HOST KEY[,KEY] [GROUP ...]
/// [LABEL=VALUE ...]`. The list of operators has the same form.
package struct HostList: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let host: String
        /// The public half of its key.
        package let key: String
        /// A second key, for the time in which the host gets a new one.
        package let otherKey: String?
        package let groups: [String]
        /// What the operator calls it, besides its own labels.
        package let labels: [String: String]
        /// The token for one use by which it enrolled; `nil` for a host of a file.
        package let ticket: Ticket?
        /// When its own token ends; `nil` for one without.
        package var expires: Timestamp?

        package init(
            host: String, key: String, otherKey: String? = nil, groups: [String] = [], labels: [String: String] = [:],
            ticket: Ticket? = nil, expires: Timestamp? = nil
        ) {
            self.host = host
            self.key = key
            self.otherKey = otherKey
            self.groups = groups
            self.labels = labels
            self.ticket = ticket
            self.expires = expires
        }

        package var keys: [String] { [key] + (otherKey.map { [$0] } ?? []) }
    }

    /// A token for one use.
    package struct Ticket: Hashable, Sendable {
        package let key: String
        package let issued: Timestamp

        package init(key: String, issued: Timestamp) { (self.key, self.issued) = (key, issued) }
    }

    /// A line that is wrong, and how.
    package struct Fault: Error, Hashable, Sendable {
        package let line: Int
        package let sentence: String
    }

    /// The bucket in which `setup` stores the list for readers: a key for each host. So they know who has never
    /// connected, and whose connection the server reports.
    package static let bucket = "reach_hosts"

    package let entries: [Entry]

    package init(_ entries: [Entry] = []) { self.entries = entries }

    /// Reads a list. Empty lines, and what follows a `#`, do not count.
    package init(text: String) throws(Fault) {
        var entries: [Entry] = []
        var lines: [String: Int] = [:]
        for (index, line) in text.split(scalar: "\n", omittingEmptySubsequences: false).enumerated() {
            let number = index + 1
            let words = line.prefixScalars { $0 != "#" }.textWords.map(String.init)
            guard !words.isEmpty else { continue }
            let entry = try Self.entry(words, number)
            for name in [entry.host] + entry.keys {
                if let other = lines.updateValue(number, forKey: name) {
                    throw Fault(line: number, sentence: "'\(name)' is in line \(other), too")
                }
            }
            entries.append(entry)
        }
        self.entries = entries
    }

    private static func entry(_ words: [String], _ number: Int) throws(Fault) -> Entry {
        guard words.count >= 2 else {
            throw Fault(line: number, sentence: "HOST KEY[,KEY] [GROUP ...] [LABEL=VALUE ...] expected")
        }
        var (groups, labels): ([String], [String: String]) = ([], [:])
        for word in words.dropFirst(2) {
            guard let label = HostLabels.read(word) else {
                groups.append(word)
                continue
            }
            guard labels.updateValue(label.value, forKey: label.name) == nil else {
                throw Fault(line: number, sentence: "label '\(DisplayText.sanitized(label.name))' is there twice")
            }
        }
        guard labels.isEmpty || HostLabels.areValid(labels) else {
            throw Fault(line: number, sentence: HostLabels.rule)
        }
        for name in [words[0]] + groups where !FleetNames.hostIsValid(name) {
            throw Fault(
                line: number,
                sentence: "'\(DisplayText.sanitized(name))' is not 1 to 64 letters, digits, '-' and '_'")
        }
        let keys = words[1].split(scalar: ",", omittingEmptySubsequences: false).map(String.init)
        guard keys.count <= 2 else { throw Fault(line: number, sentence: "a host has at most two keys at a time") }
        for key in keys { try check(key, number) }
        return Entry(
            host: words[0], key: keys[0], otherKey: keys.count > 1 ? keys[1] : nil, groups: groups, labels: labels)
    }

    private static func check(_ key: String, _ number: Int) throws(Fault) {
        do throws(NKeyText.Fault) {
            _ = try NKeyText.readUserPublic(key)
        } catch {
            // A seed must not be repeated on a terminal or in a log.
            let quoted = error == .secret ? "the key" : "'\(DisplayText.sanitized(key))'"
            throw Fault(line: number, sentence: "\(quoted): \(error.sentence)")
        }
    }

    // MARK: - In the bucket

    private static let valueLimit = 4096

    /// The value of a host in the bucket.
    package static func value(_ entry: Entry) -> [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.field("v", 1)
            $0.field("key", entry.key)
            // Only where there is something, so that entries of earlier versions need not be written again.
            if let other = entry.otherKey { $0.field("other_key", other) }
            $0.field("groups", entry.groups)
            if !entry.labels.isEmpty { $0.field("labels", object: { $0.texts(entry.labels) }) }
            if let ticket = entry.ticket {
                $0.field("ticket", ticket.key)
                // Earlier versions compare seconds.
                $0.field("ticket_issued", ticket.issued.nanosecondsSince1970 / 1_000_000_000)
                $0.field("ticket_issued_ns", ticket.issued.nanosecondsSince1970)
            }
            if let expires = entry.expires { $0.field("expires", expires) }
        }
        return writer.bytes
    }

    /// Reads a host's value in the bucket; `nil` if it is not one.
    package static func entry(_ host: String, _ value: [UInt8]) -> Entry? {
        guard let reader = try? WireReader(value, limit: valueLimit), let key = key(reader, "key") else { return nil }
        return Entry(
            host: host, key: key, otherKey: Self.key(reader, "other_key"),
            groups: ((try? reader.texts("groups")) ?? []).filter(FleetNames.hostIsValid),
            labels: (try? reader.textsByName("labels", most: HostLabels.most)) ?? [:], ticket: ticket(reader),
            expires: (try? reader.time("expires")) ?? nil)
    }

    private static func ticket(_ reader: WireReader) -> Ticket? {
        guard let key = key(reader, "ticket"), let seconds: Int = (try? reader.number("ticket_issued")) ?? nil else {
            return nil
        }
        let exact: Int64? = (try? reader.number("ticket_issued_ns")) ?? nil
        return Ticket(
            key: key,
            issued: exact.map { Timestamp(nanosecondsSince1970: $0) }
                ?? Timestamp(secondsSince1970: seconds, nanoseconds: 0))
    }

    private static func key(_ reader: WireReader, _ name: StaticString) -> String? {
        ((try? reader.text(name)) ?? nil).flatMap { (try? NKeyText.readUserPublic($0)) == nil ? nil : $0 }
    }
}

extension JSONWriter {
    /// Members whose values are texts, in the order of their names.
    mutating func texts(_ texts: [String: String]) {
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            key(named: name)
            value(text)
        }
    }
}
