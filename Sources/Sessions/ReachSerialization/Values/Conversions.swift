public import FoundationEssentials
public import HTTPTypes
public import ReachCore

// The types of this module and those of HTTPTypes and Foundation, both ways.

extension WebRequest {
    /// Creates a request from its head.
    ///
    /// - Throws: An error if scheme, authority and path are no URL.
    public init(_ head: HTTPRequest, body: Body = .none) throws(RequestSerializationError) {
        let text = (head.scheme.map { $0 + "://" } ?? "") + (head.authority ?? "") + (head.path ?? "")
        do throws(WebAddressError) {
            self.init(
                method: head.method, url: try WebAddress(text), headers: head.headerFields, body: body)
        } catch {
            throw .badAddress(error)
        }
    }

    /// The head of the message: method, scheme, authority, path with query, and header fields.
    public var head: HTTPRequest {
        HTTPRequest(
            method: method, scheme: url.scheme, authority: url.host + (url.port.map { ":\($0)" } ?? ""),
            path: url.requestTarget, headerFields: headers)
    }
}

extension HTTPRequest {
    /// The head of a request, without its body.
    public init(_ request: WebRequest) { self = request.head }
}

extension HTTPResponse {
    /// The head of a response, without the URL that answered.
    public init(_ response: WebResponse) { self = response.head }
}

extension WebAddress {
    /// The URL in Foundation's form.
    ///
    /// - Throws: An error for one without a scheme or a host, such as `file:///etc`.
    public init(_ url: URL) throws(WebAddressError) { try self.init(url.absoluteString) }
}

extension URL {
    /// A URL of a request or a response; `nil` where Foundation refuses it.
    public init?(_ address: WebAddress) { self.init(string: address.description) }
}
