public import ReachCore

/// The reason why parameters cannot be sent. The caller has to change them: repeating the call does not help.
public enum RequestSerializationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The method is no token such as GET.
    case badMethod(String)
    /// The URL is invalid.
    case badAddress(WebAddressError)
    /// The parameters are no dictionary, but a query, a form or a multipart body needs names.
    case notADictionary
    /// The format cannot hold this value: its place (`a[b][]`), its kind, and the format's name.
    case unsupportedValue(place: String, kind: String, format: String)
    /// GET and HEAD cannot have a multipart body.
    case bodyNotAllowed(method: String)
    /// The text cannot separate the parts of a form.
    case badBoundary(String)
    /// A part's file cannot be sent.
    case file(BodyFileError)
    /// The custom query encoder failed, for a reason in words.
    case queryEncoder(String)
    /// A custom serializer or query encoder failed with an error of its own.
    case custom(SerializerFailure)

    /// A stable word for programs.
    public var word: String {
        switch self {
        case .badMethod: "bad-method"
        case .badAddress: "bad-url"
        case .notADictionary: "parameters-without-names"
        case .unsupportedValue: "unsupported-value"
        case .bodyNotAllowed: "body-not-allowed"
        case .badBoundary: "bad-boundary"
        case .file: "unreadable-file"
        case .queryEncoder: "query-encoder"
        case .custom: "custom-serializer"
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
        case .badBoundary(let text):
            "'\(DisplayText.excerpt(text))' cannot separate the parts of a form: take 1 to 70 letters, digits and '()+_,-./:=?"
        case .file(let error): error.description
        case .queryEncoder(let text): text
        case .custom(let failure): failure.description
        }
    }
}

/// The error of a custom serializer. Two are equal if their texts are.
public struct SerializerFailure: Hashable, Sendable, CustomStringConvertible {
    /// The error as it was thrown.
    public let error: any Error

    /// Wraps an error.
    public init(_ error: any Error) { self.error = error }

    /// The error's own text, safe to display.
    public var description: String { "the parameters cannot be encoded: \(DisplayText.sanitized("\(error)"))" }

    /// Compares the texts.
    public static func == (left: Self, right: Self) -> Bool { left.description == right.description }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
