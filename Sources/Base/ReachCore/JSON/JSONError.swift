/// The reason why bytes are not a JSON document, and where.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Fault: Hashable, Sendable {
        /// Something else must come here; the words say what.
        case expected(String)
        case notUTF8
        case badEscape
        case badNumber
        /// A number that neither 64 bits nor a double can represent.
        case numberTooLarge
        /// A key that occurs twice. Different readers would use different values.
        case duplicateKey(String)
        case tooDeep(Int)
        /// A key is longer, or there are more values, than the reader accepts.
        case keyTooLong, tooMany
        /// Bytes after the end of the document.
        case trailingBytes
    }

    package let fault: Fault
    /// The number of bytes before the fault.
    package let offset: Int

    package init(_ fault: Fault, at offset: Int) {
        self.fault = fault
        self.offset = offset
    }

    package var description: String { "byte \(offset): \(sentence)" }

    private var sentence: String {
        switch fault {
        case .expected(let what): "\(what) expected"
        case .notUTF8: "not UTF-8"
        case .badEscape: "no such escape"
        case .badNumber: "not a number as JSON has it"
        case .numberTooLarge: "the number is too large"
        case .duplicateKey(let name): "the key '\(DisplayText.sanitized(name))' a second time"
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        case .keyTooLong: "the key is too long"
        case .tooMany: "too many values"
        case .trailingBytes: "more after the end of the document"
        }
    }
}
