internal import ReachCore

/// The answer of a portal's API (RFC 8908 5).
package struct PortalAnswer: Hashable, Sendable {
    package var isCaptive: Bool
    package var userPortalURL: String?
    package var venueInfoURL: String?
    package var secondsRemaining: Int64?
    package var bytesRemaining: Int64?
    package var canExtendSession: Bool?
    /// How long the answer is fresh: the API is not asked again earlier.
    package var freshTime: Duration = .zero

    /// The largest answer in bytes that is read. Answers have some hundred.
    package static let limitBytes = 16_384
    /// The longest time that an answer may claim to be fresh, so that no server keeps this machine captive.
    static let longestFreshTime: Duration = .seconds(600)

    package init(isCaptive: Bool) { self.isCaptive = isCaptive }

    /// Reads the answer of an endpoint. Members of another type, and numbers out of range, are treated as missing; only
    /// `captive` must be there.
    package init(_ answer: EndpointAnswer) throws(PortalTrouble) {
        switch answer {
        case .privateAddress, .failure(.notConnected), .failure(.refused), .failure(.noAnswer), .failure(.local),
            .failure(.nameNotResolved):
            throw .noAnswer
        case .failure(.certificate), .failure(.certificateDate): throw .certificate
        case .failure(.garbage): throw .wrongAnswer
        case .response(let response): try self.init(response)
        }
    }

    private init(_ response: EndpointResponse) throws(PortalTrouble) {
        guard response.status == 200, Self.isRightType(response.header("Content-Type")),
            response.body.count < Self.limitBytes, let json = try? JSONReader.read(response.body),
            let isCaptive = json["captive"]?.bool
        else { throw .wrongAnswer }
        self.isCaptive = isCaptive
        userPortalURL = Self.url(json["user-portal-url"])
        venueInfoURL = Self.url(json["venue-info-url"])
        secondsRemaining = Self.number(json["seconds-remaining"])
        bytesRemaining = Self.number(json["bytes-remaining"])
        canExtendSession = json["can-extend-session"]?.bool
        freshTime = Self.freshTime(response.header("Cache-Control"))
    }

    private static func isRightType(_ value: String?) -> Bool {
        let type = value?.split(scalar: ";", omittingEmptySubsequences: false).first ?? ""
        return type.trimmed.lowercased() == "application/captive+json"
    }

    /// A page for people. One that is not of http or https, or has characters that a URL cannot have, is not kept: it
    /// is shown, passed to hooks, and may be opened.
    private static func url(_ value: JSONValue?) -> String? {
        guard let text = value?.string, text.utf8.count <= 2000, text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            return nil
        }
        return PortalAddress(text)?.text
    }

    private static func number(_ value: JSONValue?) -> Int64? { value?.integer.flatMap { $0 >= 0 ? $0 : nil } }

    private static func freshTime(_ value: String?) -> Duration {
        for directive in value?.lowercased().split(scalar: ",") ?? [] {
            let parts = directive.trimmed.split(scalar: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmed == "max-age", let seconds = Int64(parts[1].trimmed), seconds > 0
            else { continue }
            return min(.seconds(min(seconds, 86_400)), longestFreshTime)
        }
        return .zero
    }
}
