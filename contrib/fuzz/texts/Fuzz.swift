import Glibc
import HTTPTypes

// Feeds texts that people, servers and hosts of a fleet send to their readers. A reader must not trap or hang, and what
// it says must hold: a value that is written is read back unchanged, nothing depends on the pieces in which bytes
// arrive, and no character of the input becomes structure of the output.

/// What one kind of text must fulfil. The first byte of an input chooses it.
private let grammars: [(name: String, check: @Sendable ([UInt8], Int) -> Void)] = [
    ("conditions", { bytes, _ in checkCondition(text(bytes)) }), ("targets", { bytes, _ in checkTarget(text(bytes)) }),
    ("cookies", { bytes, _ in checkCookies(bytes) }), ("cache", { bytes, _ in checkCache(bytes) }),
    ("challenges", { bytes, _ in checkChallenge(text(bytes)) }), ("events", checkEvents),
    ("multipart", { bytes, _ in checkMultipart(bytes) }), ("payloads", { bytes, _ in checkPayload(bytes) }),
    ("headers", { bytes, _ in checkMessage(bytes) }), ("encodings", checkEncoded),
    ("bodies", { bytes, _ in checkBody(bytes) }),
]

/// The one grammar that REACH_FUZZ_GRAMMAR names, or -1 for all.
private nonisolated(unsafe) var chosen = -1

/// How many inputs each grammar has had, for the last line.
private nonisolated(unsafe) var counts = [Int](repeating: 0, count: grammars.count)

/// Called by libFuzzer before the first input.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_: UnsafeMutablePointer<CInt>?, _: UnsafeMutableRawPointer?) -> CInt {
    if let name = getenv("REACH_FUZZ_GRAMMAR").map({ String(cString: $0) }), !name.isEmpty {
        guard let number = grammars.firstIndex(where: { $0.name == name }) else {
            fatalError("no grammar is named \(name); there are \(grammars.map(\.name).joined(separator: ", "))")
        }
        chosen = number
    }
    atexit {
        let inputs = zip(grammars, counts).map { "\($0.0.name) \($0.1)" }.joined(separator: ", ")
        let line = "inputs: \(inputs)\n"
        _ = write(STDERR_FILENO, line, line.utf8.count)
    }
    return 0
}

/// Called by libFuzzer with each input that it generates.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard count > 2, let start else { return 0 }
    let input = UnsafeBufferPointer(start: start, count: count)
    let number = chosen >= 0 ? chosen : Int(input[0]) % grammars.count
    counts[number] += 1
    grammars[number].check(Array(input.dropFirst(2)), 1 + Int(input[1]) % 32)
    return 0
}

private func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

private func lines(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(text)
}

private func fields(_ lines: some Sequence<String>) -> [HeaderField] {
    lines.compactMap { line in line.cut(at: ":").map { HeaderField(String($0.before), String($0.after.trimmed)) } }
}

private func isOneLine(_ text: String) -> Bool { !text.utf8.contains { $0 < 0x20 || $0 == 0x7f } }

private func checkCondition(_ text: String) {
    do throws(NetworkConditionError) {
        let condition = try NetworkCondition(text)
        precondition(condition.description.utf8.count <= NetworkCondition.longestText, "longer than what is read")
        precondition((try? NetworkCondition(condition.description)) == condition, "another condition when written")
        precondition((try? NetworkCondition(stored: text)) == condition, "the queue's file reads another condition")
    } catch {
        precondition(isOneLine(error.description), "an error of several lines")
    }
}

private func checkTarget(_ text: String) {
    do throws(TargetError) {
        let target = try Target(text)
        precondition((try? Target(target.description)) == target, "another target when written")
        _ = try? Target.host(text)
    } catch {
        precondition(isOneLine(error.description), "an error of several lines")
    }
}

private func checkCookies(_ bytes: [UInt8]) {
    let now = Timestamp(nanosecondsSince1970: 1_700_000_000_000_000_000)
    var jar = CookieJar()
    let fields = lines(bytes)
    // The path of a URL, which has no control characters.
    let path = "/" + (fields.first ?? "").filterScalars { $0.value >= 0x20 && $0.value != 0x7f }
    for (number, line) in fields.enumerated() {
        let origin = CookieOrigin(host: "www.example.org", path: path, isSecure: number % 2 == 0)
        if let field = SetCookieField(line) { jar.store(field, from: origin, at: now, suffixes: { _ in .isPrivate }) }
        _ = CookieDate.parse(line)
    }
    for host in ["www.example.org", "a.www.example.org", "example.org", "org"] {
        let origin = CookieOrigin(host: host, path: path)
        let sent = jar.cookies(for: origin, at: now)
        precondition(sent.allSatisfy { !$0.isSecure }, "a secure cookie in the clear")
        precondition(sent.allSatisfy { origin.isWithin(domain: $0.domain) && $0.isSendable }, "sent to a stranger")
        for cookie in sent {
            let (own, other) = (Array(path.utf8), Array(cookie.path.utf8))
            let rest = own.dropFirst(other.count).first
            let isBelow = own.starts(with: other) && (other.last == 0x2f || rest == nil || rest == 0x2f)
            precondition(isBelow, "sent to another path")
        }
        guard let header = jar.header(for: origin, at: now) else { continue }
        precondition(!header.utf8.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7f }, "a header of several lines")
        let pairs = header.unicodeScalars.split(separator: ";").count
        precondition(pairs == min(sent.count, 150) || header.utf8.count > 4000, "a cookie within a cookie")
    }
}

private func checkCache(_ bytes: [UInt8]) {
    let fields = fields(lines(bytes))
    let half = fields.count / 2
    let query = CacheQuery(fields: Array(fields[..<half]))
    let answered = Array(fields[half...])
    let moments = [Int64.min, 0, 1_700_000_000_000_000_000, .max].map { Timestamp(nanosecondsSince1970: $0) }
    let requested = moments[bytes.count % moments.count]
    let stored = CachedResponse(
        url: "http://a.example/", status: 200, fields: CacheRules.storable(answered), body: bytes, requested: requested,
        received: moments[2], selecting: CacheRules.selecting(query, by: answered))
    precondition(CachedResponse(file: stored.file) == stored, "another response when stored")
    var changed = stored.file
    changed[changed.count / 2] ^= 1
    precondition(CachedResponse(file: changed) != stored, "damage is not noticed")
    for now in moments {
        for policy in CachePolicy.allCases { _ = CacheDecision(policy, stored, query, at: now) }
        _ = stored.mayReplaceFailure(at: now)
        precondition(stored.lifetime >= 0 && stored.age(at: now) >= 0, "a time before its beginning")
    }
    if CacheRules.mayStore(query, status: 200, fields: answered) {
        precondition(stored.answers(query), "what was stored for a request does not answer it")
    }
}

private func checkChallenge(_ text: String) {
    let challenges = ChallengeField.read(text)
    precondition(challenges.count <= text.utf8.count, "more challenges than bytes")
    guard let challenge = ServerChallenge([text]), case .digest(let digest) = challenge else { return }
    let answer = digest.authorization(
        method: "GET", target: "/a?b", user: "J\u{e4}son \"x\"", password: "p", count: .max, clientNonce: "c\"\\")
    guard let answer else { return }
    precondition(!answer.utf8.contains { $0 < 0x20 || $0 == 0x7f }, "a header of several lines")
    let read = ChallengeField.read(answer)
    precondition(read.count == 1, "the answer begins another challenge")
    precondition(read.first?.parameters["nonce"] == digest.nonce, "another nonce when written")
    precondition(read.first?.parameters["realm"] == digest.realm, "another realm when written")
    precondition(read.first?.parameters["uri"] == "/a?b", "another URI than the request's")
}

@Sendable private func checkEvents(_ bytes: [UInt8], pieces: Int) {
    func events(_ size: Int) -> [ServerSentEvent]? {
        var parser = ServerSentEventParser(limit: 256)
        var found: [ServerSentEvent] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let more = try? parser.append(rest.prefix(size)) else { return nil }
            found += more
            rest = rest.dropFirst(size)
        }
        _ = parser.reconnectionTime.map { $0.nanoseconds }
        return found
    }
    let whole = events(max(1, bytes.count))
    precondition(whole == events(pieces), "the pieces matter")
    let isBounded = (whole ?? []).allSatisfy { !$0.id.utf8.contains(0) && $0.data.utf8.count <= 3 * 256 }
    precondition(isBounded, "beyond the limit")
}

/// The first byte is the encoding; the rest is a body, however damaged.
@Sendable private func checkEncoded(_ bytes: [UInt8], pieces: Int) {
    let fields = ["gzip", "deflate", "br", "zstd"]
    func decode(_ size: Int, into space: Int) -> (body: [UInt8], isGood: Bool, isTruncated: Bool) {
        guard let decoder = ContentDecoder(fields[Int(bytes.first ?? 0) % fields.count]) else {
            return ([], false, false)
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: space, alignment: 1)
        defer { buffer.deallocate() }
        var body: [UInt8] = []
        var rest = bytes.dropFirst()
        while !rest.isEmpty {
            Array(rest.prefix(size)).withUnsafeBytes { decoder.append($0) }
            rest = rest.dropFirst(size)
            while decoder.hasMore, body.count < 1 << 20 {
                guard let count = decoder.next(into: buffer) else { return (body, false, false) }
                body += buffer[..<count]
            }
        }
        return (body, true, decoder.isTruncated)
    }
    let (whole, parts) = (decode(max(1, bytes.count), into: 4096), decode(pieces, into: 64 + pieces))
    guard max(whole.body.count, parts.body.count) < 1 << 20 else { return }
    precondition(whole.isGood == parts.isGood && whole.isTruncated == parts.isTruncated, "the pieces matter")
    precondition(!whole.isGood || whole.body == parts.body, "the pieces matter to the body")
}

/// A condition on the first line, and behind it the document that it is about.
private func checkBody(_ bytes: [UInt8]) {
    let rows = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let first = text(rows[0])
    do throws(JSONConditionError) {
        let condition = try JSONCondition(first)
        precondition((try? JSONCondition(condition.description)) == condition, "another condition when written")
        let limits = JSONReader.Limits(values: 10_000)
        guard rows.count > 1, let document = try? JSONReader.outline(Array(rows[1]), .asFoundation, limits: limits)
        else {
            return
        }
        guard let fault = condition.fault(in: document) else { return }
        precondition(isOneLine(fault) && fault.utf8.count < 4096, "a sentence of several lines, or a long one")
    } catch {
        precondition(isOneLine(error.description) && error.offset <= first.utf8.count, "a place outside the text")
    }
}

private func checkMultipart(_ bytes: [UInt8]) {
    let parts = lines(bytes)
    var form = MultipartForm()
    for part in parts.prefix(8) {
        form.append(Array(part.utf8), name: part)
        form.append([], name: part, fileName: part, mediaType: part)
    }
    let body = MultipartBody(form)
    for case .bytes(let head) in body.pieces where head.starts(with: "--".utf8) || head.starts(with: "\r\n--".utf8) {
        let rows = text(head).unicodeScalars.split(separator: "\r\n".unicodeScalars, omittingEmptySubsequences: true)
        precondition(rows.count <= 3, "a header of several lines")
        let quotes = rows.dropFirst().first.map { $0.count { $0 == "\"" } } ?? 0
        precondition(quotes == 0 || quotes == 2 || quotes == 4, "a name that ends before its quotation mark")
    }
}

private func checkPayload(_ bytes: [UInt8]) {
    if let state = try? HostState(bytes) { precondition((try? HostState(state.bytes)) != nil, "no state when written") }
    if let lease = try? HostLease(bytes) {
        precondition((try? HostLease(lease.bytes))?.since == lease.since, "another lease when written")
    }
    if let desired = try? DesiredState(bytes) {
        precondition((try? DesiredState(desired.bytes))?.queue == desired.queue, "another desired state when written")
        _ = desired.includes(host: "a")
    }
    if let event = try? FleetEvent(bytes) {
        var writer = JSONWriter()
        writer.value(event.json)
        precondition(!writer.bytes.contains { $0 < 0x20 }, "a control character leaves")
        if case .wake(let slept) = event.kind { _ = slept.nanoseconds }
    }
}

/// A message of NATS: lines of headers up to an empty one, and the payload.
private func checkMessage(_ bytes: [UInt8]) {
    let rows = lines(bytes)
    let end = rows.firstIndex(of: "") ?? rows.count
    let headers = fields(rows[..<end])
    let payload = Array(rows[min(end + 1, rows.count)...].joined(separator: "\n").utf8)
    guard let chunk = try? EventChunk(headers: headers, payload: payload) else { return }
    precondition(chunk.first > 0 && chunk.last >= chunk.first - 1, "no range of numbers")
    let again = try? EventChunk(headers: chunk.headers(expecting: 1), payload: chunk.payload)
    precondition(again == chunk, "another chunk when written")
    let (events, damaged) = chunk.events()
    precondition(events.count + damaged == chunk.lines.count, "a line that is neither")
    for event in events { _ = chunk.time(of: event, storedAt: Timestamp(nanosecondsSince1970: .max)) }
}
