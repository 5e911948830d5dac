/// The methods whose requests may be sent a second time when it is not known what became of the first (RFC 9110, 9.2.2).
package enum RepeatableMethods {
    private static let names: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]

    package static func contains(_ method: String) -> Bool { names.contains(method) }
}
