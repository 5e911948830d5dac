/// Why a text is not a URL, and the place of the fault.
public struct WebAddressError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A kind of fault.
    public enum Fault: Hashable, Sendable {
        /// The text has no scheme, and there is no base URL.
        case noScheme
        /// The text before the first colon is not a scheme.
        case badScheme
        /// There is no host.
        case noHost
        /// The host is neither a name nor an address in brackets.
        case badHost
        /// The host has letters outside ASCII, and no form in ASCII (`xn--`) can be made of it.
        case internationalHost
        /// The port is not a number up to 65535.
        case badPort
        /// A percent sign is not followed by two hexadecimal digits.
        case badEscape
        /// This character is not allowed here.
        case badCharacter(String)
    }

    /// The kind of fault.
    public let fault: Fault
    /// The number of bytes before the fault.
    public let offset: Int

    /// What continues a sentence that begins with what is wrong.
    private let detail: String?

    package init(_ fault: Fault, at offset: Int, detail: String? = nil) {
        self.fault = fault
        self.offset = offset
        self.detail = detail
    }

    /// The place and a sentence, safe to print.
    public var description: String {
        switch fault {
        case .noScheme: "a URL needs a scheme such as https://"
        case .badScheme: "byte \(offset): not a scheme such as https"
        case .noHost: "byte \(offset): a URL needs a host"
        case .badHost: "byte \(offset): not a host"
        case .internationalHost:
            "byte \(offset): this name \(detail ?? "has letters outside ASCII")"
        case .badPort: "byte \(offset): a port is a number up to 65535"
        case .badEscape: "byte \(offset): a percent sign needs two hexadecimal digits after it"
        case .badCharacter(let text): "byte \(offset): '\(DisplayText.sanitized(text))' is not allowed here"
        }
    }
}
