internal import CAres
internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// The sockets of a channel. c-ares calls these functions, which open the sockets, bind them to the interface, connect
/// and close them, and check each datagram before c-ares sees it.
extension DNSChannel {
    /// c-ares keeps the pointer; the memory is written once and never freed.
    nonisolated(unsafe) static let socketFunctions: UnsafePointer<ares_socket_functions> = {
        let place = UnsafeMutablePointer<ares_socket_functions>.allocate(capacity: 1)
        place.initialize(to: functions)
        return UnsafePointer(place)
    }()

    private static let functions = ares_socket_functions(
        asocket: { family, type, _, context in
            let isStream = reach_is_stream(type) != 0
            let descriptor = isStream ? reach_stream_socket(family) : reach_datagram_socket(family)
            guard descriptor >= 0 else { return DNSChannel.owner(context)?.failed(-descriptor) ?? -1 }
            DNSChannel.owner(context)?.sockets[descriptor] = (isStream, nil)
            return descriptor
        },
        aclose: { descriptor, context in
            let owner = DNSChannel.owner(context)
            owner?.unwatch(descriptor)
            owner?.sockets[descriptor] = nil
            return close(descriptor)
        },
        aconnect: { descriptor, address, length, context in
            DNSChannel.owner(context)?.connect(descriptor, toPlaceIn: address) ?? -1
        },
        arecvfrom: { descriptor, buffer, size, _, from, fromLength, context in
            guard let owner = DNSChannel.owner(context), let buffer else { return -1 }
            guard let from, let fromLength else { return owner.receivePart(descriptor, buffer, size) }
            return owner.receiveDatagram(descriptor, buffer, size, from, fromLength)
        },
        asendv: { descriptor, parts, count, context in
            DNSChannel.owner(context)?.send(descriptor, parts, Int(count)) ?? -1
        })

    /// Notes why a call failed, and sets `errno`, which c-ares reads.
    private func failed(_ number: CInt) -> CInt {
        if number != EAGAIN, number != EINPROGRESS, number != EINTR { lastError = number }
        errno = number
        return -1
    }

    private func connect(_ descriptor: CInt, toPlaceIn address: UnsafePointer<sockaddr>?) -> CInt {
        // The port is at the same offset in both families' addresses.
        let port = address?.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
            UInt16(bigEndian: $0.pointee.sin_port)
        }
        guard let port, servers.indices.contains(Int(port) - 1) else { return failed(EINVAL) }
        sockets[descriptor]?.place = Int(port) - 1
        let server = servers[Int(port) - 1]
        let scope = server.zone.flatMap(LinkName.index(ofZone:)) ?? 0
        let endpoint = SocketAddress(address: server.address, port: server.port, scope: scope)
        do throws(SystemError) {
            // A server on this machine, such as systemd-resolved, is reachable only through the loopback interface.
            if let interface, !server.address.isLoopback {
                let chosen = if let route { try route(server, interface) } else { Optional(interface) }
                if let chosen { try InterfaceSocket.bind(descriptor, to: chosen) }
            }
        } catch {
            return failed(error.number)
        }
        let result = endpoint.withPointer { Glibc.connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), $1) }
        return result == 0 ? 0 : failed(errno)
    }

    /// Sends a query, but none to a server that failed: newer versions of c-ares would query it once in each round.
    private func send(_ descriptor: CInt, _ parts: UnsafePointer<iovec>?, _ count: Int) -> Int {
        guard let socket = sockets[descriptor], let place = socket.place, !failedPlaces.contains(place) else {
            return Int(failed(ECONNREFUSED))
        }
        guard count == 1, let message = parts?.pointee else { return Int(failed(EINVAL)) }
        let bytes = Array(UnsafeRawBufferPointer(start: message.iov_base, count: message.iov_len))
        // By TCP, the length comes first (RFC 1035 section 4.2.2).
        let question = query(socket.isStream ? Array(bytes.dropFirst(2)) : bytes, toPlace: place)
        if !socket.isStream { lastQuery = question }
        let sent = socket.isStream ? [UInt8(question.count >> 8), UInt8(question.count & 255)] + question : question
        let result = Glibc.send(descriptor, sent, sent.count, CInt(MSG_NOSIGNAL))
        guard result >= 0 else { return Int(failed(errno)) }
        // A socket that has just connected has room for a question.
        return result == sent.count ? bytes.count : Int(failed(EPIPE))
    }

    /// A query as it is sent: with EDNS where that is wanted and the server may answer it, and without options in any
    /// case.
    private func query(_ message: [UInt8], toPlace place: Int) -> [UInt8] {
        let server = PlainServers.Key(server: servers[place], interface: interface)
        let isExtended =
            hasExtensions && !extendedPlaces.contains(place)
            && !PlainServers.known.withLock { $0.contains(server, at: SystemClock.boot) }
        if isExtended {
            extendedPlaces.insert(place)
            return DNSRecord.withoutOptions(message)
        }
        if extendedPlaces.contains(place) { plainPlaces.insert(place) }
        return DNSRecord.withoutExtensions(message)
    }

    private func receivePart(_ descriptor: CInt, _ buffer: UnsafeMutableRawPointer, _ size: Int) -> Int {
        let count = recv(descriptor, buffer, size, 0)
        if count == 0 { lastError = ECONNRESET }
        return count >= 0 ? count : Int(failed(errno))
    }

    /// Receives a datagram, and skips those that are no response: c-ares accepts an echoed query, or an empty datagram,
    /// as an answer. The socket is connected, so the server sent it; c-ares compares the sender with the placeholder.
    private func receiveDatagram(
        _ descriptor: CInt, _ buffer: UnsafeMutableRawPointer, _ size: Int, _ from: UnsafeMutablePointer<sockaddr>,
        _ fromLength: UnsafeMutablePointer<socklen_t>
    ) -> Int {
        while budget > 0 {
            budget -= 1
            let count = recv(descriptor, buffer, size, 0)
            guard count >= 0 else { return Int(failed(errno)) }
            hasReceived = true
            let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: size)
            guard count >= DNSReply.headerBytes, bytes[2] & 0xf8 == 0x80 else { continue }
            guard let place = sockets[descriptor]?.place else { return Int(failed(EBADF)) }
            let answer = completed(DNSRecord.withoutOptions(Array(bytes[..<count])))
            bytes.copyBytes(from: answer.prefix(size))
            if lastQuery.starts(with: answer[..<2]) {
                lastAnswer = answer
                if plainPlaces.contains(place) {
                    let server = PlainServers.Key(server: servers[place], interface: interface)
                    PlainServers.known.withLock { $0.note(server, at: SystemClock.boot) }
                }
                if DNSReply.Code.failures.contains(answer[3] & 15) {
                    failureCode = answer[3] & 15
                    failedPlaces.insert(place)
                }
            }
            placeholder(ofPlace: place).withPointer { address, length in
                fromLength.pointee = min(fromLength.pointee, length)
                memcpy(from, address, Int(fromLength.pointee))
            }
            return min(answer.count, size)
        }
        return Int(failed(EAGAIN))
    }

    /// Adds the question to a response that is a header alone, as servers without EDNS may send (RFC 6891 section 7):
    /// c-ares queries again without EDNS only where the response repeats the question.
    private func completed(_ answer: [UInt8]) -> [UInt8] {
        guard answer.count == DNSReply.headerBytes, answer[3] & 15 == DNSReply.Code.formatError,
            lastQuery.count > answer.count, lastQuery[11] == 1, lastQuery.starts(with: answer[..<2]),
            let end = DNSRecord.end(ofNameAt: answer.count, in: lastQuery)
        else { return answer }
        // The name, its type and class.
        return answer[..<4] + [0, 1, 0, 0, 0, 0, 0, 0] + lastQuery[answer.count..<min(end + 4, lastQuery.count)]
    }
}

/// The name servers that answer only questions without EDNS, for a while: a value; the caller has the clock.
///
/// Some forwarders drop a question with a record that they do not know, instead of refusing it (RFC 6891 section
/// 6.2.2). Without this memory each question would first wait for such a server in vain.
struct PlainServers {
    struct Key: Hashable {
        let server: ResolverConfiguration.Server
        let interface: InterfaceBinding?
    }

    /// A network's forwarder may be replaced.
    static let lifetime = Duration.seconds(600)
    private static let limit = 64

    /// Those that any channel of this process found.
    static let known = Mutex(PlainServers())

    private var ends: [Key: BootTime] = [:]

    mutating func note(_ key: Key, at now: BootTime) {
        ends = ends.filter { $0.value > now }
        if ends.count >= Self.limit { ends = [:] }
        ends[key] = now + Self.lifetime
    }

    func contains(_ key: Key, at now: BootTime) -> Bool { ends[key].map { $0 > now } ?? false }
}
