/// Feeds bytes to the readers of the control socket: frames, JSON, calls, replies, states, events, links and
/// explanations. They must not trap or hang, messages must not depend on the pieces in which they arrive, and a value
/// that is written must be read back unchanged.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    let frames = read(bytes, inPiecesOf: count)
    precondition(frames == read(bytes, inPiecesOf: 1 + Int(bytes.first ?? 0) % 17), "the pieces matter")
    for frame in frames + [bytes] { check(frame) }
    return 0
}

private func read(_ bytes: [UInt8], inPiecesOf size: Int) -> [[UInt8]] {
    var reader = FrameReader(limit: 1024)
    var frames: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        reader.append(rest.prefix(size))
        rest = rest.dropFirst(size)
        do {
            while let frame = try reader.next() { frames.append(frame) }
        } catch {
            return frames
        }
    }
    return frames
}

private func check(_ frame: [UInt8]) {
    do throws(JSONError) {
        let value = try JSONReader.read(frame)
        var writer = JSONWriter()
        writer.value(value)
        precondition((try? JSONReader.read(writer.bytes)) == value, "not the same when written")
        checkState(value)
        checkReports(value)
        checkProbes(value)
        var stream = EventStreamReader()
        for _ in 0..<2 { _ = try? stream.read(value) }
    } catch {
        precondition(0...frame.count ~= error.offset, "a fault outside")
        precondition(!error.description.utf8.contains { $0 < 0x20 }, "a fault that is not one line")
    }
    if let call = try? VarlinkCall(reading: frame) {
        precondition((try? VarlinkCall(reading: call.frame.dropLast())) == call, "another call when written")
    }
    if let reply = try? VarlinkReply(reading: frame), let error = reply.error {
        let again = try? VarlinkReply(reading: VarlinkReply.frame(of: error).dropLast())
        precondition(again?.error == error, "another error when written")
    }
}

/// Checks that a value that was read is written, and read back unchanged.
private func checkReports(_ value: JSONValue) {
    let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
    if let report = try? LinkReport(reading: value) {
        var first = JSONWriter()
        var second = JSONWriter()
        first.link(report, source: .daemon, at: moment)
        guard let again = (try? JSONReader.read(first.bytes)).flatMap({ try? LinkReport(reading: $0) }) else {
            preconditionFailure("no link when written")
        }
        second.link(again, source: .daemon, at: moment)
        precondition(first.bytes == second.bytes, "another link when written")
    }
    if let explanation = try? Explanation(reading: value) {
        var writer = JSONWriter()
        writer.explanation(explanation, source: .daemon, at: moment)
        let again = (try? JSONReader.read(writer.bytes)).flatMap { try? Explanation(reading: $0) }
        precondition(again == explanation, "another explanation when written")
    }
}

/// The same for probes.
private func checkProbes(_ value: JSONValue) {
    let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))
    guard let report = try? ProbeReport(reading: value) else { return }
    var writer = JSONWriter()
    writer.probeReport(report, at: moment, hasBeats: true)
    let again = (try? JSONReader.read(writer.bytes)).flatMap { try? ProbeReport(reading: $0) }
    precondition(again != nil, "no probe when written")
}

private func checkState(_ value: JSONValue) {
    // Values that are printed only with an interface are lost without one.
    guard let state = try? ReachabilityState(reading: value), state.epoch <= UInt64(Int64.max) else { return }
    var writer = JSONWriter()
    writer.status(state, source: .daemon, at: state.since, BootTime(nanoseconds: 0))
    guard let again = (try? JSONReader.read(writer.bytes)).flatMap({ try? ReachabilityState(reading: $0) }) else {
        preconditionFailure("no state when written")
    }
    precondition(again.target == state.target && again.status == state.status && again.epoch == state.epoch)
}
