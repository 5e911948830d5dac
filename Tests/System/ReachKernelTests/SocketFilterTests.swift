import ReachCore
import ReachTesting
import Testing

@testable import ReachKernel

@Suite struct SocketFilterTests {
    private typealias Kernel = KernelMessage

    /// Random messages, each with whether it should pass. They use few different numbers, so that these often match.
    private struct Sample {
        var random: SeededGenerator

        mutating func address(_ family: IPAddress.Family) -> IPAddress {
            var bytes = [UInt8](repeating: 0, count: family.bitCount / 8)
            bytes[0] = random.pick([10, 11, 0x80])
            bytes[1] = random.pick([0, 1, 0xff])
            bytes[3] = random.pick([0, 1])
            bytes[bytes.count - 1] |= random.pick([0, 1])
            return IPAddress(bytes: bytes) ?? IPAddress(ipv4: 0)
        }

        mutating func link() -> (bytes: [UInt8], passes: Bool) {
            let family: UInt8 = random.pick([0, 0, 7, 10])
            let change: UInt32 = random.pick([0, 0, 1, 0x0100_0000, .max])
            let isWireless = random.oneIn(2)
            let isRemoved = random.oneIn(4)
            let attributes = [Kernel.attribute(3, "wlan0")] + (isWireless ? [Kernel.attribute(11, [1, 2, 3, 4])] : [])
            let bytes = Kernel.link(
                2, family: family, change: change, isRemoved: isRemoved, attributes.shuffled(using: &random))
            return (bytes, isRemoved || (family == 0 && !(change == 0 && isWireless)))
        }

        mutating func route(_ filter: SocketFilter) -> (bytes: [UInt8], passes: Bool) {
            let family = random.pick(IPAddress.Family.allCases)
            let destination = address(family)
            let length = random.pick([0, 1, 7, 8, 9, 15, 16, 24, 31, 32] + (family == .ipv6 ? [33, 64, 128] : []))
            let type = UInt8.random(in: 0...11, using: &random)
            let isCloned = random.oneIn(5)
            let hasDestination = !random.oneIn(8)
            var attributes = [Kernel.attribute(4, Int32(2)), Kernel.attribute(15, UInt32(254))]
            if hasDestination { attributes.append(Kernel.attribute(1, destination.masked(to: length).bytes)) }
            let bytes = Kernel.route(
                family: Kernel.family(family), length: UInt8(length), type: type, flags: isCloned ? 0x200 : 0,
                isRemoved: random.oneIn(2), attributes.shuffled(using: &random))
            let isPath = type == 1 || (6...9).contains(type)
            // The filter compares only the first 32 bits of IPv6 prefixes.
            let covers = filter.targets.contains { destination.shares(prefix: min(length, 32), with: $0) }
            let isRelevant = length == 0 || filter.targets.count > SocketFilter.limit || (hasDestination && covers)
            return (bytes, isPath && !isCloned && isRelevant)
        }

        mutating func neighbour(_ filter: SocketFilter) -> (bytes: [UInt8], passes: Bool) {
            let family = random.pick(IPAddress.Family.allCases)
            let address = address(family)
            let interface = InterfaceIndex(random.pick([1, 2, 256, 70_000]))
            let hasAddress = !random.oneIn(8)
            var attributes = [Kernel.attribute(2, random.bytes(6))]
            if hasAddress { attributes.append(Kernel.attribute(1, address.bytes)) }
            let bytes = Kernel.neighbour(
                on: interface, family: Kernel.family(family), state: 2, isRemoved: random.oneIn(2),
                attributes.shuffled(using: &random))
            let isWatched = filter.neighbours.contains { key in
                key.interface == interface
                    && UInt32(truncatingIfNeeded: key.address.low) == UInt32(truncatingIfNeeded: address.low)
            }
            return (bytes, filter.neighbours.count > SocketFilter.limit || (hasAddress && isWatched))
        }

        mutating func other() -> (bytes: [UInt8], passes: Bool) {
            let address = Kernel.address(on: 2, family: 2, length: 24, [Kernel.attribute(2, [10, 0, 0, 1])])
            let rule = Kernel.rule(family: 2, [Kernel.attribute(6, UInt32(1))])
            return (random.pick([address, rule, Kernel.nexthop(id: 1), Kernel.setting(family: 2, interface: 2)]), true)
        }

        mutating func filter(targets: Int, neighbours: Int) -> SocketFilter {
            var filter = SocketFilter()
            var number: UInt64 = 0
            while filter.targets.count < targets {
                number += 1
                let address = address(random.pick(IPAddress.Family.allCases))
                filter.targets.insert(number < 1000 ? address : IPAddress(ipv4: UInt32(number)))
            }
            while filter.neighbours.count < neighbours {
                let address = address(random.pick(IPAddress.Family.allCases))
                number += 1
                let interface = InterfaceIndex(number < 1000 ? random.pick([1, 2, 256, 70_000]) : Int(number))
                filter.neighbours.insert(Neighbour.Key(interface: interface, address: address))
            }
            return filter
        }
    }

    @Test(arguments: [(0, 0), (1, 1), (2, 5), (20, 20), (128, 128), (129, 1), (1, 129), (200, 200)])
    func `the program keeps relevant messages and drops the others`(targets: Int, neighbours: Int) throws {
        var sample = Sample(random: SeededGenerator(seed: UInt64(targets * 1000 + neighbours)))
        let filter = sample.filter(targets: targets, neighbours: neighbours)
        let machine = try BPFMachine(filter.program)
        var counts = [true: 0, false: 0]
        for _ in 0..<4000 {
            let (bytes, passes) =
                switch Int.random(in: 0..<8, using: &sample.random) {
                case 0: sample.link()
                case 1..<4: sample.route(filter)
                case 4..<7: sample.neighbour(filter)
                default: sample.other()
                }
            counts[passes, default: 0] += 1
            let verdict = try machine.passes(bytes)
            #expect(verdict == passes, "\(bytes.notices)")
        }
        #expect((counts[true] ?? 0) > 300 && (counts[false] ?? 0) > 300, "both kinds must be tried: \(counts)")
    }

    @Test func `no route that covers a target is ever dropped`() throws {
        var sample = Sample(random: SeededGenerator(seed: 9))
        for _ in 0..<300 {
            let filter = sample.filter(targets: 3, neighbours: 0)
            let machine = try BPFMachine(filter.program)
            for target in filter.targets {
                for length in 0...target.family.bitCount {
                    var attributes = [Kernel.attribute(4, Int32(2))]
                    if length > 0 { attributes.append(Kernel.attribute(1, target.masked(to: length).bytes)) }
                    let bytes = Kernel.route(family: Kernel.family(target.family), length: UInt8(length), attributes)
                    let passes = try machine.passes(bytes)
                    if !passes { Issue.record("\(target)/\(length)") }
                }
            }
        }
    }

    @Test func `no truncated or random message makes the program fail`() throws {
        var sample = Sample(random: SeededGenerator(seed: 10))
        let machine = try BPFMachine(sample.filter(targets: 5, neighbours: 5).program)
        for _ in 0..<3000 {
            var bytes = sample.random.bytes(Int.random(in: 0...80, using: &sample.random))
            // The message type selects the part of the program that runs.
            if bytes.count > 5 { bytes[4] = sample.random.pick([16, 24, 25, 28, 29, 0]) }
            if bytes.count > 17 { bytes[16] = sample.random.pick([0, 2, 10]) }
            _ = try machine.passes(bytes)
        }
    }

    @Test func `the interpreter refuses the programs that the kernel refuses`() {
        let stop = SocketFilter.Instruction(code: 0x06)
        #expect(throws: BPFMachine.Fault.tooLong(0)) { try BPFMachine([]) }
        #expect(throws: BPFMachine.Fault.noReturnAtEnd) { try BPFMachine([stop, .init(code: 0x00)]) }
        #expect(throws: BPFMachine.Fault.jumpOutside(from: 0)) {
            try BPFMachine([.init(code: 0x05, operand: 1), stop])
        }
        #expect(throws: BPFMachine.Fault.jumpOutside(from: 0)) {
            try BPFMachine([.init(code: 0x15, ifFalse: 1), stop])
        }
        #expect(throws: BPFMachine.Fault.memoryOutside(16)) { try BPFMachine([.init(code: 0x02, operand: 16), stop]) }
        #expect(throws: BPFMachine.Fault.unknownInstruction(0xff)) { try BPFMachine([.init(code: 0xff), stop]) }
    }

    @Test func `a program stays below the kernel's limit for any number of targets and neighbours`() throws {
        var sample = Sample(random: SeededGenerator(seed: 11))
        for count in [0, 1, 64, 127, 128, 129, 1000] {
            let filter = sample.filter(targets: count, neighbours: count)
            #expect(filter.program.count < 1500)
            _ = try BPFMachine(filter.program)
        }
    }

    @Test(arguments: [0, 1, 128, 200])
    func `the kernel accepts the program, and a replacement for it`(count: Int) throws {
        var sample = Sample(random: SeededGenerator(seed: 12))
        let filter = sample.filter(targets: count, neighbours: count)
        let socket = try NoticeSocket(filter: filter, bufferBytes: 1 << 16)
        try socket.replace(filter: SocketFilter())
        try socket.replace(filter: filter)
        #expect(socket.receiveBufferBytes >= 1 << 16)
    }
}
