/// The head of a response.
public struct HTTPResponse: Hashable, Sendable {
    /// Where it came from, redirects followed.
    public let address: WebAddress
    /// 100 to 599.
    public let statusCode: Int
    /// As they were received.
    public let headers: HTTPHeaders

    /// A response's head.
    public init(address: WebAddress, statusCode: Int, headers: HTTPHeaders) {
        self.address = address
        self.statusCode = statusCode
        self.headers = headers
    }

    /// The content type in small letters and without its parameters; `nil` where the server named none.
    public var mediaType: String? {
        guard let type = contentType.first.map(String.init)?.lowercased(), !type.isEmpty else { return nil }
        return type
    }

    /// The content type's parameter `charset`, in small letters.
    public var characterSet: String? {
        for parameter in contentType.dropFirst() {
            let sides = parameter.split(separator: "=", maxSplits: 1).map(Self.trimmed)
            guard sides.count == 2, sides[0].lowercased() == "charset" else { continue }
            let bare = sides[1].hasPrefix("\"") && sides[1].hasSuffix("\"") ? sides[1].dropFirst().dropLast() : sides[1]
            return bare.isEmpty ? nil : bare.lowercased()
        }
        return nil
    }

    private var contentType: [Substring] {
        // Of several fields the first counts: joined by a comma they would be no type at all.
        let field = headers.fields.first { $0.name.lowercased() == "content-type" }
        return (field?.value ?? "").split(separator: ";", omittingEmptySubsequences: false).map(Self.trimmed)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
