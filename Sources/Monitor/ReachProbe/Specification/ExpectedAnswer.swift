package import ReachCore

/// What an answer must be for the attempt to be `ok`. What the path must be is a `NetworkCondition`.
package struct ExpectedAnswer: Hashable, Sendable {
    package var status: HTTPStatusSet = .success
    /// A header that must be present, and a text that its value must contain; empty if the header's presence is enough.
    package var header: HeaderField?
    package var bodyContains: String?
    package var bodyPrefix: String?
    /// What the body must be as JSON: all of these.
    package var json: [JSONCondition] = []
    /// Minimum number of whole days for which the certificate must still be valid.
    package var certificateDays: Int?
    /// Maximum duration of the attempt.
    package var latency: Duration?
    /// Maximum percentage of a burst's requests that may be lost; `nil` allows all but one.
    package var lossPercent: Int?
    package var responseCode = DNSResponseCode.noError
    /// Accepted records, written as dig(1) prints their data: at least one must be in the answer. Empty accepts any
    /// record.
    package var answers: [String] = []

    package init() {}

    /// Whether the body is checked.
    package var needsBody: Bool { bodyContains != nil || bodyPrefix != nil || !json.isEmpty }
}

extension HeaderField {
    /// Reads a header as the configuration has it: `Content-Type: text/html`.
    ///
    /// - Returns: `nil` if the text before the colon is not a token (RFC 9110 5.6.2), or the value has control
    ///   characters.
    package init?(_ text: String) {
        let parts = text.split(scalar: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, !name.isEmpty, name.utf8.allSatisfy(RequestFieldFault.isOfToken),
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else { return nil }
        self.init(String(name), parts.count > 1 ? String(parts[1].dropScalars { $0 == " " }) : "")
    }
}

/// A name server's response code (RFC 1035, RFC 6895), with the words of dig(1) as raw values.
package enum DNSResponseCode: String, Hashable, Sendable, CaseIterable {
    case noError = "NOERROR"
    case formatError = "FORMERR"
    case serverFailure = "SERVFAIL"
    case noSuchName = "NXDOMAIN"
    case notImplemented = "NOTIMP"
    case refused = "REFUSED"

    /// The number in IANA's registry of DNS RCODEs.
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
