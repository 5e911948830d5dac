internal import ReachCore

/// Sentences for what encoding throws.
enum EncodingFault {
    /// The reason, with the place in the value where there is one.
    static func sentence(_ error: any Error) -> String {
        guard case EncodingError.invalidValue(_, let context) = error else {
            return "the value cannot be encoded: \(DisplayText.sanitized("\(error)"))"
        }
        let place = context.codingPath.map(\.stringValue).joined(separator: ".")
        let text = DisplayText.sanitized("\(place.isEmpty ? "" : place + ": ")\(context.debugDescription)")
        return "the value cannot be encoded: \(text)"
    }
}
