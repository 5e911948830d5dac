/// What must hold of an answer for an attempt to be `ok`, beyond that there is one.
package struct ProbeConditions: Hashable, Sendable {
    /// A header that must be there, and a text that its value must contain: `Content-Type: text/html`.
    package struct Header: Hashable, Sendable {
        package let name: String
        /// Empty where its presence is enough.
        package let value: String

        /// - Returns: `nil` if what stands before the colon is no name of a header (RFC 9110, tokens).
        package init?(_ text: String) {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = parts.first, !first.isEmpty, first.utf8.allSatisfy(Self.isTokenByte),
                text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
            else { return nil }
            name = String(first)
            value = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }

        private static func isTokenByte(_ byte: UInt8) -> Bool {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
    }

    package var status: HTTPStatusSet = .success
    package var header: Header?
    package var bodyContains: String?
    package var bodyPrefix: String?
    /// Fewer whole days left on the certificate are a failure.
    package var certificateDays: Int?
    /// An attempt that takes longer is a failure.
    package var latency: Duration?
    package var responseCode = DNSResponseCode.noError
    /// One of the records must be one of these, as dig(1) writes their data. Empty where any will do.
    package var answers: [String] = []

    package init() {}

    /// What is looked at needs the body.
    package var needsBody: Bool { bodyContains != nil || bodyPrefix != nil }
}

/// What a name server says of a question (RFC 1035, 6895), by the words that dig(1) has for it.
package enum DNSResponseCode: String, Hashable, Sendable, CaseIterable {
    case noError = "NOERROR"
    case formatError = "FORMERR"
    case serverFailure = "SERVFAIL"
    case noSuchName = "NXDOMAIN"
    case notImplemented = "NOTIMP"
    case refused = "REFUSED"

    /// IANA's number of it.
    package var number: UInt8 {
        switch self {
        case .noError: 0
        case .formatError: 1
        case .serverFailure: 2
        case .noSuchName: 3
        case .notImplemented: 4
        case .refused: 5
        }
    }
}
