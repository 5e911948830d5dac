internal import CNetlink
internal import Glibc
internal import ReachCore

extension NoticeParser {
    /// The type of the option that names a portal's API, in router advertisements (RFC 8910 2.3).
    static let portalOption: UInt8 = 37

    private static let routerAdvertisement: UInt8 = 134

    /// The portal's API in an option of a router advertisement: type, length in units of eight bytes, and the URI,
    /// padded with NULs. The kernel sends one message for each option, with the router's address after it.
    static func portal(_ message: Message) -> PortalAnnouncement? {
        guard let header = message.payload.structure(nduseroptmsg.self), CInt(header.nduseropt_family) == AF_INET6,
            header.nduseropt_icmp_type == routerAdvertisement, header.nduseropt_ifindex > 0
        else { return nil }
        let start = MemoryLayout<nduseroptmsg>.size
        let end = start + Int(header.nduseropt_opts_len)
        guard end >= start + 8, end <= message.payload.count else { return nil }
        let option = UnsafeRawBufferPointer(rebasing: message.payload[start..<end])
        let length = Int(option[1]) * 8
        guard option[0] == portalOption, length >= 8, length <= option.count else { return nil }
        let text = option[2..<length]
        let used = text.lastIndex { $0 != 0 }.map { $0 + 1 } ?? text.startIndex
        let rest = UnsafeRawBufferPointer(rebasing: message.payload[end...])
        let attributes = Attributes(at: rest.baseAddress, byteCount: rest.count)
        guard let router = attributes.first(where: { $0.type == NDUSEROPT_SRCADDR })?.address, router.family == .ipv6
        else { return nil }
        return PortalAnnouncement(
            interface: header.nduseropt_ifindex, router: router,
            uri: String(decoding: text[..<used], as: UTF8.self))
    }
}
