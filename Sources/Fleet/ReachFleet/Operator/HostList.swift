internal import ReachCore

/// The hosts that the operator knows, with their keys: a text with a host a line, `HOST KEY [GROUP ...]`.
package struct HostList: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let host: String
        /// The public half of its key.
        package let key: String
        package let groups: [String]

        package init(host: String, key: String, groups: [String] = []) {
            self.host = host
            self.key = key
            self.groups = groups
        }
    }

    /// A line that is wrong, and how.
    package struct Fault: Error, Hashable, Sendable {
        package let line: Int
        package let sentence: String
    }

    /// The bucket in which `setup` stores the list for readers: a key for each host. So they know who has never connected,
    /// and whose connection the server reports.
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
            for name in [entry.host, entry.key] {
                if let other = lines.updateValue(number, forKey: name) {
                    throw Fault(line: number, sentence: "'\(name)' is in line \(other), too")
                }
            }
            entries.append(entry)
        }
        self.entries = entries
    }

    private static func entry(_ words: [String], _ number: Int) throws(Fault) -> Entry {
        guard words.count >= 2 else { throw Fault(line: number, sentence: "HOST KEY [GROUP ...] expected") }
        for name in [words[0]] + words.dropFirst(2) where !FleetNames.hostIsValid(name) {
            throw Fault(
                line: number,
                sentence: "'\(DisplayText.sanitized(name))' is not 1 to 64 letters, digits, '-' and '_'")
        }
        do throws(NKeyText.Fault) {
            _ = try NKeyText.readUserPublic(words[1])
        } catch {
            // A seed must not be repeated on a terminal or in a log.
            let quoted = error == .secret ? "the key" : "'\(DisplayText.sanitized(words[1]))'"
            throw Fault(line: number, sentence: "\(quoted): \(error.sentence)")
        }
        return Entry(host: words[0], key: words[1], groups: Array(words.dropFirst(2)))
    }

    /// The value of a host in the bucket.
    package static func value(_ entry: Entry) -> [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.field("v", 1)
            $0.field("key", entry.key)
            $0.field("groups", entry.groups)
        }
        return writer.bytes
    }

    /// The groups in a host's value in the bucket.
    package static func groups(_ value: [UInt8]) -> [String] {
        guard value.count <= 4096, let json = try? JSONReader.read(value) else { return [] }
        return (json["groups"]?.array ?? []).compactMap(\.string).filter(FleetNames.hostIsValid)
    }

    /// Reads a host's value in the bucket; `nil` if it is not one.
    package static func key(_ value: [UInt8]) -> String? {
        guard value.count <= 4096, let json = try? JSONReader.read(value) else { return nil }
        return json["key"]?.string.flatMap { (try? NKeyText.readUserPublic($0)) == nil ? nil : $0 }
    }
}
