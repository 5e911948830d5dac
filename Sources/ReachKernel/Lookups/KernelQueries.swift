internal import CNetlink
internal import Glibc
package import ReachCore
internal import ReachLoop

/// Questions to the kernel's tables, on a socket of their own: the monitor's filter would also drop replies.
///
/// Confined to one thread. Each call waits for the answer, which the kernel has ready when the request was sent.
package final class KernelQueries {
    private var socket: NetlinkSocket
    private let buffer = DatagramBuffer()
    private var nextSequence: UInt32 = 1
    /// A table that keeps changing is read this often before it is taken as it is.
    private static let dumpAttempts = 5

    package init() throws(NetlinkError) {
        socket = try NetlinkSocket.open(receiveBufferBytes: 1 << 20)
        socket.setReceiveTimeout(seconds: 5)
    }

    /// The kernel's answers, in the order of the questions.
    package func routes(_ questions: [RouteQuestion]) throws(NetlinkError) -> [RouteAnswer] {
        guard !questions.isEmpty else { return [] }
        var batch = RequestBatch(firstSequence: nextSequence)
        for question in questions { batch.add(question) }
        var answers: [RouteAnswer] = []
        answers.reserveCapacity(questions.count)
        try exchange(batch) { message in
            if let number = message.errorNumber {
                answers.append(.refused(errno: number))
            } else if let route = NoticeParser.answer(message) {
                answers.append(.route(route))
            } else {
                answers.append(.refused(errno: EBADMSG))
            }
        }
        return answers
    }

    /// Returns when every change of links, addresses and IPv4 routes that had begun is complete.
    ///
    /// The kernel makes them under a lock (RTNL), and tells of some before they are made. Asking for a link takes that
    /// lock; asking for one that cannot exist takes it and hardly any time.
    package func awaitChanges() throws(NetlinkError) { _ = try link(.max) }

    /// One link, as it is now; `nil` if there is none.
    package func link(_ index: InterfaceIndex) throws(NetlinkError) -> Link? {
        var batch = RequestBatch(firstSequence: nextSequence)
        var header = ifinfomsg()
        header.ifi_index = index
        batch.add(RTM_GETLINK, header) { $0.attribute(IFLA_EXT_MASK, Self.skipStatistics) }
        var link: Link?
        try exchange(batch) { message in
            if case .link(let found) = NoticeParser.notice(message) { link = found }
        }
        return link
    }

    /// What the kernel knows of a neighbour; `nil` where it has no entry, or is too old to be asked (before Linux 5.0).
    package func neighbour(_ key: Neighbour.Key) throws(NetlinkError) -> NeighbourState? {
        var batch = RequestBatch(firstSequence: nextSequence)
        var header = ndmsg()
        header.ndm_family = Self.number(of: key.address.family)
        header.ndm_ifindex = key.interface
        batch.add(RTM_GETNEIGH, header) { $0.attribute(NDA_DST, key.address) }
        var state: NeighbourState?
        try exchange(batch) { message in
            if case .neighbour(let neighbour) = NoticeParser.notice(message) { state = neighbour.state }
        }
        return state
    }

    /// Whether the strict reverse path filter holds for what comes in by a link (IPv4's `rp_filter` is 1, in the link's
    /// settings or in those for all, of which the greater counts). Not where the kernel does not say.
    package func filtersStrictly(_ index: InterfaceIndex) throws(NetlinkError) -> Bool {
        var modes: [UInt32] = []
        for index in [index, NETCONFA_IFINDEX_ALL] {
            var batch = RequestBatch(firstSequence: nextSequence)
            batch.add(RTM_GETNETCONF, netconfmsg(ncm_family: UInt8(AF_INET))) {
                $0.attribute(NETCONFA_IFINDEX, UInt32(bitPattern: index))
            }
            try exchange(batch) { message in
                guard message.type == RTM_NEWNETCONF, let (_, attributes) = message.body(netconfmsg.self) else {
                    return
                }
                for attribute in attributes where attribute.type == NETCONFA_RP_FILTER {
                    if let mode = attribute.uint32 { modes.append(mode) }
                }
            }
        }
        return modes.max() == 1
    }

    package func links() throws(NetlinkError) -> [Link] {
        var header = ifinfomsg()
        header.ifi_family = UInt8(AF_UNSPEC)
        return try dump(RTM_GETLINK, header) {
            $0.attribute(IFLA_EXT_MASK, Self.skipStatistics)
        } read: { message in
            guard case .link(let link) = NoticeParser.notice(message) else { return nil }
            return link
        }
    }

    package func addresses() throws(NetlinkError) -> [InterfaceAddress] {
        try dump(RTM_GETADDR, ifaddrmsg()) { message in
            guard case .address(let address) = NoticeParser.notice(message) else { return nil }
            return address
        }
    }

    package func rules() throws(NetlinkError) -> [Rule] {
        var rules: [Rule] = []
        for family in IPAddress.Family.allCases {
            var header = fib_rule_hdr()
            header.family = Self.number(of: family)
            rules += try dump(RTM_GETRULE, header) { message in
                guard case .rule(let rule) = NoticeParser.notice(message) else { return nil }
                return rule
            }
        }
        return rules
    }

    /// The routes that refuse in this way, in all tables. The kernel picks them out itself (Linux 4.20).
    package func routes(of type: RouteType, _ family: IPAddress.Family) throws(NetlinkError) -> [Route] {
        var header = rtmsg()
        header.rtm_family = Self.number(of: family)
        header.rtm_type = type.rawValue
        return try dump(RTM_GETROUTE, header) { message in
            guard case .route(let route, _) = NoticeParser.notice(message), route.type == type else { return nil }
            return route
        }
    }

    private func dump<T>(
        _ type: Int, _ header: some BitwiseCopyable, attributes: (inout RequestBatch) -> Void = { _ in },
        read: (Message) -> T?
    ) throws(NetlinkError) -> [T] {
        for _ in 0..<Self.dumpAttempts {
            var batch = RequestBatch(firstSequence: nextSequence)
            batch.add(type, flags: NLM_F_DUMP, header, attributes: attributes)
            var result: [T] = []
            var wasInterrupted = false
            var failure: Int32 = 0
            try exchange(batch) { message in
                if message.has(NLM_F_DUMP_INTR) { wasInterrupted = true }
                if let number = message.errorNumber { failure = number }
                if let value = read(message) { result.append(value) }
            }
            if failure != 0 { throw .refused(errno: failure) }
            if !wasInterrupted { return result }
        }
        throw .dumpInterrupted
    }

    /// Sends the requests and hands each reply to `read`, until all are answered.
    private func exchange(_ batch: RequestBatch, read: (Message) -> Void) throws(NetlinkError) {
        nextSequence = batch.firstSequence &+ UInt32(batch.count)
        try socket.send(batch.bytes)
        var expected = batch.firstSequence
        while expected != nextSequence {
            let count = try socket.receive(into: buffer) { datagram in
                for message in Messages(datagram) {
                    // Left over from an exchange that was given up.
                    guard message.sequence == expected else { continue }
                    read(message)
                    if !message.has(NLM_F_MULTI) || message.type == NLMSG_DONE { expected &+= 1 }
                }
            }
            if count == 0 { throw .failed(call: "recvmmsg", errno: ETIMEDOUT) }
        }
    }

    private static let skipStatistics = UInt32(RTEXT_FILTER_SKIP_STATS)

    static func number(of family: IPAddress.Family) -> UInt8 { UInt8(family == .ipv4 ? AF_INET : AF_INET6) }
}

extension RequestBatch {
    fileprivate mutating func add(_ question: RouteQuestion) {
        var header = rtmsg()
        let family = question.destination.family
        header.rtm_family = KernelQueries.number(of: family)
        header.rtm_dst_len = UInt8(family.bitCount)
        header.rtm_src_len = question.source == nil ? 0 : UInt8(family.bitCount)
        if question.matchesTable { header.rtm_flags |= UInt32(RTM_F_FIB_MATCH) }
        // IPv6 always names the table that answered, and refuses to be asked for it.
        if family == .ipv4 { header.rtm_flags |= UInt32(RTM_F_LOOKUP_TABLE) }
        add(RTM_GETROUTE, header) { batch in
            batch.attribute(RTA_DST.rawValue, question.destination)
            if let source = question.source { batch.attribute(RTA_SRC.rawValue, source) }
            if let interface = question.interface { batch.attribute(RTA_OIF.rawValue, UInt32(bitPattern: interface)) }
            if let mark = question.mark { batch.attribute(RTA_MARK.rawValue, mark) }
        }
    }
}
