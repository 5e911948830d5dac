package import ReachCore

/// A name server's answer about the addresses of a name.
package enum DNSAnswer: Hashable, Sendable {
    case addresses([IPAddress], seconds: UInt32)
    /// The name has no record of this type.
    case none(seconds: UInt32)
    /// The name does not exist, for any type.
    case noSuchName(seconds: UInt32)
    /// The server failed, with its response code (RFC 1035 section 4.1.1), or its answer cannot be parsed.
    case failure(code: UInt8)

    package init(_ reply: DNSReply, family: IPAddress.Family) {
        switch reply.code {
        case DNSReply.Code.good:
            guard let found = reply.addresses(family) else {
                self = .failure(code: DNSReply.Code.serverFailure)
                return
            }
            self =
                found.addresses.isEmpty
                ? .none(seconds: reply.negativeSeconds) : .addresses(found.addresses, seconds: found.seconds)
        case DNSReply.Code.nameError: self = .noSuchName(seconds: reply.negativeSeconds)
        default: self = .failure(code: reply.code)
        }
    }
}
