/// The identifier of a provisioning domain (RFC 8801): a domain name of who provides the network, in lower case.
package struct ProvisioningDomain: Hashable, Sendable, CustomStringConvertible {
    /// RFC 1035 section 2.3.4, without the dot at the end.
    private static let longestName = 253
    private static let longestLabel = 63

    package let description: String

    /// Reads a name, with or without a dot at its end.
    ///
    /// - Returns: `nil` for what is no host name.
    package init?(_ text: String) {
        let labels = (text.before(".") ?? text[...]).split(
            separator: ".", omittingEmptySubsequences: false)
        self.init(labels: labels.map { Array($0.utf8) })
    }

    /// Reads a name in the form of DNS (RFC 1035 section 3.1), without compression. What follows it is not read.
    package init?(encoded bytes: some Collection<UInt8>) {
        var labels: [[UInt8]] = []
        var rest = Array(bytes)[...]
        while let length = rest.popFirst() {
            if length == 0 {
                self.init(labels: labels)
                return
            }
            guard Int(length) <= Self.longestLabel, rest.count >= Int(length) else { return nil }
            labels.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        // The bytes end before the name does.
        return nil
    }

    private init?(labels: [[UInt8]]) {
        guard !labels.isEmpty, labels.reduce(labels.count - 1, { $0 + $1.count }) <= Self.longestName,
            labels.allSatisfy({ 1...Self.longestLabel ~= $0.count && $0.allSatisfy(\.isOfHostName) })
        else { return nil }
        description = labels.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".").lowercased()
    }
}
