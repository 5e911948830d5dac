/// The methods whose requests may be sent a second time when it is not known what became of the first (RFC 9110,
/// 9.2.2).
package enum RepeatableMethods {
    package static func contains(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE": true
        default: false
        }
    }
}
