public import ReachCore

/// Writes parameters into requests.
///
/// Conform to it for a format of your own; `FormRequestSerializer.encodesInURL` tells whether the method has its
/// parameters in the URL.
public protocol RequestSerializer: Sendable {
    /// Adds default headers and parameters to a request.
    ///
    /// - Parameter parameters: `nil` for none, which differs from empty ones: JSON then has no body.
    func serialize(
        _ request: HTTPRequest, parameters: ParameterValue?
    ) throws(RequestSerializationError) -> HTTPRequest
}

extension RequestSerializer {
    /// Makes a request and adds default headers and parameters to it.
    ///
    /// - Parameters:
    ///   - method: `GET`, `POST`, ...
    ///   - reference: A URL, or a reference that is joined to `base`.
    ///   - base: As ``WebAddress/asBase`` has it, or `nil` where the reference is a whole URL.
    ///   - parameters: What to send.
    public func request(
        _ method: String, _ reference: String, base: WebAddress? = nil, parameters: ParameterValue? = nil
    ) throws(RequestSerializationError) -> HTTPRequest {
        let address: WebAddress
        do throws(WebAddressError) {
            address = if let base { try base.asBase.resolving(reference) } else { try WebAddress(reference) }
        } catch {
            throw .badAddress(error)
        }
        return try serialize(HTTPRequest(method: method, address: address), parameters: parameters)
    }
}

/// Why parameters cannot be sent. The caller has to change them: to try again is of no use.
public enum RequestSerializationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A method is a word such as GET.
    case badMethod(String)
    /// The URL cannot be read.
    case badAddress(WebAddressError)
    /// A query, a form or a multipart body needs names: parameters must be a dictionary.
    case notADictionary
    /// The format has nothing for this value: where it stands (`a[b][]`), what it is, and the format's name.
    case unsupportedValue(place: String, kind: String, format: String)
    /// Multipart bodies cannot go with GET and HEAD.
    case bodyNotAllowed(method: String)
    /// A part's file cannot be sent.
    case file(BodyFileError)
    /// The caller's own query encoder says so.
    case queryEncoder(String)

    /// A stable word for programs.
    public var word: String {
        switch self {
        case .badMethod: "bad-method"
        case .badAddress: "bad-url"
        case .notADictionary: "parameters-without-names"
        case .unsupportedValue: "unsupported-value"
        case .bodyNotAllowed: "body-not-allowed"
        case .file: "unreadable-file"
        case .queryEncoder: "query-encoder"
        }
    }

    /// A sentence for people.
    public var description: String {
        switch self {
        case .badMethod(let method): "'\(DisplayText.sanitized(method))' is no method such as GET"
        case .badAddress(let error): "the URL cannot be used: \(error)"
        case .notADictionary: "parameters of a query or a form must have names: give a dictionary"
        case .unsupportedValue(let place, let kind, let format):
            "the parameter \(place.isEmpty ? "itself" : "'\(DisplayText.sanitized(place))'") is \(kind), which \(format) cannot hold"
        case .bodyNotAllowed(let method): "a \(method) request cannot have a multipart body"
        case .file(let error): error.description
        case .queryEncoder(let text): text
        }
    }
}
