internal import CCurl
internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

// libcurl calls these on the loop's thread, from within a call of ours. They only note what happened, and call no
// function of libcurl that could call back.

extension Attempt {
    func configureCallbacks() throws(TransferFailure) {
        let context = Unmanaged.passUnretained(handle).toOpaque()
        try check(reach_curl_set_open_socket(easy, openSocket))
        try check(reach_curl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, context))
        try check(reach_curl_set_socket_options(easy, setSocketOptions))
        try check(reach_curl_set_pointer(easy, CURLOPT_SOCKOPTDATA, context))
        try check(reach_curl_set_before_request(easy, beforeRequest))
        try check(reach_curl_set_pointer(easy, CURLOPT_PREREQDATA, context))
        try check(reach_curl_set_data(easy, CURLOPT_HEADERFUNCTION, readHeader))
        try check(reach_curl_set_pointer(easy, CURLOPT_HEADERDATA, context))
        try check(reach_curl_set_data(easy, CURLOPT_WRITEFUNCTION, readBody))
        try check(reach_curl_set_pointer(easy, CURLOPT_WRITEDATA, context))
        try check(reach_curl_set_data(easy, CURLOPT_READFUNCTION, writeBody))
        try check(reach_curl_set_pointer(easy, CURLOPT_READDATA, context))
        try check(reach_curl_set_seek(easy, rewindBody))
        try check(reach_curl_set_pointer(easy, CURLOPT_SEEKDATA, context))
        try check(reach_curl_set_debug(easy, readReport))
        try check(reach_curl_set_pointer(easy, CURLOPT_DEBUGDATA, context))
        if plan.request.url.isSecure { try configureHandshake() }
    }

    fileprivate static func from(_ context: UnsafeMutableRawPointer?) -> Attempt? {
        context.flatMap { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue().attempt }
    }

    fileprivate func opened(_ socket: CInt) {
        found.isReused = false
        self.socket = socket
        found.phases.connected = nil
        multi?.note(self, connects: socket)
        connectionID = multi?.connection(with: socket)
    }

    /// Adds the zone to the address that libcurl connects to.
    ///
    /// - Returns: `false` if there is no such interface.
    fileprivate func addZone(to address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
        let server = plan.request.proxy.url ?? plan.request.url
        guard let zone = server.zone, address.pointee.family == AF_INET6 else { return true }
        guard let index = LinkName.index(ofZone: zone),
            let start = MemoryLayout<curl_sockaddr>.offset(of: \.addr),
            let place = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_scope_id)
        else {
            refuse(TransferFailure(.noDevice, "there is no interface \(zone)", curlCode: 7, systemError: ENODEV))
            return false
        }
        // libcurl's structure is longer than it declares.
        UnsafeMutableRawPointer(address).storeBytes(of: index, toByteOffset: start + place, as: UInt32.self)
        return true
    }

    fileprivate func gotNoSocket(_ number: CInt) {
        let reason = TransferFailure.socketReason(number) ?? .connectFailed
        refuse(TransferFailure(reason, "no socket: \(SystemError.text(number))", curlCode: 7, systemError: number))
    }

    /// Binds a socket to the interface, or ends the attempt: it never uses another interface.
    fileprivate func bind(_ socket: CInt) -> Bool {
        if var bytes = plan.request.segmentBytes {
            setsockopt(socket, CInt(IPPROTO_TCP), TCP_MAXSEG, &bytes, socklen_t(MemoryLayout<CInt>.size))
        }
        guard let interface = plan.request.interface else { return true }
        do throws(SystemError) {
            try InterfaceSocket.bind(socket, to: interface)
            return true
        } catch {
            refuse(TransferFailure(binding: interface, error))
            return false
        }
    }

    /// Decides whether the request is sent. This is the last point at which the server has seen nothing of it.
    fileprivate func allowsRequest(
        from local: IPAddress?, _ localPort: UInt16, to remote: IPAddress?, _ remotePort: UInt16
    ) -> Bool {
        found.localAddress = local
        found.remoteAddress = remote
        let now = SystemClock.boot
        if !found.isReused {
            noteConnected()
            if plan.request.url.isSecure { found.phases.secured = now }
        }
        let connection = connection(from: local, localPort, to: remote, remotePort)
        self.connection = connection
        connectionID = connection.flatMap { multi?.connection(with: $0) }
        if gate == nil { gate = connection.flatMap { multi?.gates.bySocket[$0] } }
        let isFramed = reach_curl_has_http2(easy) != 0
        // Before its path is judged: that of a connection that was closed here is gone.
        if found.isReused, mayBegin, let connection, hasEnded(connection, isFramed: isFramed) {
            leaveUnsent()
            return false
        }
        if let interface = plan.request.interface,
            !(connection.map { InterfaceSocket.leaves($0, by: interface) } ?? false)
        {
            refuse(TransferFailure(.wrongPath, "the connection does not go by \(interface.name)", curlCode: 42))
            return false
        }
        if let source = plan.request.source, source.family == local?.family, source != local {
            let actual = local.map(String.init) ?? "an unknown address"
            refuse(TransferFailure(.wrongPath, "the connection goes from \(actual), not from \(source)", curlCode: 42))
            return false
        }
        // Another address may have been faster: a request is sent once.
        guard job?.maySend(self) == true else { return false }
        guard mayBeginRequest() else { return false }
        // For the numbers of streams, and of the last one that the server processes.
        if isFramed {
            watchBytes()
            if let connection { multi?.noteFrames(on: connection) }
        }
        found.phases.requestStarted = now
        if upload == nil { found.phases.requestSent = now }
        multi?.note(self)
        return true
    }

    /// Whether the request may be sent: for the first time, or where libcurl repeats it by itself on another
    /// connection. It may if the server said that it did not process the request (REFUSED_STREAM), or if the request
    /// may arrive twice.
    private var mayBegin: Bool { found.phases.requestStarted == nil || stream.isRefused || plan.mayArriveTwice }

    /// Whether the request can be sent now, as ``mayBegin`` says, with its body from the beginning.
    private func mayBeginRequest() -> Bool {
        // For the word about a refused stream.
        if !plan.mayArriveTwice { watchBytes() }
        guard mayBegin else {
            refuse(endedBeforeAnswer)
            return false
        }
        guard found.phases.requestStarted != nil else { return true }
        stream.isRefused = false
        // libcurl 7.88.1 reads on where it had read to, if it had sent nothing of what it had read.
        guard sentBytes == 0 && !hasReadBody || rewind() else {
            let host = plan.request.url.host
            refuse(TransferFailure(.sendFailed, "\(host): the body cannot be read again", curlCode: 65))
            return false
        }
        return true
    }

    /// The connection's socket. CURLINFO_ACTIVESOCKET does not give it within this callback (7.88.1), so the multi
    /// handle keeps the sockets by their ends.
    private func connection(
        from local: IPAddress?, _ localPort: UInt16, to remote: IPAddress?, _ remotePort: UInt16
    ) -> CInt? {
        guard let multi, let local, let remote else { return nil }
        let ends = ConnectionEnds.Ends(local: local, localPort: localPort, remote: remote, remotePort: remotePort)
        if socket >= 0 { multi.ends.note(socket, has: ends) }
        return multi.ends.socket(of: ends)
    }

    fileprivate func receivedHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // Before the request only a proxy's answer to CONNECT has a head.
        guard found.phases.requestStarted != nil else { return receivedProxys(line: bytes) }
        if found.phases.firstByte == nil { found.phases.firstByte = SystemClock.boot }
        movedBytes += UInt64(bytes.count)
        let verdict = reader.read(line: bytes)
        if reader.isAmbiguous, reader.isTextual { distrustConnection() }
        if case .head(let head) = verdict { received(head) }
        return obey(verdict)
    }

    private func received(_ head: ResponseHead) {
        noteEncoding(of: head)
        // Only once it is complete: heads that only inform, and trailers, can be without end.
        gate?.addContent(reader.headerBytes)
        guard reader.isTextual else { return }
        // The server answered before it had seen the whole request: the response may belong to something else.
        if !hasSentBody { distrustConnection() }
        // Bytes that are too many concern the next request on the connection, and framing is only around chunks.
        // libcurl formats many texts for its debug output.
        if plan.request.connection == .pooled || reader.isChunked { watchBytes() }
    }

    /// Handles libcurl's debug output about the body of a response in HTTP/1.
    fileprivate func receivedDebug(_ kind: curl_infotype, _ bytes: UnsafeRawBufferPointer) {
        switch kind {
        case CURLINFO_DATA_IN:
            guard let multi, reader.isTextual else { return }
            budget.begin(turn: multi.turn)
            budget.addWire(bytes.count)
            // libcurl stops reading after this buffer, and keeps its bytes.
            if !isHeldBack, multi.holdBack(self) { curl_easy_pause(easy, CURLPAUSE_RECV) }
        case CURLINFO_TEXT:
            // 7.88.1 drops bytes after the end of a response and keeps the connection.
            if Self.excess.contains(where: bytes.starts) { distrustConnection() }
            if bytes.starts(with: Self.refusedStream) { stream.isRefused = true }
            if bytes.starts(with: Self.repetition) { leaveConnection() }
            noteStream(bytes)
        default: break
        }
    }

    private static let refusedStream = Array("REFUSED_STREAM".utf8)
    private static let repetition = Array("Connection died, retrying".utf8)
    private static let excess = ["Excess found", "Leftovers after chunking"].map { Array($0.utf8) }

    /// - Returns: The result for libcurl's callback.
    fileprivate func receivedBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        if let decoder { return received(bytes, for: decoder) }
        guard !mustStopReading else { return Int(CURL_WRITEFUNC_PAUSE) }
        return accept(bytes) ? bytes.count : 0
    }

    /// Accepts a piece of the body, decoded.
    ///
    /// - Returns: `false` if the attempt ends.
    func accept(_ bytes: UnsafeRawBufferPointer) -> Bool {
        budget.addPiece(bytes.count)
        let (accepted, verdict) = reader.accept(bytes.count)
        movedBytes += UInt64(bytes.count)
        gate?.addContent(bytes.count)
        if accepted > 0, reader.redirect == nil { add(body: UnsafeRawBufferPointer(rebasing: bytes[..<accepted])) }
        return obey(verdict)
    }

    /// Whether it has to stop reading for now: the writer has no room, or others on the loop have their turn.
    var mustStopReading: Bool {
        guard job?.hasRoom ?? true else {
            isPaused = true
            return true
        }
        guard let multi else { return false }
        budget.begin(turn: multi.turn)
        return multi.holdBack(self)
    }

    private func obey(_ verdict: ResponseReader.Verdict) -> Bool {
        switch verdict {
        case .proceed: return true
        case .head(let head):
            if reader.redirect == nil { add(.head(head)) } else { multi?.note(self) }
            return true
        case .enough:
            found.isCut = true
            return false
        case .fail(let failure):
            refuse(failure)
            return false
        }
    }

    fileprivate func nextPiece(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch upload?.read(into: buffer) {
        case .bytes(let count):
            sentBytes += UInt64(count)
            movedBytes += UInt64(count)
            gate?.addContent(count)
            if count == 0 { hasReadBody = true }
            if hasSentBody { found.phases.requestSent = SystemClock.boot }
            multi?.note(self)
            return count
        case .wait:
            isPaused = true
            return Int(CURL_READFUNC_PAUSE)
        case .failed(let failure):
            refuse(failure)
            return Int(CURL_READFUNC_ABORT)
        case nil: return 0
        }
    }

    fileprivate func rewind() -> Bool {
        sentBytes = 0
        hasReadBody = false
        return upload?.rewind() ?? true
    }
}

private func openSocket(
    context: UnsafeMutableRawPointer?, _: curlsocktype, address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let attempt = Attempt.from(context), let address, attempt.addZone(to: address) else { return -1 }
    // 7.88.1 sets no FD_CLOEXEC by itself.
    let descriptor = socket(address.pointee.family, address.pointee.socktype | CInt(SOCK_CLOEXEC.rawValue), 0)
    if descriptor >= 0 { attempt.opened(descriptor) } else { attempt.gotNoSocket(errno) }
    return descriptor
}

private func setSocketOptions(context: UnsafeMutableRawPointer?, socket: curl_socket_t, _: curlsocktype) -> CInt {
    Attempt.from(context)?.bind(socket) == true ? CInt(CURL_SOCKOPT_OK) : CInt(CURL_SOCKOPT_ERROR)
}

private func beforeRequest(
    context: UnsafeMutableRawPointer?, remote: UnsafeMutablePointer<CChar>?, local: UnsafeMutablePointer<CChar>?,
    remotePort: CInt, localPort: CInt
) -> CInt {
    guard let attempt = Attempt.from(context) else { return CInt(CURL_PREREQFUNC_ABORT) }
    let near = local.flatMap { attempt.multi?.ends.address(String(cString: $0)) }
    let far = remote.flatMap { attempt.multi?.ends.address(String(cString: $0)) }
    let isAllowed = attempt.allowsRequest(
        from: near, UInt16(truncatingIfNeeded: localPort), to: far, UInt16(truncatingIfNeeded: remotePort))
    return isAllowed ? CInt(CURL_PREREQFUNC_OK) : CInt(CURL_PREREQFUNC_ABORT)
}

private func readHeader(
    start: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    let bytes = UnsafeRawBufferPointer(start: start, count: size * count)
    return Attempt.from(context)?.receivedHeader(bytes) == true ? bytes.count : 0
}

private func readBody(
    start: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    Attempt.from(context)?.receivedBody(UnsafeRawBufferPointer(start: start, count: size * count)) ?? 0
}

private func readReport(
    _: UnsafeMutableRawPointer?, kind: curl_infotype, start: UnsafeMutablePointer<CChar>?, count: Int,
    context: UnsafeMutableRawPointer?
) -> CInt {
    Attempt.from(context)?.receivedDebug(kind, UnsafeRawBufferPointer(start: start, count: count))
    return 0
}

private func writeBody(
    start: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
    Attempt.from(context)?.nextPiece(into: UnsafeMutableRawBufferPointer(start: start, count: size * count))
        ?? Int(CURL_READFUNC_ABORT)
}

private func rewindBody(context: UnsafeMutableRawPointer?, offset: curl_off_t, origin: CInt) -> CInt {
    guard offset == 0, origin == SEEK_SET, Attempt.from(context)?.rewind() == true else {
        return CInt(CURL_SEEKFUNC_FAIL)
    }
    return CInt(CURL_SEEKFUNC_OK)
}
