import ReachControl
import ReachCore

/// Passes libFuzzer's bytes to the parser as one datagram, applies the notices, and writes them as event lines. It
/// checks what must hold for any bytes; libFuzzer and the sanitizers find traps, reads beyond the end, endless loops
/// and growing memory.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let notices = NoticeParser.notices(in: UnsafeRawBufferPointer(start: start, count: count))
    // A message has a header of 16 bytes.
    precondition(notices.count <= count / 16, "more notices than messages")
    var table = NetworkTable()
    var stream = EventStream(source: .kernel)
    let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
    for notice in notices {
        _ = table.apply(notice)
        let once = table
        _ = table.apply(notice)
        precondition(table == once, "a repeated notice is a change")
        let line = stream.notice(notice, at: moment)
        precondition(line.last == UInt8(ascii: "\n") && line.dropLast().allSatisfy { $0 >= 0x20 }, "not one line")
    }
    fuzzSockets(UnsafeRawBufferPointer(start: start, count: count))
    fuzzWireless(UnsafeRawBufferPointer(start: start, count: count))
    fuzzAdvertisement(UnsafeRawBufferPointer(start: start, count: count))
    fuzzTunnels(UnsafeRawBufferPointer(start: start, count: count))
    return 0
}

/// Reads the same bytes as an advertisement of a router.
private func fuzzAdvertisement(_ bytes: UnsafeRawBufferPointer) {
    guard let router = IPAddress("fe80::1") else { preconditionFailure("an address") }
    let found = RouterAdvertisement(bytes, hopLimit: RouterAdvertisement.hopLimit, from: router)
    guard let domain = found?.domain else { return }
    precondition(domain.description.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "a name that is not safe to print")
    precondition(ProvisioningDomain(domain.description) == domain, "a name that is not read back")
}

/// Reads the same bytes as answers about WireGuard's devices.
private func fuzzTunnels(_ bytes: UnsafeRawBufferPointer) {
    var device = WireGuardDevice()
    for message in Messages(bytes) {
        guard let part = WireGuardParser.part(message, family: Int(message.type)) else { continue }
        device.add(part)
    }
    precondition(device.peers.count <= bytes.count / 4, "more peers than attributes")
    precondition(device.farEnds.count <= device.peers.count, "more ends than peers")
    precondition(device.mark != 0, "a mark that is none")
}

/// Reads the same bytes as an answer of sock_diag(7).
private func fuzzSockets(_ datagram: UnsafeRawBufferPointer) {
    let sample = SilenceSample(datagram: datagram)
    // A message about a socket has 88 bytes at least.
    precondition(sample.stalled.count <= datagram.count / 88, "more sockets than messages")
    for socket in sample.stalled {
        let ages = socket.unanswered(within: .seconds(60))
        precondition(ages.count <= 33 && zip(ages, ages.dropFirst()).allSatisfy { $0 <= $1 }, "ages that do not grow")
    }
}

/// The same bytes as messages of nl80211, with what access points sent in them.
private func fuzzWireless(_ bytes: UnsafeRawBufferPointer) {
    precondition(WirelessParser.notices(in: bytes).count <= bytes.count / 16, "more notices than messages")
    for message in Messages(bytes) {
        _ = WirelessParser.peer(message)
        for ssid in [WirelessParser.interface(message)?.ssid, WirelessParser.joinedNetwork(message)?.network.ssid] {
            guard let ssid else { continue }
            let text = ssid.description
            precondition(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }, "a name that is not safe to print")
            precondition(SSID(text) == ssid, "a name that is not read back")
        }
    }
}
