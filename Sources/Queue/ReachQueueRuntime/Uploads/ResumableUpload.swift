internal import ReachCore
internal import ReachQueue
internal import ReachTransfer

/// A value that decides the exchanges of one attempt of a resumable upload by tus 1.0, core and creation
/// (https://tus.io/protocols/resumable-upload). POST makes an upload on the server, HEAD asks how much of it the server
/// has, and PATCH sends the rest.
///
/// The server's offset decides where the next PATCH begins, so no byte is sent that the server has acknowledged.
struct ResumableUpload {
    enum Exchange: Hashable, Sendable {
        case create
        case ask
        case send(Range<UInt64>)
    }

    /// What follows from an answer.
    enum Decision: Hashable, Sendable {
        case next(Exchange)
        /// The server has the whole body. This is the request's answer, whatever its status.
        case complete
        /// The answer is judged like that of any other request.
        case answered
        /// The request is refused, whatever the status: the server does not speak the protocol, or has lost an upload
        /// that cannot begin again.
        case refused
        case failed(AttemptFault)
    }

    private(set) var state: UploadState
    private let target: TransferURL
    /// Whether the target makes uploads; otherwise it is an upload itself.
    let isCreation: Bool
    private(set) var exchange = Exchange.ask
    private var hasCreated = false
    /// Questions (HEAD) since the offset last advanced by at least ``leastAdvance``.
    private var questions = 0
    /// The most that the server has acknowledged of this upload, in this attempt.
    private var peak: UInt64
    /// Whether a server that speaks the protocol has the upload, or had it.
    private var wasFound: Bool
    /// Answers that acknowledged less than was sent.
    private var shortfalls = 0
    /// The offset from which an advance counts.
    private var counted: UInt64
    /// Whether the file of the body changed after a part of it was sent, and the upload cannot begin again.
    private let isMixed: Bool

    /// The least bytes of a part: less is mostly overhead.
    static let minimumPart: UInt64 = 256 << 10
    /// The least advance for which earlier failures are forgotten, so that a server that takes a byte at a time does
    /// not have the request repeated without waits.
    static let leastAdvance: UInt64 = 64 << 10

    private static let mostShortfalls = 3
    /// The longest URL of an upload, in bytes. The URL is kept as long as the upload lasts, and counts towards no limit
    /// of the user.
    static let longestURL = 4096

    /// - Parameters:
    ///   - known: The state after earlier attempts; `nil` if there were none.
    ///   - target: The request's URL.
    ///   - isCreation: Whether uploads are made there.
    init(_ known: UploadState?, of body: BodyIdentity, to target: TransferURL, isCreation: Bool) {
        self.target = target
        self.isCreation = isCreation
        let isSame = known?.body == body
        isMixed = !isCreation && !isSame && (known?.offset ?? 0) > 0
        state = known ?? UploadState(body: body)
        if !isSame, known != nil { state.beginAgain(with: body) }
        if !isCreation { state.url = target }
        counted = state.highest
        peak = state.offset
        wasFound = isCreation ? state.url != nil : state.highest > 0
    }

    mutating func begin() -> Decision {
        if isMixed { return .failed(AttemptFault(.file)) }
        return state.url == nil ? create() : ask()
    }

    /// Handles the answer to the last exchange.
    ///
    /// - Parameter url: The URL that answered; `nil` for that of the exchange.
    mutating func handle(_ head: ResponseHead, from url: TransferURL? = nil) -> Decision {
        // The server still locks the upload for a dead connection that it takes for alive.
        if head.status == 423 { return Self.trouble }
        return switch exchange {
        case .create: created(head, from: url ?? target)
        case .ask: asked(head)
        case .send(let range): sent(range, head)
        }
    }

    /// Notes that the exchange was cut off.
    ///
    /// - Parameter count: The bytes of the body that had been handed to the kernel.
    mutating func cutOff(after count: UInt64) {
        if case .send = exchange { state.cutOffAfter = count }
    }

    /// Whether the server has more than ever before, by enough, since the last call.
    mutating func claimAdvance() -> Bool {
        let isFurther = state.highest > counted
        let isEnough = state.highest - counted >= Self.leastAdvance || state.offset == state.body.bytes
        guard isFurther, isEnough else { return false }
        counted = state.highest
        return true
    }

    // MARK: - Exchanges

    private static let trouble = Decision.failed(AttemptFault(.transient, isAnswered: true))

    private mutating func create() -> Decision {
        hasCreated = true
        exchange = .create
        return .next(exchange)
    }

    private mutating func ask() -> Decision {
        guard questions < 2 else { return Self.trouble }
        questions += 1
        exchange = .ask
        return .next(exchange)
    }

    private mutating func sendRest() -> Decision {
        let rest = state.body.bytes - state.offset
        guard rest > 0 else { return .complete }
        exchange = .send(state.offset..<state.offset + min(rest, state.partBytes ?? rest))
        return .next(exchange)
    }

    // MARK: - Answers

    private mutating func created(_ head: ResponseHead, from answering: TransferURL) -> Decision {
        guard 200..<300 ~= head.status else { return .answered }
        guard head.status == 201, let location = head["location"] else { return .refused }
        // The request's credentials must not go to another origin.
        guard let url = try? answering.resolving(location), url.hasOrigin(of: target) else {
            return .failed(AttemptFault(.redirects))
        }
        guard url.description.utf8.count <= Self.longestURL, !url.hasCredentials else { return .refused }
        state.url = url
        state.offset = 0
        (peak, wasFound) = (0, true)
        return sendRest()
    }

    private mutating func asked(_ head: ResponseHead) -> Decision {
        if Self.isGone(head) { return lost() }
        guard 200..<300 ~= head.status else { return .answered }
        // A portal or a proxy may answer instead of the server. Such an answer is no reason to send everything again,
        // and does not show that the path works.
        if wasFound, head["upload-offset"] == nil, head["tus-resumable"] == nil {
            return .failed(AttemptFault(.transient))
        }
        guard let offset = Self.number(head["upload-offset"]), offset <= state.body.bytes,
            Self.number(head["upload-length"]) ?? state.body.bytes == state.body.bytes
        else { return lost() }
        if offset == state.offset, state.cutOffAfter >= 2 * Self.minimumPart {
            // The server, or a proxy before it, keeps whole requests only: smaller ones fit between two cuts.
            state.partBytes = max(Self.minimumPart, state.cutOffAfter / 2)
        }
        state.cutOffAfter = 0
        acknowledge(offset)
        return sendRest()
    }

    private mutating func sent(_ range: Range<UInt64>, _ head: ResponseHead) -> Decision {
        if Self.isGone(head) {
            guard isCreation else { return .refused }
            state.beginAgain(with: state.body)
            return Self.trouble
        }
        if head.status == 409 { return ask() }
        guard 200..<300 ~= head.status else { return .answered }
        guard let offset = Self.number(head["upload-offset"]), offset > range.lowerBound, offset <= range.upperBound
        else { return ask() }
        acknowledge(offset)
        // A server that takes one byte of each request would make this attempt send the rest forever.
        if offset < range.upperBound {
            shortfalls += 1
        } else if let part = state.partBytes {
            state.partBytes = part + Self.minimumPart
        }
        return shortfalls > Self.mostShortfalls ? Self.trouble : sendRest()
    }

    /// The server has no such upload any more.
    private mutating func lost() -> Decision {
        guard isCreation else { return .refused }
        state.beginAgain(with: state.body)
        return hasCreated ? Self.trouble : create()
    }

    private mutating func acknowledge(_ offset: UInt64) {
        // Only a real advance permits more questions. Otherwise a server that takes single bytes, or loses bytes again,
        // would never let the attempt end.
        if offset >= peak + Self.leastAdvance { (peak, questions) = (offset, 0) }
        state.offset = offset
        state.highest = max(state.highest, offset)
    }

    private static func isGone(_ head: ResponseHead) -> Bool { head.status == 404 || head.status == 410 }

    /// A number of bytes: decimal digits and nothing else.
    private static func number(_ text: String?) -> UInt64? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        return UInt64(text)
    }
}

/// What is known of a resumable upload between its attempts.
struct UploadState: Hashable, Sendable {
    /// The upload on the server; `nil` if there is none.
    var url: TransferURL?
    /// The bytes that the server has acknowledged.
    var offset: UInt64 = 0
    /// The most that it has ever acknowledged, of this upload or of those before it.
    var highest: UInt64 = 0
    /// How often the upload began again because the server lost it or the body changed.
    var restarts = 0
    var body: BodyIdentity
    /// The most bytes to send in one exchange; `nil` for all. Not stored.
    var partBytes: UInt64?
    /// The bytes that the last exchange sent before it was cut off. Not stored.
    var cutOffAfter: UInt64 = 0

    init(body: BodyIdentity) { self.body = body }

    mutating func beginAgain(with body: BodyIdentity) {
        (url, offset, cutOffAfter) = (nil, 0, 0)
        self.body = body
        restarts += 1
    }
}

/// Distinguishes a body from another one at the same path: an upload must not mix parts of two bodies.
struct BodyIdentity: Hashable, Sendable {
    /// The length.
    var bytes: UInt64
    /// The inode and the time of the last change, of a file; empty for a body that cannot change.
    var version = ""
}
