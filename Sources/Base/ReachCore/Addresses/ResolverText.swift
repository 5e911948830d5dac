/// Reads the texts of resolv.conf(5), hosts(5) and nsswitch.conf(5).
package enum ResolverText {
    /// The words of each line that has some, without comments.
    package static func lines(_ text: String) -> [[Substring]] {
        text.textLines.compactMap { line in
            let words = line.prefixScalars { $0 != "#" && $0 != ";" }.splitScalars { $0 == " " || $0 == "\t" }
            return words.isEmpty ? nil : words
        }
    }

    /// The name servers of a resolv.conf in their order, with the interface of a link-local address.
    package static func nameServers(in text: String) -> [(address: IPAddress, zone: String?)] {
        lines(text).compactMap { words in
            guard words.count >= 2, words[0] == "nameserver" else { return nil }
            let parts = words[1].split(scalar: "%", maxSplits: 1)
            guard let address = parts.first.flatMap({ IPAddress(String($0)) }) else { return nil }
            return (address, parts.count > 1 ? String(parts[1]) : nil)
        }
    }

    /// The domains that complete a name, without their last dot: those of the last line that has some; `nil` without
    /// such a line.
    package static func searchList(in text: String) -> [String]? {
        let line = lines(text).last { $0.count >= 2 && ($0[0] == "search" || $0[0] == "domain") }
        guard let line else { return nil }
        let domains = line[0] == "domain" ? line[1...1] : line[1...]
        return domains.map { $0.hasUTF8Suffix(".") ? String($0.dropLast()) : String($0) }
    }

    /// The words of all lines of options.
    package static func options(in text: String) -> [Substring] {
        lines(text).flatMap { $0[0] == "options" ? $0.dropFirst() : [] }
    }
}
