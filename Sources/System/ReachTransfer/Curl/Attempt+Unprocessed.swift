internal import CCurl
internal import ReachCore

/// Requests that a server of HTTP/2 did not process: it says the number of the last stream that it processes, and
/// closes the connection (GOAWAY, RFC 9113, 6.8). They may be sent again, whatever they do.
///
/// libcurl reports such a stream as a failure; 8.14 sends it again by itself if it has no body. The numbers are in
/// libcurl's debug output only.
extension Attempt {
    /// Before the number of a stream that begins: in 7.88, and in 8.14, where other lines about the stream have the
    /// number, too.
    private static let streamText = Array("Using Stream ID: ".utf8)
    private static let laterStreamText = Array("[HTTP/2] [".utf8)
    private static let openedText = Array("] OPENED stream".utf8)
    /// After `recveived` or `received`.
    private static let goAwayText = Array("eived GOAWAY, ".utf8)
    private static let lastText = Array("last_stream=".utf8)

    /// Reads the numbers from a line of libcurl's debug output.
    func noteStream(_ line: UnsafeRawBufferPointer) {
        if line.starts(with: Self.streamText) {
            stream.begin(Self.number(line.dropFirst(Self.streamText.count)))
        } else if line.starts(with: Self.laterStreamText), Self.place(of: Self.openedText, in: line) != nil {
            stream.begin(Self.number(line.dropFirst(Self.laterStreamText.count)))
        } else if line.first == UInt8(ascii: "r"), Self.place(of: Self.goAwayText, in: line) != nil,
            let place = Self.place(of: Self.lastText, in: line), let last = Self.number(line.dropFirst(place)),
            let connectionID
        {
            multi?.noteGoAway(on: connectionID, last: last)
            stream.end(after: last)
        }
    }

    /// libcurl repeats the request by itself: what comes is of another connection, and what was said of the one before
    /// holds for the stream there only.
    func leaveConnection() {
        stream.leave(isUnprocessed: isUnprocessed)
        connectionID = nil
    }

    /// Whether the server said that it did not process the request, or got nothing of it.
    var isUnprocessed: Bool { reader.headerBytes == 0 && stream.isUnprocessed }

    /// Whether a connection that was used before ended meanwhile: the server sends nothing more on it, so what is sent
    /// has no answer. In HTTP/1 that goes for all that comes before the request, too; frames may come at any time.
    ///
    /// The loop closes a connection that rests and becomes readable, but not before its next turn. libcurl takes the
    /// words with which TLS ends for a sign of life (7.88.1).
    func hasEnded(_ connection: CInt, isFramed: Bool) -> Bool {
        reach_socket_has_ended(connection, isFramed ? 0 : 1) != 0
    }

    /// Ends before anything was sent on the connection, so that the server cannot have processed it.
    func leaveUnsent() {
        stream.isRefused = true
        distrustConnection()
        refuse(TransferFailure(.connectionReset, "\(plan.request.url.host): the connection had ended", curlCode: 55))
    }

    /// Notes that its connection, used before, ended before the answer: libcurl's words do not say what that means for
    /// a request that may not be repeated.
    func noteEnd(_ code: CURLcode) {
        guard found.isReused, !plan.mayArriveTwice, found.phases.requestStarted != nil, reader.headerBytes == 0,
            !isUnprocessed,
            Self.endsOfConnections.contains(code)
        else { return }
        refuse(endedBeforeAnswer)
    }

    var endedBeforeAnswer: TransferFailure {
        TransferFailure(
            .connectionReset,
            "\(plan.request.url.host): the connection ended before the answer; the request may have arrived",
            curlCode: 52)
    }

    private static let endsOfConnections: Set<CURLcode> = [
        CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_PARTIAL_FILE,
    ]

    /// The place behind a text in the first bytes of a line.
    private static func place(of text: [UInt8], in line: UnsafeRawBufferPointer) -> Int? {
        let line = line.prefix(100)
        guard line.count >= text.count else { return nil }
        return (0...line.count - text.count).first { line.dropFirst($0).starts(with: text) }.map { $0 + text.count }
    }

    private static func number(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt32? {
        UInt32(String(decoding: bytes.prefix { 48...57 ~= $0 }, as: UTF8.self))
    }
}

/// What the server said of the stream of a request in HTTP/2.
struct StreamFate {
    /// Its number, where libcurl says it.
    private var number: UInt32?
    /// The last stream that the server processes; `nil` while it processes all.
    private var last: UInt32?
    /// Whether the server said that it did not process the request, which libcurl then repeats, or got nothing of it:
    /// until it begins again.
    var isRefused = false

    /// Where it is refused, libcurl has repeated it as often as it does, or cannot connect again.
    var isUnprocessed: Bool {
        guard !isRefused, let number, let last else { return isRefused }
        return number > last
    }

    mutating func begin(_ number: UInt32?) { (self.number, last) = (number, nil) }

    mutating func end(after last: UInt32) { self.last = last }

    mutating func leave(isUnprocessed: Bool) { (isRefused, number, last) = (isUnprocessed, nil, nil) }
}
