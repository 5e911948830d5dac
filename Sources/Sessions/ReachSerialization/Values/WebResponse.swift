public import HTTPTypes
internal import ReachCore

/// The head of a response, and the URL that answered.
public struct WebResponse: Hashable, Sendable {
    /// The URL that answered, after redirects.
    public let url: WebAddress
    /// The status and the header fields, in the order in which they were received.
    public let head: HTTPResponse

    /// Creates a response.
    public init(url: WebAddress, head: HTTPResponse) {
        self.url = url
        self.head = head
    }

    /// The status, such as 200 or 404.
    public var statusCode: Int { head.status.code }
}

extension HTTPResponse {
    /// The content type in lower case, without its parameters; `nil` if the server sent none.
    public var mediaType: String? {
        guard let type = contentType.first.map(String.init)?.lowercased(), !type.isEmpty else { return nil }
        return type
    }

    /// The content type's parameter `charset`, in lower case.
    public var characterSet: String? { parameter("charset")?.lowercased() }

    /// A parameter of the content type, without quotation marks; `nil` for an empty one.
    func parameter(_ name: String) -> String? {
        for parameter in contentType.dropFirst() {
            guard let sides = parameter.cut(at: "="), sides.before.trimmed.lowercased() == name else { continue }
            let value = sides.after.trimmed
            let bare = QuotedText.content(of: value) ?? String(value)
            return bare.isEmpty ? nil : bare
        }
        return nil
    }

    private var contentType: [Substring] {
        // The first of several fields counts: joined by a comma they would be no valid type.
        let field = headerFields.first { $0.name == .contentType }
        return QuotedText.split(field?.value ?? "", at: ";").map(\.trimmed)
    }
}

extension HTTPResponse {
    /// The boundary of a multipart body; `nil` for any other.
    package var boundary: String? {
        guard mediaType?.hasUTF8Prefix("multipart/") == true else { return nil }
        return parameter("boundary")
    }
}
