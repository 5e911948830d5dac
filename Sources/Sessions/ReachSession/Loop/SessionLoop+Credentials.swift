internal import ReachCore
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer

/// The credentials of one attempt, as far as they were sent.
struct AttemptAuthentication {
    /// Sent with the last exchange, and the realm they were for.
    var sent: (credentials: UserCredentials, realm: String, isBasic: Bool)?
    /// The last Digest challenge; `nil` if there was none.
    var digest: DigestAnswers?
    /// Whether the exchange began with an answer to the challenge of an earlier one.
    var isRepeated = false
    /// Credentials that were refused.
    var refusedCount = 0
    /// Challenges that were answered.
    var answeredCount = 0
}

/// A Digest challenge, and the answers to it: each is for one method and target, while the nonce is for several (RFC
/// 7616, 3.3).
struct DigestAnswers {
    private let challenge: DigestChallenge
    /// Of the server whose challenge it is.
    private let url: TransferURL
    private let clientNonce = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }.joined()
    private var count: UInt32 = 0

    init(_ challenge: DigestChallenge, of url: TransferURL) {
        self.challenge = challenge
        self.url = url
    }

    /// - Returns: The value of an `Authorization` field; `nil` for a request to another server, and where there can be
    ///   none.
    mutating func next(for request: TransferRequest, _ credentials: UserCredentials) -> String? {
        guard request.url.hasOrigin(of: url), let address = try? WebAddress(received: request.url.description) else {
            return nil
        }
        count += 1
        return challenge.authorization(
            method: request.method, target: address.requestTarget, user: credentials.user,
            password: credentials.password, count: count, clientNonce: clientNonce)
    }
}

/// Answers challenges, with credentials of the session's storage or of its hook.
extension SessionLoop {
    /// How many answers to challenges an attempt may have: a hook that always returns the same credentials would be
    /// asked indefinitely.
    private static let answerLimit = 5

    /// Whether the session answers a response itself, as far as it has credentials.
    func answersChallenge(_ head: ResponseHead) -> Bool {
        head.status == 401 && (options.hooks.challenge != nil || options.credentials != nil)
            && ServerChallenge(head) != nil
    }

    /// Adds credentials that the server has accepted before.
    func offerCredentials(_ transfer: inout TransferRequest, of id: RequestID) {
        guard let storage = options.credentials, !transfer.headers.contains(where: { $0.isNamed("Authorization") }),
            let address = try? WebAddress(received: transfer.url.description),
            let (credentials, realm) = storage.preemptive(for: address), let value = credentials.basicAuthorization
        else { return }
        transfer.headers.append(HeaderField("Authorization", value))
        attempts[id]?.authentication.sent = (credentials, realm, true)
    }

    /// Adds the credentials that an earlier exchange of the attempt was asked for, so that a body is not sent twice. No
    /// answer to a challenge counts against another exchange.
    func repeatCredentials(_ transfer: inout TransferRequest, of id: RequestID) {
        guard let note = attempts[id] else { return }
        (note.authentication.answeredCount, note.authentication.refusedCount) = (0, 0)
        note.authentication.isRepeated = false
        guard let sent = note.authentication.sent else { return }
        transfer.headers.removeAll { $0.isNamed("Authorization") }
        let value =
            sent.isBasic
            ? sent.credentials.basicAuthorization : note.authentication.digest?.next(for: transfer, sent.credentials)
        guard let value else {
            note.authentication.sent = nil
            return
        }
        note.authentication.isRepeated = !sent.isBasic
        transfer.headers.append(HeaderField("Authorization", value))
    }

    /// The request with an answer to the server's challenge.
    ///
    /// - Returns: `nil` without credentials: the challenge is then the answer.
    func answered(
        _ challenge: ServerChallenge, _ response: WebResponse, _ sent: TransferRequest, _ id: RequestID
    ) -> TransferRequest? {
        guard let address = try? WebAddress(received: sent.url.description) else { return nil }
        var state = attempts[id]?.authentication ?? AttemptAuthentication()
        defer { note(of: id).authentication = state }
        // A server may take each nonce once, and need not say that it is stale.
        if state.isRepeated, state.sent?.realm != challenge.realm { state.sent = nil }
        let isStale = challenge.isStale || state.isRepeated
        state.isRepeated = false
        if let last = state.sent, !isStale {
            if last.realm == challenge.realm, last.isBasic == challenge.isBasic {
                state.refusedCount += 1
                options.credentials?.refused(last.credentials, for: address, realm: challenge.realm)
            } else {
                // They were for another realm or scheme, where they may still be good.
                state.sent = nil
            }
        }
        // What answered Digest is not sent as Basic.
        let isAgain = isStale && state.sent?.isBasic == challenge.isBasic
        guard state.answeredCount < Self.answerLimit,
            let credentials = isAgain
                ? state.sent?.credentials : credentials(for: challenge, response, address, state.refusedCount, id),
            let value = authorization(challenge, sent, credentials, &state)
        else {
            state.sent = nil
            return nil
        }
        state.answeredCount += 1
        state.sent = (credentials, challenge.realm, challenge.isBasic)
        var next = sent
        next.headers.removeAll { $0.isNamed("Authorization") }
        next.headers.append(HeaderField("Authorization", value))
        return next
    }

    /// Stores credentials that the server has accepted.
    func noteAccepted(_ head: ResponseHead, to sent: TransferRequest, of id: RequestID) {
        guard head.status != 401, let storage = options.credentials, let last = attempts[id]?.authentication.sent,
            let address = try? WebAddress(received: sent.url.description)
        else { return }
        storage.accepted(last.credentials, for: address, realm: last.realm, isBasic: last.isBasic)
    }

    private func credentials(
        for challenge: ServerChallenge, _ response: WebResponse, _ address: WebAddress, _ failureCount: Int,
        _ id: RequestID
    ) -> UserCredentials? {
        let scheme: AuthenticationChallenge.Scheme = challenge.isBasic ? .basic : .digest
        let stored = options.credentials?.credentials(for: address, realm: challenge.realm, scheme: scheme)
        if let stored { return stored }
        let question = AuthenticationChallenge(
            response: response, scheme: scheme, realm: challenge.realm, failureCount: failureCount)
        do {
            return try options.hooks.challenge?(tasks[id]?.first, question)
        } catch is CancellationError {
            if tasks[id] == nil { cancel(id) }
            for task in tasks[id] ?? [] { task.cancel() }
        } catch {
            note(of: id).error = RequestError(ofChallenge: error)
        }
        return nil
    }

    private func authorization(
        _ challenge: ServerChallenge, _ sent: TransferRequest, _ credentials: UserCredentials,
        _ state: inout AttemptAuthentication
    ) -> String? {
        guard case .digest(let digest) = challenge else { return credentials.basicAuthorization }
        var answers = DigestAnswers(digest, of: sent.url)
        defer { state.digest = answers }
        return answers.next(for: sent, credentials)
    }
}

extension UserCredentials {
    /// The value of an `Authorization` field; `nil` for a name with a colon, which would end it on the wire.
    fileprivate var basicAuthorization: String? {
        user.utf8.contains(UInt8(ascii: ":")) ? nil : "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
    }
}
