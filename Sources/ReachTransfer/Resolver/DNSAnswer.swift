package import ReachCore

/// What an answer says of the addresses of a name.
package enum DNSAnswer: Hashable, Sendable {
    case addresses([IPAddress], seconds: UInt32)
    /// The name has none of this type.
    case none(seconds: UInt32)
    /// There is no such name, of whatever type.
    case noSuchName(seconds: UInt32)
    /// The server cannot tell, by its code (RFC 1035 section 4.1.1).
    case failure(code: UInt8)

    /// A longer chain of aliases is taken for a loop; servers follow 8 to 16.
    private static let aliasLimit = 16
    /// More would only be tried for nothing.
    private static let addressLimit = 16
    /// For "there is none" without a word about how long (RFC 2308 section 5 wants none kept then).
    private static let silentSeconds: UInt32 = 0

    package init(_ response: DNSResponse, to query: DNSQuery) {
        let authority = response.authorities.lazy.compactMap { record -> UInt32? in
            if case .startOfAuthority(let seconds) = record.content { seconds } else { nil }
        }.first
        switch response.code {
        case DNSResponse.Code.good: break
        case DNSResponse.Code.nameError:
            self = .noSuchName(seconds: authority ?? Self.silentSeconds)
            return
        default:
            self = .failure(code: response.code)
            return
        }
        var name = query.name
        var seconds = UInt32.max
        for _ in 0..<Self.aliasLimit {
            let records = response.answers.filter { $0.name == name }
            let found = records.compactMap { record -> IPAddress? in
                guard record.type == query.type, case .address(let address) = record.content else { return nil }
                seconds = min(seconds, record.timeToLive)
                return address
            }
            if !found.isEmpty {
                self = .addresses(Array(found.prefix(Self.addressLimit)), seconds: seconds)
                return
            }
            let next = records.lazy.compactMap { record -> (DNSName, UInt32)? in
                if case .alias(let alias) = record.content { (alias, record.timeToLive) } else { nil }
            }.first
            guard let next else { break }
            name = next.0
            seconds = min(seconds, next.1)
        }
        self = .none(seconds: min(seconds, authority ?? Self.silentSeconds))
    }
}
