/// Why a text is no URL, and where.
public struct WebAddressError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public enum Fault: Hashable, Sendable {
        /// A base is needed, or a scheme.
        case noScheme
        /// What stands before the first colon is no scheme.
        case badScheme
        /// Nothing to send to.
        case noHost
        /// Neither a name nor an address in brackets.
        case badHost
        /// A host with letters outside ASCII: write its `xn--` form.
        case internationalHost
        /// Not a number up to 65535.
        case badPort
        /// A percent sign without two hexadecimal digits.
        case badEscape
        /// This one may not stand there.
        case badCharacter(String)
    }

    /// What is wrong.
    public let fault: Fault
    /// How many bytes come before the fault.
    public let offset: Int

    package init(_ fault: Fault, at offset: Int) {
        self.fault = fault
        self.offset = offset
    }

    /// The place and a sentence, safe to show.
    public var description: String {
        switch fault {
        case .noScheme: "a URL needs a scheme such as https://"
        case .badScheme: "byte \(offset): not a scheme such as https"
        case .noHost: "byte \(offset): a URL needs a host"
        case .badHost: "byte \(offset): not a host"
        case .internationalHost:
            "byte \(offset): a host has no letters outside ASCII: write the name in its xn-- form"
        case .badPort: "byte \(offset): a port is a number up to 65535"
        case .badEscape: "byte \(offset): a percent sign needs two hexadecimal digits after it"
        case .badCharacter(let text): "byte \(offset): '\(DisplayText.sanitized(text))' cannot stand in a URL as it is"
        }
    }
}
