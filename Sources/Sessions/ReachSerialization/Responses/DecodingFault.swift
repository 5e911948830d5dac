internal import ReachCore

/// Sentences for what decoding throws.
enum DecodingFault {
    /// The reason, with the place in the document where there is one: `users[3].name: expected a String, found null`.
    static func sentence(_ error: any Error) -> String { DisplayText.sanitized(text(of: error)) }

    private static func text(of error: any Error) -> String {
        switch error as? DecodingError {
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            at(context.codingPath, context.debugDescription)
        case .keyNotFound(let key, let context):
            at(context.codingPath + [key], "there is no such key")
        case .dataCorrupted(let context):
            at(
                context.codingPath,
                context.underlyingError.map { "\(context.debugDescription) (\($0))" }
                    ?? context.debugDescription)
        case nil: "\(error)"
        @unknown default: "\(error)"
        }
    }

    private static func at(_ path: [any CodingKey], _ what: String) -> String {
        var place = ""
        for key in path {
            if let index = key.intValue {
                place += "[\(index)]"
            } else {
                place += (place.isEmpty ? "" : ".") + key.stringValue
            }
        }
        let what = what.before(".").map(String.init) ?? what
        return place.isEmpty ? what : "\(place): \(what)"
    }
}
