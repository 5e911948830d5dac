/// A method call from the bus.
package struct BusCall: Hashable, Sendable {
    package var path: String
    /// D-Bus allows a call that names none.
    package var interface: String?
    package var member: String
    /// The types of the arguments.
    package var signature: String
    /// The arguments at the beginning that are texts.
    package var texts: [String]

    package init(_ path: String, _ interface: String?, _ member: String, signature: String = "", texts: [String] = []) {
        (self.path, self.interface, self.member) = (path, interface, member)
        (self.signature, self.texts) = (signature, texts)
    }
}

/// Why a call has no answer.
package struct BusFailure: Error, Hashable, Sendable {
    /// The name of the error, for programs.
    package let name: String
    /// A sentence for people.
    package let message: String

    init(_ name: String, _ message: String) {
        (self.name, self.message) = ("org.freedesktop.DBus.Error." + name, message)
    }

    package static let tooManyCalls = BusFailure("LimitsExceeded", "too many calls wait for an answer")
    package static let unwritten = BusFailure("Failed", "the answer cannot be written")
}

/// A method of an interface: what `Introspect` says of it, and its answer.
struct BusMethod: Sendable {
    let input: String
    let output: String
    let answer: @Sendable (BusCall, BusTree) throws(BusFailure) -> [BusValue]

    init(
        _ input: String = "", _ output: String,
        _ answer: @escaping @Sendable (BusCall, BusTree) throws(BusFailure) -> [BusValue]
    ) { (self.input, self.output, self.answer) = (input, output, answer) }
}
