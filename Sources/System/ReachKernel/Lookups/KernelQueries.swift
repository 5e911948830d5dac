internal import CNetlink
internal import Glibc
package import ReachCore
internal import ReachLoop

/// A route lookup: the path that a packet would take. No packet is sent.
package struct RouteQuestion: Hashable, Sendable {
    package var destination: IPAddress
    /// The only interface to use. An IPv4 lookup with an interface never fails, unless ``matchesTable`` is set.
    package var interface: InterfaceIndex?
    /// The source address: IPv6 routes may be for some sources only.
    package var source: IPAddress?
    /// The firewall mark of the packet.
    package var mark: UInt32?
    /// The packet's protocol and port, where they are known. The kernel itself assumes UDP for IPv4.
    package var flow: PacketFlow?
    /// Whether to return the matching route itself, with its metric and all next hops (RTM_F_FIB_MATCH, Linux 4.13).
    package var matchesTable: Bool

    package init(
        _ destination: IPAddress, interface: InterfaceIndex? = nil, source: IPAddress? = nil, mark: UInt32? = nil,
        flow: PacketFlow? = nil, matchesTable: Bool = false
    ) {
        self.destination = destination
        self.interface = interface
        self.source = source
        self.mark = mark
        self.flow = flow
        self.matchesTable = matchesTable
    }
}

/// Queries of the kernel's tables. They use a socket of their own, since the filter of ``NoticeSocket`` would also drop
/// replies.
///
/// Confined to one thread. Each call waits for the reply, which the kernel has ready when `send` returns.
package final class KernelQueries {
    private let socket: QuerySocket
    /// The VRF whose tables are asked: the one that was named, or the one in which this process runs. `nil` for an
    /// ordinary process.
    ///
    /// Another link to which sockets are bound does not count: a lookup that names a link takes any address for a
    /// neighbour's.
    package private(set) var vrf: InterfaceIndex?

    /// - Parameter name: The VRF whose tables are asked; `nil` for the one in which this process runs, if any.
    package init(vrf name: String? = nil) throws(NetlinkError) {
        socket = try QuerySocket(NETLINK_ROUTE)
        if let name {
            guard let found = try link(named: name), found.kind == "vrf" else {
                throw .failed(call: "VRF \(DisplayText.sanitized(name))", errno: ENODEV)
            }
            vrf = found.index
            return
        }
        if let index = ProcessVRF.binding(), try link(index)?.kind == "vrf" { vrf = index }
    }

    /// Looks up routes.
    ///
    /// - Returns: The kernel's answers, in the order of the questions.
    package func routes(_ questions: [RouteQuestion]) throws(NetlinkError) -> [RouteAnswer] {
        guard !questions.isEmpty else { return [] }
        guard questions.count > Self.lookupsForShortReplies else { return try routes(questions, areShort: false) }
        do throws(NetlinkError) {
            return try routes(questions, areShort: true)
        } catch .lost {
            // A route with very many next hops.
            return try routes(questions, areShort: false)
        }
    }

    /// Fewer lookups need no buffer of their own.
    private static let lookupsForShortReplies = 16

    private func routes(_ questions: [RouteQuestion], areShort: Bool) throws(NetlinkError) -> [RouteAnswer] {
        var batch = socket.batch(of: questions.count)
        for var question in questions {
            question.interface = question.interface ?? vrf
            batch.add(question)
        }
        var answers: [RouteAnswer] = []
        answers.reserveCapacity(questions.count)
        let read = { (message: Message) in
            if let number = message.errorNumber {
                answers.append(.refused(errno: number))
            } else if let route = NoticeParser.answer(message) {
                answers.append(.route(route))
            } else {
                answers.append(.refused(errno: EBADMSG))
            }
        }
        if areShort {
            try socket.exchangeShortReplies(batch, read: read)
        } else {
            try socket.exchange(batch, read: read)
        }
        return answers
    }

    /// Waits until every change of links, addresses and IPv4 routes that has begun is complete.
    ///
    /// The kernel makes such changes under a lock (RTNL), and sends some notices before the change is complete. A query
    /// for a link takes that lock; for a link that cannot exist it takes hardly any time.
    package func awaitChanges() throws(NetlinkError) { _ = try link(.max) }

    /// The current state of a link; `nil` if there is none.
    package func link(_ index: InterfaceIndex) throws(NetlinkError) -> Link? {
        var header = ifinfomsg()
        header.ifi_index = index
        return try link(header) { _ in }
    }

    /// The link with this name, or with this alternative name (since Linux 5.5); `nil` if there is none.
    func link(named name: String) throws(NetlinkError) -> Link? {
        let bytes = Array(name.utf8) + [0]
        // The kernel refuses a longer one as the name itself.
        let type = bytes.count <= Int(IF_NAMESIZE) ? IFLA_IFNAME : IFLA_ALT_IFNAME
        return try link(ifinfomsg()) { $0.attribute(type, bytes) }
    }

    private func link(
        _ header: ifinfomsg, _ attributes: (inout RequestBatch) -> Void
    ) throws(NetlinkError) -> Link? {
        var batch = socket.batch()
        batch.add(RTM_GETLINK, header) {
            $0.attribute(IFLA_EXT_MASK, Self.skipStatistics)
            attributes(&$0)
        }
        var link: Link?
        try socket.exchange(batch) { message in
            if case .link(let found) = NoticeParser.notice(message) { link = found }
        }
        return link
    }

    /// The ports of a link. The kernel itself selects them.
    func ports(of controller: InterfaceIndex) throws(NetlinkError) -> Set<InterfaceIndex> {
        let dump = try socket.dump(RTM_GETLINK, ifinfomsg()) {
            $0.attribute(IFLA_EXT_MASK, Self.skipStatistics)
            $0.attribute(IFLA_MASTER, UInt32(bitPattern: controller))
        } read: { message -> InterfaceIndex? in
            guard case .link(let link) = NoticeParser.notice(message), link.controller == controller else { return nil }
            return link.index
        }
        return Set(dump.earlier + dump.last)
    }

    /// The state of a neighbour; `nil` where the kernel has no entry, or lacks the query (before Linux 5.0).
    package func neighbour(_ key: Neighbour.Key) throws(NetlinkError) -> NeighbourState? {
        try neighbourEntry(key)?.state
    }

    /// A neighbour's entry; `nil` where the kernel has none, or lacks the query (before Linux 5.0).
    package func neighbourEntry(_ key: Neighbour.Key) throws(NetlinkError) -> Neighbour? {
        var batch = socket.batch()
        batch.add(RTM_GETNEIGH, Self.header(of: key)) { $0.attribute(NDA_DST, key.address) }
        var entry: Neighbour?
        try socket.exchange(batch) { message in
            if case .neighbour(let neighbour) = NoticeParser.notice(message) { entry = neighbour }
        }
        return entry
    }

    /// The ages of a neighbour's entry; `nil` where the kernel has none, or does not say.
    package func neighbourAges(_ key: Neighbour.Key) throws(NetlinkError) -> NeighbourDating.Ages? {
        try datedNeighbour(key)?.ages
    }

    /// When a neighbour answered for the last time that the kernel calls reachable; `nil` for others. The kernel calls
    /// it that for a while after its last answer, which is a setting of the device.
    package func lastAnswer(of key: Neighbour.Key) throws(NetlinkError) -> Timestamp? {
        guard let entry = try datedNeighbour(key), entry.state == .reachable else { return nil }
        return SystemClock.now.wall + (.zero - entry.ages.confirmed)
    }

    private func datedNeighbour(_ key: Neighbour.Key) throws(NetlinkError) -> NeighbourDating.Other? {
        var batch = socket.batch()
        batch.add(RTM_GETNEIGH, Self.header(of: key)) { $0.attribute(NDA_DST, key.address) }
        var entry: NeighbourDating.Other?
        try socket.exchange(batch) { message in entry = Self.dated(message) ?? entry }
        return entry
    }

    /// The neighbours of a link that have an entry, with its ages.
    func neighbours(of index: InterfaceIndex) throws(NetlinkError) -> [NeighbourDating.Other] {
        try socket.dump(RTM_GETNEIGH, ndmsg()) {
            $0.attribute(NDA_IFINDEX, UInt32(bitPattern: index))
        } read: { message in
            // Before Linux 4.5 the kernel answers for all links.
            Self.dated(message).flatMap { $0.key.interface == index ? $0 : nil }
        }.last
    }

    /// How long the kernel asks for the neighbours of a link, and remembers them. It answers for all links at once.
    package func neighbourTimes(of index: InterfaceIndex) throws(NetlinkError) -> [IPAddress.Family: NeighbourTimes] {
        let found = try socket.dump(RTM_GETNEIGHTBL, ndtmsg()) { Self.neighbourTimes($0, of: index) }.last
        return Dictionary(found.map { ($0.family, $0.times) }) { _, last in last }
    }

    private static func neighbourTimes(
        _ message: Message, of index: InterfaceIndex
    ) -> (family: IPAddress.Family, times: NeighbourTimes)? {
        guard message.type == RTM_NEWNEIGHTBL, let (header, attributes) = message.body(ndtmsg.self),
            let family = IPAddress.Family.allCases.first(where: { number(of: $0) == header.ndtm_family }),
            let parameters = attributes.first(where: { $0.type == NDTA_PARMS })?.nested
        else { return nil }
        let parameter = { type in parameters.first { $0.type == type } }
        let time = { parameter($0)?.structure(UInt64.self).map { Duration.milliseconds(Int64(clamping: $0)) } }
        guard parameter(NDTPA_IFINDEX)?.uint32 == UInt32(bitPattern: index) else { return nil }
        var times = NeighbourTimes()
        times.reachable = time(NDTPA_BASE_REACHABLE_TIME) ?? times.reachable
        times.retransmission = time(NDTPA_RETRANS_TIME) ?? times.retransmission
        times.questions = parameter(NDTPA_MCAST_PROBES)?.uint32.map(Int.init) ?? times.questions
        return (family, times)
    }

    private static func dated(_ message: Message) -> NeighbourDating.Other? {
        guard case .neighbour(let entry) = NoticeParser.notice(message),
            let (_, attributes) = message.body(ndmsg.self),
            let times = attributes.first(where: { $0.type == NDA_CACHEINFO })?.structure(nda_cacheinfo.self)
        else { return nil }
        // In hundredths of a second, whatever the kernel's own clock does (USER_HZ).
        let ages = NeighbourDating.Ages(
            confirmed: .milliseconds(Int64(times.ndm_confirmed) * 10),
            updated: .milliseconds(Int64(times.ndm_updated) * 10))
        return NeighbourDating.Other(key: entry.key, state: entry.state, ages: ages)
    }

    /// How often a link has got its carrier; `nil` where the kernel does not say.
    func carrierGains(_ index: InterfaceIndex) throws(NetlinkError) -> UInt32? {
        try attribute(IFLA_CARRIER_UP_COUNT, of: index) { $0.uint32 }
    }

    /// How many packets a link has received; `nil` if there is no such link.
    package func receivedPackets(_ index: InterfaceIndex) throws(NetlinkError) -> UInt64? {
        // The statistics begin with them (rtnl_link_stats64).
        try attribute(IFLA_STATS64, of: index) { $0.structure(UInt64.self) }
    }

    private func attribute<Value>(
        _ type: Int, of index: InterfaceIndex, _ read: (Attribute) -> Value?
    ) throws(NetlinkError) -> Value? {
        var header = ifinfomsg()
        header.ifi_index = index
        var batch = socket.batch()
        batch.add(RTM_GETLINK, header) { _ in }
        var value: Value?
        try socket.exchange(batch) { message in
            guard let (_, attributes) = message.body(ifinfomsg.self) else { return }
            value = attributes.first { $0.type == type }.flatMap(read)
        }
        return value
    }

    /// The user whose lookups these are, as rules for users see it (`uidrange`).
    package static let user: UInt32 = getuid()

    /// Makes the kernel ask a known neighbour again at once. Without CAP_NET_ADMIN, or without an entry, nothing
    /// happens.
    ///
    /// - Returns: Whether the kernel does it.
    package func askAgain(_ key: Neighbour.Key) throws(NetlinkError) -> Bool {
        var batch = socket.batch()
        var header = Self.header(of: key)
        header.ndm_state = UInt16(NUD_PROBE)
        batch.add(RTM_NEWNEIGH, flags: NLM_F_ACK | NLM_F_REPLACE, header) { $0.attribute(NDA_DST, key.address) }
        var isDone = false
        try socket.exchange(batch) { message in isDone = message.errorNumber == 0 }
        return isDone
    }

    private static func header(of key: Neighbour.Key) -> ndmsg {
        var header = ndmsg()
        header.ndm_family = number(of: key.address.family)
        header.ndm_ifindex = key.interface
        return header
    }

    /// Whether the strict reverse path filter applies to packets that come in by a link: IPv4's `rp_filter` is 1, where
    /// the greater of the link's setting and the setting for all links counts. `false` where the kernel does not say.
    package func filtersStrictly(_ index: InterfaceIndex) throws(NetlinkError) -> Bool {
        var modes: [UInt32] = []
        for index in [index, NETCONFA_IFINDEX_ALL] {
            var batch = socket.batch()
            batch.add(RTM_GETNETCONF, netconfmsg(ncm_family: UInt8(AF_INET))) {
                $0.attribute(NETCONFA_IFINDEX, UInt32(bitPattern: index))
            }
            try socket.exchange(batch) { message in
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

    /// All links.
    package func links() throws(NetlinkError) -> [Link] {
        var header = ifinfomsg()
        header.ifi_family = UInt8(AF_UNSPEC)
        let dump = try socket.dump(RTM_GETLINK, header) {
            $0.attribute(IFLA_EXT_MASK, Self.skipStatistics)
        } read: { message -> Link? in
            guard case .link(let link) = NoticeParser.notice(message) else { return nil }
            return link
        }
        var links = dump.last
        for index in Self.missed(by: dump, \.index) {
            if let link = try link(index) { links.append(link) }
        }
        return links
    }

    /// All addresses of links.
    package func addresses() throws(NetlinkError) -> [InterfaceAddress] {
        let dump = try dumpAddresses(of: nil)
        var addresses = dump.last
        for index in Self.missed(by: dump, \.interface) { addresses += try self.addresses(of: index) }
        return addresses
    }

    /// The addresses of a link; none if it is gone.
    package func addresses(of interface: InterfaceIndex) throws(NetlinkError) -> [InterfaceAddress] {
        do throws(NetlinkError) {
            return try dumpAddresses(of: interface).last
        } catch .refused {
            return []
        }
    }

    /// - Parameter interface: The only link; `nil` for all. Before Linux 4.20 the kernel answers for all.
    private func dumpAddresses(of interface: InterfaceIndex?) throws(NetlinkError) -> QuerySocket.Dump<InterfaceAddress>
    {
        var header = ifaddrmsg()
        header.ifa_index = UInt32(bitPattern: interface ?? 0)
        return try socket.dump(RTM_GETADDR, header) { message in
            guard case .address(let address) = NoticeParser.notice(message) else { return nil }
            guard interface == nil || address.interface == interface else { return nil }
            return address
        }
    }

    /// The links that were in an interrupted dump, and in the last one no more: they are gone, or were passed over.
    private static func missed<Entry>(
        by dump: QuerySocket.Dump<Entry>, _ index: (Entry) -> InterfaceIndex
    ) -> Set<InterfaceIndex> {
        Set(dump.earlier.map(index)).subtracting(dump.last.map(index))
    }

    package func rules() throws(NetlinkError) -> [Rule] {
        var rules: [Rule] = []
        for family in IPAddress.Family.allCases {
            var header = fib_rule_hdr()
            header.family = Self.number(of: family)
            rules += try socket.dump(RTM_GETRULE, header) { message -> Rule? in
                guard case .rule(let rule) = NoticeParser.notice(message) else { return nil }
                return rule
            }.last
        }
        return rules
    }

    /// The routes of a type in all tables. The kernel itself selects them since Linux 4.20.
    package func routes(of type: RouteType, _ family: IPAddress.Family) throws(NetlinkError) -> [Route] {
        var header = rtmsg()
        header.rtm_family = Self.number(of: family)
        header.rtm_type = type.rawValue
        return try socket.dump(RTM_GETROUTE, header) { message -> Route? in
            guard case .route(let route, _) = NoticeParser.notice(message), route.type == type else { return nil }
            return route
        }.last
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
        // IPv6 always reports the table, and refuses a request that asks for it.
        if family == .ipv4 { header.rtm_flags |= UInt32(RTM_F_LOOKUP_TABLE) }
        add(RTM_GETROUTE, header) { batch in
            batch.attribute(RTA_DST.rawValue, question.destination)
            if let source = question.source { batch.attribute(RTA_SRC.rawValue, source) }
            if let interface = question.interface { batch.attribute(RTA_OIF.rawValue, UInt32(bitPattern: interface)) }
            if let mark = question.mark { batch.attribute(RTA_MARK.rawValue, mark) }
            if let flow = question.flow {
                batch.attribute(RTA_IP_PROTO.rawValue, [flow.transport.rawValue])
                batch.attribute(RTA_DPORT.rawValue, [UInt8(flow.port >> 8), UInt8(truncatingIfNeeded: flow.port)])
            }
        }
    }
}
