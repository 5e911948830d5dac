internal import Glibc
package import ReachCore
internal import Synchronization

/// A server for resumable uploads by tus 1.0, core and creation, at `/files`: it keeps what arrives, and cuts
/// connections where its test says.
package final class TusServer: Sendable {
    package struct State: Sendable {
        /// What has arrived, by the upload's number.
        package var uploads: [Int: [UInt8]] = [:]
        fileprivate var lengths: [Int: Int] = [:]
        /// The number of the newest request for each: an older one writes no more, as a server ends it.
        fileprivate var holders: [Int: Int] = [:]
        /// The requests, each with the status of its answer or `cut`: `POST 201`, `HEAD 1 200`, `PATCH 1 at 4096 cut`.
        package var log: [String] = []
        /// For each of the next PATCH requests, after how many bytes its connection is cut; `nil` lets it be.
        package var cuts: [Int?] = []
        /// Called before a connection is cut: what the next attempt finds.
        package var atCut: @Sendable (inout State) -> Void = { _ in }
        /// Whether a request that is cut leaves nothing, as behind a proxy that passes on whole requests.
        package var keepsWholeRequestsOnly = false
        /// Statuses in place of those of the next answers.
        package var statuses: [Int] = []
        /// The challenge to requests without an Authorization field, in which `NUMBER` is replaced by its number.
        package var challenge: String?
        /// Whether each nonce of a challenge can be used once.
        package var takesNoncesOnce = false
        fileprivate var nonces: Set<String> = []
        fileprivate var challengeCount = 0
        /// Where the next requests are redirected to (307); `nil` for one that is not.
        package var redirects: [String?] = []
        /// Fields of each answer.
        package var fields: [String] = []
        /// The Location of new uploads, before their number.
        package var location = "/files/"
        /// The longest time between two reads of a body, in microseconds: so a client can be killed in the middle.
        package var pause: UInt32 = 0
        /// After how many bytes of an upload the next request stands still, until a newer one comes.
        package var standstill: Int?
        /// Heads as they came.
        package var heads: [String] = []

        /// Forgets all uploads.
        package mutating func loseAll() { uploads = [:] }
    }

    package let state: ServerState
    private let server: ScriptedServer

    package final class ServerState: Sendable {
        private let value: Mutex<State>

        init(_ state: State) { value = Mutex(state) }

        package func withLock<Result: Sendable>(_ body: @Sendable (inout State) -> Result) -> Result {
            value.withLock { body(&$0) }
        }
    }

    package var port: UInt16 { server.port }

    package init(
        in namespace: TestNamespace? = nil, at address: IPAddress = IPAddress(ipv4: 0x7f00_0001), port: UInt16 = 0,
        _ change: (inout State) -> Void = { _ in }
    ) throws {
        var first = State()
        change(&first)
        let state = ServerState(first)
        self.state = state
        server = try ScriptedServer(in: namespace, at: address, port: port) { connection in
            while let head = connection.readHead(), Self.serve(head, connection, state) {}
        }
    }

    // MARK: - Requests

    /// - Returns: Whether the connection stays open.
    private static func serve(_ head: String, _ connection: ScriptedServer.Connection, _ state: ServerState) -> Bool {
        let lines = head.split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        guard words.count == 3 else { return false }
        let length = number("content-length", in: lines) ?? 0
        state.withLock { $0.heads.append(head) }
        if let (status, fields) = answerInstead(of: lines, state) {
            guard connection.read(length) != nil else { return false }
            return answer(status, fields, String(words[0]), connection, state)
        }
        switch words[0] {
        case "POST":
            let total = number("upload-length", in: lines) ?? 0
            let location = state.withLock { state in
                let id = state.lengths.count + 1
                state.uploads[id] = []
                state.lengths[id] = total
                return state.location + "\(id)"
            }
            return answer(201, ["Location: \(location)"], "POST", connection, state)
        case "HEAD":
            let id = Int(words[1].split(separator: "/").last ?? "") ?? 0
            let found = state.withLock { state in
                state.holders[id, default: 0] += 1
                return state.uploads[id].map { ($0.count, state.lengths[id] ?? 0) }
            }
            guard let found else { return answer(404, [], "HEAD \(id)", connection, state) }
            let fields = ["Upload-Offset: \(found.0)", "Upload-Length: \(found.1)"]
            return answer(200, fields, "HEAD \(id)", connection, state)
        case "PATCH":
            let id = Int(words[1].split(separator: "/").last ?? "") ?? 0
            return patch(id, at: number("upload-offset", in: lines) ?? -1, length, connection, state)
        default: return answer(405, [], String(words[0]), connection, state)
        }
    }

    /// What the test wants to be answered in place of what the protocol says.
    private static func answerInstead(
        of lines: [Substring], _ state: ServerState
    ) -> (status: Int, fields: [String])? {
        state.withLock { state in
            if !state.statuses.isEmpty { return (state.statuses.removeFirst(), []) }
            if let challenge = state.challenge, !state.isAuthorized(lines) {
                state.challengeCount += 1
                let number = "\(state.challengeCount)"
                return (401, ["WWW-Authenticate: \(challenge.replacing("NUMBER", with: number))"])
            }
            guard !state.redirects.isEmpty else { return nil }
            return state.redirects.removeFirst().map { (307, ["Location: \($0)"]) }
        }
    }

    private static func patch(
        _ id: Int, at offset: Int, _ length: Int, _ connection: ScriptedServer.Connection, _ state: ServerState
    ) -> Bool {
        let name = "PATCH \(id) at \(offset)"
        guard let present = state.withLock({ $0.uploads[id]?.count }) else {
            _ = connection.read(length)
            return answer(404, [], name, connection, state)
        }
        guard present == offset else {
            _ = connection.read(length)
            return answer(409, [], name, connection, state)
        }
        let (cut, keeps, holder) = state.withLock { state in
            state.holders[id, default: 0] += 1
            return (
                state.cuts.isEmpty ? nil : state.cuts.removeFirst(), !state.keepsWholeRequestsOnly, state.holders[id]
            )
        }
        var left = min(length, cut ?? length)
        var held: [UInt8] = []
        while left > 0 {
            guard let piece = connection.read(min(left, 16 << 10)) else { break }
            let (isHolder, pause) = state.withLock { state in
                guard state.holders[id] == holder else { return (false, UInt32(0)) }
                if keeps { state.uploads[id]? += piece }
                return (true, state.pause)
            }
            guard isHolder, !standsStill(id, holder, state) else { break }
            left -= piece.count
            held += keeps ? [] : piece
            if pause > 0 { usleep(pause) }
        }
        guard left == 0, cut ?? length >= length else {
            state.withLock { state in
                state.log.append(name + " cut")
                state.atCut(&state)
            }
            return false
        }
        if !keeps { state.withLock { [held] in $0.uploads[id]? += held } }
        let now = state.withLock { $0.uploads[id]?.count ?? 0 }
        return answer(204, ["Upload-Offset: \(now)"], name, connection, state)
    }

    /// - Returns: Whether it stood still, and a newer request has come.
    private static func standsStill(_ id: Int, _ holder: Int?, _ state: ServerState) -> Bool {
        let isStanding = state.withLock { state in
            guard let count = state.standstill, state.uploads[id]?.count ?? 0 >= count else { return false }
            state.standstill = nil
            return true
        }
        guard isStanding else { return false }
        // A test that fails must not leave a thread for good.
        for _ in 0..<2000 where state.withLock({ $0.holders[id] == holder }) { usleep(10_000) }
        return true
    }

    private static func answer(
        _ status: Int, _ fields: [String], _ name: String, _ connection: ScriptedServer.Connection,
        _ state: ServerState
    ) -> Bool {
        let more = state.withLock { state in
            state.log.append("\(name) \(status)")
            return state.fields
        }
        let length = status == 204 ? [] : ["Content-Length: 0"]
        let lines = ["HTTP/1.1 \(status) Answer", "Tus-Resumable: 1.0.0"] + fields + more + length
        return connection.write(lines.joined(separator: "\r\n") + "\r\n\r\n")
    }

    private static func number(_ name: String, in lines: [Substring]) -> Int? {
        let line = lines.first { $0.lowercased().hasPrefix(name + ":") }
        return line.flatMap { Int($0.dropFirst(name.count + 1).drop { $0 == " " }) }
    }
}

extension TusServer.State {
    fileprivate mutating func isAuthorized(_ lines: [Substring]) -> Bool {
        guard let field = lines.first(where: { $0.hasPrefix("Authorization: ") }) else { return false }
        guard takesNoncesOnce else { return true }
        let nonce = field.split(separator: " nonce=\"").last?.prefix { $0 != "\"" }
        return nonce.map { nonces.insert(String($0)).inserted } ?? false
    }
}
