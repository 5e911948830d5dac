// Feeds bytes to the readers of responses and URLs. They must not trap, hang or use ever more memory, a document must
// not depend on the pieces in which it arrives, and a value that is written must be read back unchanged.

/// Called by libFuzzer with each input that it generates: its first byte chooses the reader, the second the size of
/// pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard count > 2 else { return 0 }
    let bytes = Array(input.dropFirst(2))
    switch input[0] % 3 {
    case 0: fuzzXML(bytes, pieces: Int(input[1] % 32) + 1)
    case 1: fuzzJSON(bytes)
    default: fuzzAddress(String(decoding: bytes, as: UTF8.self))
    }
    return 0
}

private func events(_ bytes: [UInt8], pieces: Int) throws(XMLError) -> [XMLEvent] {
    var parser = XMLPullParser()
    var events: [XMLEvent] = []
    var rest = bytes[...]
    while true {
        while let event = try parser.next() {
            if case .text(let more) = event, case .text(let text) = events.last {
                events[events.count - 1] = .text(text + more)
            } else {
                events.append(event)
            }
        }
        if rest.isEmpty { return events }
        parser.append(Array(rest.prefix(pieces)))
        rest = rest.dropFirst(pieces)
        if rest.isEmpty { parser.finish() }
    }
}

private func fuzzXML(_ bytes: [UInt8], pieces: Int) {
    let whole = try? events(bytes, pieces: bytes.count)
    let inPieces = try? events(bytes, pieces: pieces)
    precondition(whole == inPieces, "in pieces it says something else")
    guard let whole else { return }
    var depth = 0
    for event in whole {
        switch event {
        case .start: depth += 1
        case .end: depth -= 1
        default: break
        }
        precondition(depth >= 0)
    }
    precondition(depth == 0, "ends are missing")
}

private func fuzzJSON(_ bytes: [UInt8]) {
    guard let json = try? JSONReader.read(UTF8Transcoder.utf8(bytes), .asFoundation) else { return }
    var writer = JSONWriter()
    writer.value(json)
    precondition((try? JSONReader.read(writer.bytes)) == json, "read back as something else")
}

private func fuzzAddress(_ text: String) {
    if let base = try? WebAddress("http://a.example/b/c?d"), let joined = try? base.resolving(text) {
        precondition((try? WebAddress(joined.description)) == joined, "joined to what is no URL")
    }
    guard let address = try? WebAddress(text) else { return }
    precondition((try? WebAddress(address.description)) == address, "read back as something else")
    precondition(address.asBase.appendingQuery("k=v").requestTarget.utf8.first == UInt8(ascii: "/"))
}
