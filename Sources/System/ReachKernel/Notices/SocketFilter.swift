internal import CNetlink
internal import Glibc
package import ReachCore

/// A program for the kernel (classic BPF) that drops notices which cannot matter, before the kernel queues them.
///
/// These pass: every notice of links (except events of the wireless extensions), addresses, rules and nexthop objects;
/// routes that are default-like or cover a watched address; watched neighbours; announcements of portals, and no other
/// option of router advertisements. A million routes on a router, or the neighbours of a thousand containers on a
/// server, may come and go at no cost.
package struct SocketFilter: Hashable, Sendable {
    package struct Instruction: Hashable, Sendable {
        package var code: UInt16
        package var ifTrue: UInt8 = 0
        package var ifFalse: UInt8 = 0
        package var operand: UInt32 = 0
    }

    /// The watched addresses: a route passes if its prefix covers one of them.
    package var targets: Set<IPAddress>
    /// The watched neighbours.
    package var neighbours: Set<Neighbour.Key>

    /// The most targets, or neighbours, that the program compares; with more of them, every route or neighbour passes.
    /// The kernel limits a filter's memory (net.core.optmem_max) to as little as 20 KiB, about 2,500 instructions.
    package static let limit = 128

    package init(targets: Set<IPAddress> = [], neighbours: Set<Neighbour.Key> = []) {
        self.targets = targets
        self.neighbours = neighbours
    }

    /// The instructions. A jump counts from the next instruction and reaches 255 at most. So each block below ends with
    /// a return, and the dispatch at the start uses the long jump `BPF_JA`.
    package var program: [Instruction] {
        let route = routeBlock
        let neighbour = neighbourBlock
        let link = Self.linkBlock
        let dispatch: [Instruction] = [
            Self.loadByte(Offset.messageType),
            Self.jump(ifEqual: UInt32(RTM_NEWLINK), 0, 1), Self.skip(11),
            Self.jump(ifEqual: UInt32(RTM_NEWROUTE), 1, 0), Self.jump(ifEqual: UInt32(RTM_DELROUTE), 0, 1),
            Self.skip(8 + link.count),
            Self.jump(ifEqual: UInt32(RTM_NEWNEIGH), 1, 0), Self.jump(ifEqual: UInt32(RTM_DELNEIGH), 0, 1),
            Self.skip(5 + link.count + route.count),
            Self.jump(ifEqual: UInt32(RTM_NEWNDUSEROPT), 0, 2),
            Self.loadByte(Offset.optionType), Self.jump(ifEqual: UInt32(NoticeParser.portalOption), 0, 1),
            Self.keep, Self.drop,
        ]
        return dispatch + link + route + neighbour
    }

    /// Keeps the notices of nl80211 about connections that are made, moved and ended. The command is the first byte
    /// after the header of netlink.
    static let wireless: [Instruction] =
        [loadByte(Offset.family)]
        + [NL80211_CMD_CONNECT, NL80211_CMD_ROAM, NL80211_CMD_DISCONNECT].flatMap {
            [jump(ifEqual: $0.rawValue, 0, 1), keep]
        } + [drop]

    /// Offsets of fields. Netlink's fields are in the machine's byte order, while BPF loads in network byte order: so a
    /// small number is read as the single byte that holds it.
    private enum Offset {
        #if _endian(little)
            static let messageType: UInt32 = 4
            static let routeClonedFlag: UInt32 = 25
        #else
            static let messageType: UInt32 = 5
            static let routeClonedFlag: UInt32 = 26
        #endif
        static let family: UInt32 = 16
        static let linkChange: UInt32 = 28
        static let linkAttributes: UInt32 = 32
        static let routePrefixLength: UInt32 = 17
        static let routeType: UInt32 = 23
        static let routeAttributes: UInt32 = 28
        static let neighbourInterface: UInt32 = 20
        static let neighbourAttributes: UInt32 = 28
        /// The first option's type, after nduseroptmsg.
        static let optionType: UInt32 = 32
    }

    /// Drops messages of AF_BRIDGE, and those that change only IFLA_WIRELESS.
    private static let linkBlock: [Instruction] = [
        loadByte(Offset.family), jump(ifEqual: 0, 1, 0), drop,
        loadWord(Offset.linkChange), jump(ifEqual: 0, 1, 0), keep,
        load(constant: Offset.linkAttributes), loadIndex(constant: UInt32(IFLA_WIRELESS)), findAttribute,
        jump(ifEqual: 0, 0, 1), keep, drop,
    ]

    private var routeBlock: [Instruction] {
        let head: [Instruction] = [
            Self.loadByte(Offset.routeClonedFlag), Self.jump(ifAnyBit: 0x02, 0, 1), Self.drop,
            Self.loadByte(Offset.routeType), Self.jump(ifEqual: UInt32(RTN_UNICAST), 3, 0),
            Self.jump(ifAtLeast: UInt32(RTN_BLACKHOLE), 0, 1), Self.jump(ifAbove: UInt32(RTN_THROW), 0, 1), Self.drop,
            Self.loadByte(Offset.routePrefixLength), Self.jump(ifEqual: 0, 0, 1), Self.keep,
        ]
        guard targets.count <= Self.limit else { return head + [Self.keep] }
        let ipv4 = targets.filter { $0.family == .ipv4 }.map { UInt32($0.low) }.sorted()
        let ipv6 = Set(targets.filter { $0.family == .ipv6 }.map { UInt32($0.high >> 32) }).sorted()
        let ipv4Block = Self.coveringBlock(ipv4)
        return head + [
            Self.loadByte(Offset.family), Self.jump(ifEqual: UInt32(AF_INET), 1, 0), Self.skip(ipv4Block.count),
        ] + ipv4Block + Self.coveringBlock(ipv6)
    }

    /// Keeps a route whose prefix covers one of `words`, the first 32 bits of addresses. Longer IPv6 prefixes are
    /// compared in those bits only, so a few routes too many pass.
    private static func coveringBlock(_ words: [UInt32]) -> [Instruction] {
        var block: [Instruction] = [
            loadByte(Offset.routePrefixLength), jump(ifAbove: 32, 0, 1), load(constant: 32),
            store(1), load(constant: Offset.routeAttributes), loadIndex(constant: RTA_DST.rawValue), findAttribute,
            jump(ifEqual: 0, 0, 1), drop, toIndex, loadWordAtIndex(4), store(0),
            load(constant: 32), loadIndex(memory: 1), subtractIndex, toIndex,
        ]
        for word in words {
            block += [load(memory: 0), exclusiveOr(word), shiftRightByIndex, jump(ifEqual: 0, 0, 1), keep]
        }
        return block + [drop]
    }

    private var neighbourBlock: [Instruction] {
        guard neighbours.count <= Self.limit else { return [Self.keep] }
        var block: [Instruction] = [
            Self.load(constant: Offset.neighbourAttributes), Self.loadIndex(constant: UInt32(NDA_DST)),
            Self.findAttribute, Self.jump(ifEqual: 0, 0, 1), Self.drop, Self.toIndex,
            Self.loadByte(Offset.family), Self.jump(ifEqual: UInt32(AF_INET6), 0, 2),
            Self.loadWordAtIndex(16), Self.skip(1), Self.loadWordAtIndex(4), Self.store(0),
            Self.loadWord(Offset.neighbourInterface), Self.store(1),
        ]
        for key in neighbours.sorted(by: { ($0.interface, $0.address.low) < ($1.interface, $1.address.low) }) {
            block += [
                Self.load(memory: 1), Self.jump(ifEqual: UInt32(bitPattern: key.interface).bigEndian, 0, 3),
                Self.load(memory: 0), Self.jump(ifEqual: UInt32(truncatingIfNeeded: key.address.low), 0, 1), Self.keep,
            ]
        }
        return block + [Self.drop]
    }
}

// The instructions used; see Documentation/networking/filter.rst of the kernel.
extension SocketFilter {
    private static let keep = Instruction(code: code(BPF_RET, BPF_K), operand: .max)
    private static let drop = Instruction(code: code(BPF_RET, BPF_K), operand: 0)
    private static let toIndex = Instruction(code: code(BPF_MISC, BPF_TAX))
    private static let subtractIndex = Instruction(code: code(BPF_ALU, BPF_SUB, BPF_X))
    private static let shiftRightByIndex = Instruction(code: code(BPF_ALU, BPF_RSH, BPF_X))
    /// Loads the offset of the attribute whose type is in the index register, searching from the offset in the
    /// accumulator; 0 if there is none.
    private static let findAttribute = Instruction(
        code: code(BPF_LD, BPF_W, BPF_ABS), operand: UInt32(bitPattern: SKF_AD_OFF + SKF_AD_NLATTR))

    private static func loadByte(_ at: UInt32) -> Instruction { .init(code: code(BPF_LD, BPF_B, BPF_ABS), operand: at) }
    private static func loadWord(_ at: UInt32) -> Instruction { .init(code: code(BPF_LD, BPF_W, BPF_ABS), operand: at) }
    private static func loadWordAtIndex(_ offset: UInt32) -> Instruction {
        .init(code: code(BPF_LD, BPF_W, BPF_IND), operand: offset)
    }
    private static func load(constant: UInt32) -> Instruction { .init(code: code(BPF_LD, BPF_IMM), operand: constant) }
    private static func load(memory: UInt32) -> Instruction { .init(code: code(BPF_LD, BPF_MEM), operand: memory) }
    private static func loadIndex(constant: UInt32) -> Instruction {
        .init(code: code(BPF_LDX, BPF_IMM), operand: constant)
    }
    private static func loadIndex(memory: UInt32) -> Instruction {
        .init(code: code(BPF_LDX, BPF_MEM), operand: memory)
    }
    private static func store(_ memory: UInt32) -> Instruction { .init(code: code(BPF_ST), operand: memory) }
    private static func exclusiveOr(_ constant: UInt32) -> Instruction {
        .init(code: code(BPF_ALU, BPF_XOR, BPF_K), operand: constant)
    }
    private static func skip(_ count: Int) -> Instruction {
        .init(code: code(BPF_JMP, BPF_JA), operand: UInt32(count))
    }
    private static func jump(ifEqual operand: UInt32, _ ifTrue: UInt8, _ ifFalse: UInt8) -> Instruction {
        .init(code: code(BPF_JMP, BPF_JEQ, BPF_K), ifTrue: ifTrue, ifFalse: ifFalse, operand: operand)
    }
    private static func jump(ifAbove operand: UInt32, _ ifTrue: UInt8, _ ifFalse: UInt8) -> Instruction {
        .init(code: code(BPF_JMP, BPF_JGT, BPF_K), ifTrue: ifTrue, ifFalse: ifFalse, operand: operand)
    }
    private static func jump(ifAtLeast operand: UInt32, _ ifTrue: UInt8, _ ifFalse: UInt8) -> Instruction {
        .init(code: code(BPF_JMP, BPF_JGE, BPF_K), ifTrue: ifTrue, ifFalse: ifFalse, operand: operand)
    }
    private static func jump(ifAnyBit operand: UInt32, _ ifTrue: UInt8, _ ifFalse: UInt8) -> Instruction {
        .init(code: code(BPF_JMP, BPF_JSET, BPF_K), ifTrue: ifTrue, ifFalse: ifFalse, operand: operand)
    }
    private static func code(_ parts: CInt...) -> UInt16 { UInt16(parts.reduce(0, |)) }
}
