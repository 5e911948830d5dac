internal import ReachCore

/// The conclusion from one endpoint's answer.
package enum EndpointFinding: Hashable, Sendable {
    /// The expected answer.
    case proof
    /// A portal answered in the endpoint's place. The URL is that of its page, or the endpoint's own if it named none.
    case portal(url: String)
    case failure(ValidationTrouble)
    /// The answer proves nothing.
    case inconclusive

    package init(_ answer: EndpointAnswer, from endpoint: ConnectivityEndpoint) {
        switch answer {
        case .privateAddress(let address): self = Self.judge(address, of: endpoint)
        case .failure(.local), .failure(.certificateDate): self = .inconclusive
        case .failure(.nameNotResolved): self = .failure(.nameNotResolved)
        case .failure(.certificate): self = .failure(.certificate)
        case .failure(.garbage): self = .failure(.wrongAnswer)
        case .failure(.notConnected), .failure(.refused), .failure(.noAnswer): self = .failure(.noAnswer)
        case .response(let response): self = Self.judge(response, from: endpoint)
        }
    }

    /// Judges a private address of a public name. A portal gives all names its own address, and shows its page there; a
    /// filter gives the names that it blocks an address of no host.
    private static func judge(_ address: IPAddress, of endpoint: ConnectivityEndpoint) -> EndpointFinding {
        guard address.scope > .nowhere else { return .failure(.privateAddress) }
        guard endpoint.isSecure else { return .portal(url: endpoint.url) }
        return .portal(url: address.family == .ipv6 ? "http://[\(address)]/" : "http://\(address)/")
    }

    private static func judge(_ response: EndpointResponse, from endpoint: ConnectivityEndpoint) -> EndpointFinding {
        if isExpected(response, by: endpoint.expectation) { return .proof }
        // The certificate is valid, so the endpoint itself answered: it is out of order, but it is not a portal.
        guard !endpoint.isSecure else { return .failure(.wrongAnswer) }
        switch response.status {
        case 511: return .portal(url: endpoint.url)
        case 300..<400:
            guard let location = response.header("Location"),
                let page = Location(location, from: endpoint).url
            else { return .portal(url: endpoint.url) }
            // Many servers redirect from http to the same page by https.
            return page.isSecureForm(of: endpoint)
                ? .failure(.wrongAnswer) : .portal(url: PortalAddress(page.text)?.text ?? endpoint.url)
        case 200..<300:
            // Broken proxies turn a 204 into an empty page.
            let isEmpty = response.body.count <= EndpointResponse.emptyBodyBytes
            return isEmpty ? .failure(.wrongAnswer) : .portal(url: endpoint.url)
        default: return .failure(.wrongAnswer)
        }
    }

    private static func isExpected(
        _ response: EndpointResponse, by expectation: ConnectivityEndpoint.Expectation
    ) -> Bool {
        switch expectation {
        case .noContent: return response.status == 204
        case .header(let name, let value):
            guard response.status == 200, let found = response.header(name) else { return false }
            return value == nil || value == found
        case .body(let prefix): return response.status == 200 && response.body.starts(with: prefix)
        }
    }
}

/// The target of a redirection: the value of a Location header, which may be relative (RFC 9110 10.2.2).
private struct Location {
    struct Page {
        let text: String

        func isSecureForm(of endpoint: ConnectivityEndpoint) -> Bool {
            guard let other = ConnectivityEndpoint(text) else { return false }
            return other.isSecure && other.host.lowercased() == endpoint.host.lowercased()
        }
    }

    /// The absolute URL; `nil` if the text is too long, not printable, or not of http or https.
    let url: Page?

    init(_ text: String, from endpoint: ConnectivityEndpoint) {
        guard !text.isEmpty, text.utf8.count <= 2000, text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            url = nil
            return
        }
        let scheme = endpoint.isSecure ? "https:" : "http:"
        if text.hasUTF8Prefix("//") {
            url = Page(text: scheme + text)
        } else if let colon = text.unicodeScalars.firstIndex(of: ":"),
            !text[..<colon].utf8.contains(where: "/?#".utf8.contains)
        {
            url = ["http", "https"].contains(text[..<colon].lowercased()) ? Page(text: text) : nil
        } else {
            let origin = endpoint.url.prefixThroughAuthority
            let directory = endpoint.path.prefixScalars { $0 != "?" }
            let parent = directory[...(directory.unicodeScalars.lastIndex(of: "/") ?? directory.startIndex)]
            url = Page(text: origin + (text.hasUTF8Prefix("/") ? text : parent + text))
        }
    }
}

extension String {
    /// Scheme and authority of an absolute URL.
    fileprivate var prefixThroughAuthority: String {
        var slashes = 0
        let end = firstIndex { character in
            if character == "/" { slashes += 1 }
            return slashes == 3 || (slashes == 2 && (character == "?" || character == "#"))
        }
        return String(self[..<(end ?? endIndex)])
    }
}
