import ReachCore
import ReachTesting
import Testing

@testable import ReachKernel

/// Messages of sock_diag(7) byte by byte, as inet_diag.h and tcp.h of the kernel define them.
private enum SocketMessage {
    /// `inet_diag_msg` and the attribute INET_DIAG_INFO.
    static func socket(
        family: UInt8 = 2, state: UInt8 = 1, timer: UInt8 = 1, remote: [UInt8] = [198, 51, 100, 7],
        user: UInt32 = 1000, expires: UInt32 = 300, info: [UInt8]? = info()
    ) -> [UInt8] {
        func padded(_ address: [UInt8]) -> [UInt8] { address + [UInt8](repeating: 0, count: 16 - address.count) }
        let ports: [UInt8] = [0xc0, 0, 1, 0xbb]
        let id = ports + padded([192, 0, 2, 2]) + padded(remote) + [UInt8](repeating: 0, count: 12)
        let rest =
            KernelMessage.number(expires) + [UInt8](repeating: 0, count: 8) + KernelMessage.number(user) + [0, 0, 0, 0]
        return KernelMessage.message(
            20, fixed: [family, state, timer, 2] + id + rest, info.map { [KernelMessage.attribute(2, $0)] } ?? [])
    }

    /// `tcp_info`, as long as Linux 4.1 has it.
    static func info(
        timeouts: UInt8 = 2, doublings: UInt8 = 2, timeoutMicroseconds: UInt32 = 800_000, unacknowledged: UInt32 = 1,
        received: UInt32 = 1500, acknowledged: UInt32 = 1400, roundTripMicroseconds: UInt32 = 20_000
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 136)
        (bytes[2], bytes[4]) = (timeouts, doublings)
        for (offset, value) in [
            (8, timeoutMicroseconds), (24, unacknowledged), (52, received), (56, acknowledged),
            (68, roundTripMicroseconds),
        ] {
            bytes.replaceSubrange(offset..<offset + 4, with: KernelMessage.number(value))
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate var sample: SilenceSample { withUnsafeBytes { SilenceSample(datagram: $0) } }
}

@Suite struct SocketDiagnosisTests {
    @Test func `a link with thousands of addresses leads to conditions of bounded length`() {
        let addresses = (UInt64(0)..<3000).map { IPAddress(ipv6: 0x2001_0db8_0000_0000, $0) }
        let prefixes = addresses.compactMap { IPPrefix($0, length: 128) }
        let conditions = SocketConditions(sources: addresses, excluding: prefixes + prefixes)
        #expect((1000..<32768).contains(conditions.bytes.count))
        let few = SocketConditions(sources: Array(addresses.prefix(1)), excluding: [prefixes[1], prefixes[1]])
        #expect(few.bytes == SocketConditions(sources: Array(addresses.prefix(1)), excluding: [prefixes[1]]).bytes)
    }

    @Test func `a socket that repeats its data is stalled, with its timer and its user`() {
        let sample = SocketMessage.socket().sample
        #expect(sample.sinceReceived == .milliseconds(1400))
        #expect(
            sample.stalled == [
                StalledSocket(
                    remote: IPAddress(ipv4: 0xc633_6407), user: 1000, repetitions: 2, doublings: 2,
                    timeout: .milliseconds(800), untilNext: .milliseconds(300), roundTrip: .milliseconds(20))
            ])
    }

    @Test func `a socket without a timeout, without data on its way, or with another timer is not stalled`() {
        #expect(SocketMessage.socket(info: SocketMessage.info(timeouts: 0)).sample.stalled.isEmpty)
        #expect(SocketMessage.socket(info: SocketMessage.info(unacknowledged: 0)).sample.stalled.isEmpty)
        #expect(SocketMessage.socket(timer: 2).sample.stalled.isEmpty)
        #expect(SocketMessage.socket(info: nil).sample.stalled.isEmpty)
    }

    @Test func `a connection that begins has received nothing, and may be stalled`() {
        let sample = SocketMessage.socket(state: 2, info: SocketMessage.info(roundTripMicroseconds: 0)).sample
        #expect(sample.sinceReceived == nil)
        #expect(sample.stalled.count == 1)
    }

    @Test func `the age of TIME_WAIT is the age of the last packet`() {
        #expect(SocketMessage.socket(state: 6, expires: 58_000, info: nil).sample.sinceReceived == .seconds(2))
        #expect(SocketMessage.socket(state: 6, expires: 61_000, info: nil).sample.sinceReceived == nil)
    }

    @Test func `an IPv6 socket with an IPv4-mapped address counts for the IPv4 address`() {
        let mapped = [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 198, 51, 100, 7]
        let sample = SocketMessage.socket(family: 10, remote: mapped).sample
        #expect(sample.stalled.first?.remote == IPAddress(ipv4: 0xc633_6407))
    }

    @Test func `the shortest time since a packet counts, of all sockets`() {
        let other = SocketMessage.socket(timer: 0, info: SocketMessage.info(received: 50, acknowledged: 9000))
        let sample = (SocketMessage.socket() + other).sample
        #expect(sample.sinceReceived == .milliseconds(50))
        #expect(sample.stalled.count == 1)
    }

    @Test func `a truncated message, and counters of an old kernel, give no socket or no counters`() {
        let whole = SocketMessage.socket()
        for length in 0..<whole.count { #expect(Array(whole.prefix(length)).sample == SilenceSample()) }
        #expect(SocketMessage.socket(info: Array(SocketMessage.info().prefix(104))).sample == SilenceSample())
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `damaged messages are read without a trap, and give plausible numbers`(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        let whole = SocketMessage.socket() + SocketMessage.socket(state: 6) + SocketMessage.socket(family: 10)
        for _ in 0..<200 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...8, using: &chance) {
                bytes[Int.random(in: bytes.indices, using: &chance)] = UInt8.random(in: 0...255, using: &chance)
            }
            let sample = bytes.sample
            #expect(sample.stalled.count <= 3)
            for socket in sample.stalled { #expect(socket.unanswered(within: .seconds(60)).count <= 33) }
        }
    }

    @Test func `one user's flood of sockets leaves room for those of others, and users are limited`() {
        var sample = SilenceSample()
        for user in UInt32(0)..<200 {
            for _ in 0..<200 {
                sample.add(
                    StalledSocket(
                        remote: IPAddress(ipv4: user), user: user, repetitions: 1, doublings: 1, timeout: .seconds(1),
                        untilNext: .zero, roundTrip: .zero))
            }
        }
        #expect(sample.stalled.count == SilenceSample.userLimit * SilenceSample.socketsOfUser)
        #expect(Set(sample.stalled.map(\.user)).count == SilenceSample.userLimit)
    }
}

@Suite struct StalledSocketTests {
    private func socket(
        repetitions: Int, doublings: Int, timeout: Int, untilNext: Int, roundTrip: Int = 20
    ) -> StalledSocket {
        StalledSocket(
            remote: IPAddress(ipv4: 1), user: 0, repetitions: repetitions, doublings: doublings,
            timeout: .milliseconds(timeout), untilNext: .milliseconds(untilNext), roundTrip: .milliseconds(roundTrip))
    }

    private func ages(_ socket: StalledSocket, within window: Int = 60_000) -> [Int64] {
        socket.unanswered(within: .milliseconds(window)).map { $0.nanoseconds / 1_000_000 }
    }

    @Test func `each wait before was half as long`() {
        // Sent 0, 200, 600 and 1400 ms after the start, and again in 1000 ms.
        let sent = socket(repetitions: 3, doublings: 3, timeout: 1600, untilNext: 1000)
        #expect(ages(sent) == [600, 1400, 1800, 2000])
        #expect(ages(sent, within: 1500) == [600, 1400])
    }

    @Test func `what was sent just now may still be answered`() {
        #expect(ages(socket(repetitions: 2, doublings: 2, timeout: 800, untilNext: 750)) == [450, 650])
        #expect(
            ages(socket(repetitions: 2, doublings: 2, timeout: 800, untilNext: 300, roundTrip: 300)) == [900, 1100])
        // Without a round-trip time half of the timeout counts.
        #expect(ages(socket(repetitions: 1, doublings: 0, timeout: 1000, untilNext: 600, roundTrip: 0)) == [1400])
    }

    @Test func `waits that were not doubled are equal`() {
        #expect(
            ages(socket(repetitions: 3, doublings: 0, timeout: 1000, untilNext: 0, roundTrip: 0)) == [
                1000, 2000, 3000, 4000,
            ])
        #expect(
            ages(socket(repetitions: 3, doublings: 1, timeout: 2000, untilNext: 0, roundTrip: 0)) == [
                2000, 3000, 4000, 5000,
            ])
    }
}

@Suite struct TCPCounterTests {
    private func counters(_ text: String) -> TCPCounters? { TCPCounters(netstat: Array(text.utf8)) }

    @Test func `the counters are found by their names`() {
        let text = "TcpExt: SyncookiesSent TCPTimeouts TCPOrigDataSent X\nTcpExt: 1 23 4567 8\nIpExt: A\nIpExt: 1\n"
        #expect(counters(text) == TCPCounters(timeouts: 23, dataSegments: 4567))
    }

    @Test(arguments: [
        "", "\n", "TcpExt: TCPTimeouts TCPOrigDataSent", "TcpExt: TCPTimeouts TCPOrigDataSent\n",
        "TcpExt: TCPTimeouts TCPOrigDataSent\nTcpExt: 1\n", "TcpExt: TCPTimeouts TCPOrigDataSent\nTcpExt: 1 x\n",
        "TcpExt: TCPTimeouts\nTcpExt: 1\n", "IpExt: TCPTimeouts TCPOrigDataSent\nIpExt: 1 2\n",
    ])
    func `a text without them gives none`(text: String) { #expect(counters(text) == nil) }

    @Test func `this kernel has them`() { #expect(TCPCounterFile().read() != nil) }
}
