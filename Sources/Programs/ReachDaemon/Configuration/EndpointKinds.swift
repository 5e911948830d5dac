internal import ReachCore
internal import ReachProbe
internal import ReachTOML

extension ConfigurationKind<[ConnectivityEndpoint]> {
    /// Each page once: a second answer of the same would count twice, and cost a metered link twice.
    static var endpoints: Self { list(of: .endpoint, 0...8, distinctBy: { $0.page }) }
}

extension ConfigurationKind<ConnectivityEndpoint> {
    /// A page: its URL, or a table with the URL and the expected answer.
    static var endpoint: Self {
        let expected =
            "a URL in quotes that answers 204, or { url = \"...\", header = \"Name: value\" } or "
            + "{ url = \"...\", body = \"how it begins\" }"
        return Self(expected, write: literal) { value in
            switch value {
            case .string(let url): endpoint(url)
            case .table(let table): endpoint(table)
            default: .otherType
            }
        }
    }

    @Sendable private static func literal(_ endpoint: ConnectivityEndpoint) -> String {
        let url = TOMLLiteral.text(endpoint.url)
        switch endpoint.expectation {
        case .noContent: return url
        case .header(let name, let value):
            return "{ url = \(url), header = \(TOMLLiteral.text(name + (value.map { ": " + $0 } ?? ""))) }"
        case .body(let prefix):
            return "{ url = \(url), body = \(TOMLLiteral.text(String(decoding: prefix, as: UTF8.self))) }"
        }
    }

    private static func endpoint(
        _ url: String, _ expectation: ConnectivityEndpoint.Expectation = .noContent
    ) -> Reading<ConnectivityEndpoint> {
        Reading(
            ConnectivityEndpoint(url, expectation: expectation),
            else: "\"\(url)\" is not an absolute http or https URL without a user name")
    }

    private static func endpoint(_ table: TOMLTable) -> Reading<ConnectivityEndpoint> {
        var texts: [String: String] = [:]
        for entry in table.entries {
            guard ["url", "header", "body"].contains(entry.key) else { return .wrong("it has a key \(entry.key)") }
            guard let text = entry.node.value.text else { return .wrong("its \(entry.key) is not a text") }
            texts[entry.key] = text
        }
        guard let url = texts["url"] else { return .wrong("it has no url") }
        switch (texts["header"], texts["body"]) {
        case (nil, nil): return endpoint(url)
        case (_?, _?): return .wrong("it has both a header and a body")
        case (let header?, nil):
            guard let expectation = expectation(header: header) else {
                return .wrong("\"\(header)\" cannot be a header")
            }
            return endpoint(url, expectation)
        case (nil, let body?):
            // No more of a body is read, and every body begins with an empty text.
            guard (1...EndpointResponse.bodyLimitBytes).contains(body.utf8.count) else {
                return .wrong(
                    "its body has \(body.utf8.count) bytes, and must have 1 to \(EndpointResponse.bodyLimitBytes)")
            }
            return endpoint(url, .body(prefix: Array(body.utf8)))
        }
    }

    /// `Name: value`, or `Name` for any value.
    private static func expectation(header: String) -> ConnectivityEndpoint.Expectation? {
        let parts = header.split(scalar: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0]
        // A token of RFC 9110, limited to the characters that header names use.
        let isName =
            !name.isEmpty
            && name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        guard isName, header.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) else { return nil }
        guard parts.count == 2 else { return .header(name: String(name), value: nil) }
        let value = parts[1].dropScalars { $0 == " " }
        guard let last = value.unicodeScalars.lastIndex(where: { $0 != " " }) else { return nil }
        return .header(name: String(name), value: String(value[...last]))
    }
}
