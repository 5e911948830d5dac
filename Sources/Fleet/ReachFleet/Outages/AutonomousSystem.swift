package import ReachCore

/// A provider's network, as the operator's prefix file names it.
package struct AutonomousSystem: Hashable, Sendable, CustomStringConvertible {
    package let number: UInt32
    package let name: String?

    /// `AS64500 (Example Telecom)`.
    package var description: String {
        "AS\(number)" + (name.map { " (\(DisplayText.sanitized($0)))" } ?? "")
    }
}

/// Which autonomous system announces an address, from a file of the operator's. No service is asked.
///
/// A line is `PREFIX NUMBER [NAME]`, such as `203.0.113.0/24 64500 Example Telecom`; `AS64500` is the same number.
/// Empty lines and those that begin with `#` say nothing.
package struct ASNTable: Sendable {
    /// What is wrong with a file.
    package enum ParseError: Error, Hashable, Sendable, CustomStringConvertible {
        /// A line that is not `PREFIX NUMBER [NAME]`, with its number from 1.
        case line(Int, String)

        package var description: String {
            switch self {
            case .line(let number, let text):
                "line \(number): '\(DisplayText.sanitized(String(text.prefix(60))))' is not PREFIX NUMBER [NAME]"
            }
        }
    }

    private var systems: [IPPrefix: AutonomousSystem] = [:]
    /// The lengths of prefixes in the file, the longest first, for each family.
    private var lengths: [IPAddress.Family: [Int]] = [:]

    package init() {}

    package init(_ text: String) throws(ParseError) {
        var found: [IPAddress.Family: Set<Int>] = [:]
        for (index, line) in text.textLines.enumerated() {
            let words = line.splitScalars(maxSplits: 2, whereSeparator: { $0 == " " || $0 == "\t" })
            guard let first = words.first, !first.hasUTF8Prefix("#") else { continue }
            guard words.count >= 2, let prefix = IPPrefix(String(first)), let number = Self.number(words[1]) else {
                throw .line(index + 1, String(line))
            }
            let name = words.count > 2 ? words[2] : ""
            systems[prefix] = AutonomousSystem(number: number, name: name.isEmpty ? nil : String(name.prefix(64)))
            found[prefix.address.family, default: []].insert(prefix.length)
        }
        lengths = found.mapValues { $0.sorted(by: >) }
    }

    /// The system with the longest prefix that contains the address.
    package func system(of address: IPAddress) -> AutonomousSystem? {
        for length in lengths[address.family] ?? [] {
            if let prefix = IPPrefix(address, length: length), let system = systems[prefix] { return system }
        }
        return nil
    }

    private static func number(_ text: Substring) -> UInt32? {
        let digits = text.uppercased().hasUTF8Prefix("AS") ? text.dropFirst(2) : text
        guard digits.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        return UInt32(digits)
    }
}
