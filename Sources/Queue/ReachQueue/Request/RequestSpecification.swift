package import ReachCore

/// What a client wants sent, and when: the one form of a request on the command line, on the wire, in the queue, in the
/// store and in sessions.
package struct RequestSpecification: Hashable, Sendable {
    package var method: String
    /// As the client wrote it; ``destination`` is the part that the queue counts by.
    package var url: String
    package private(set) var destination: Destination
    /// The proxy that it asks for, which is a part of ``destination``.
    package var proxy: RequestProxy {
        get { destination.proxy }
        set { destination = destination.reached(by: newValue) }
    }
    package var headers: [HeaderField] = []
    package var body: RequestBody = .none
    /// What else the client wants. Where many requests want the same they share it: see ``terms``.
    fileprivate var shared: SharedTerms

    package var sharedTerms: SharedTerms { shared }

    /// What the client wants of the queue. To change several, take it out and put it back: each change makes a new one.
    package var terms: RequestTerms {
        get { shared.terms }
        set { shared = SharedTerms(newValue) }
    }

    /// - Throws: ``RequestValidationError`` when the URL cannot be queued.
    package init(
        method: String = "GET", url: String, headers: [HeaderField] = [], body: RequestBody = .none,
        condition: NetworkCondition = .any
    ) throws(RequestValidationError) {
        self.init(method: method, stored: url, to: try Destination(url: url))
        self.headers = headers
        self.body = body
        self.condition = condition
    }

    /// A specification that was checked before, with the destination found then: for rows of the queue's file.
    ///
    /// - Parameter terms: Those that it shares with others.
    package init(method: String, stored url: String, to destination: Destination, terms: SharedTerms = .usual) {
        shared = terms
        self.method = method
        self.url = url
        self.destination = destination
    }

    /// Whether it may be sent again when the outcome of an attempt is unknown.
    package var isRepeatable: Bool { uploadProtocol != nil || idempotency.allowsRepetition(ofMethod: method) }

    /// Whether a server in the destination's place would read what is meant for the destination alone: it goes in the
    /// clear, with a header that may be a secret, which its interceptor may add, too, or a body. With HTTPS, a portal is
    /// recognised before anything is sent.
    package var isRevealing: Bool {
        guard !destination.isSecure else { return false }
        return body != .none || interceptor != nil || !headers.allSatisfy(\.isHarmless)
    }

    package func accepts(status: Int) -> Bool { acceptedStatuses.contains { $0.contains(status) } }

    /// How many bytes of the queue's room it uses, in round numbers: its texts, its body, and a row's overhead.
    package var bytesHeld: Int64 {
        // The destination is kept next to the URL that it is a part of.
        let head = headers.reduce(method.utf8.count + url.utf8.count + destination.description.utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
        return body.bytesHeld + Int64(head + shared.textBytes + body.pathBytes + 256)
    }
}

/// Terms of one or more requests, which do not change in their place.
package final class SharedTerms: Hashable, Sendable {
    package static let usual = SharedTerms(RequestTerms())

    package let terms: RequestTerms

    package init(_ terms: RequestTerms) { self.terms = terms }

    /// The bytes of the texts in the terms, for each request that has them: each has a row of its own.
    var textBytes: Int {
        if self === Self.usual { return 0 }
        let texts = [
            terms.idempotency.key, terms.orderKey, terms.uniqueness.key, terms.outputPath, terms.interceptor, terms.tag,
        ]
        let condition = terms.condition == .any ? 0 : terms.condition.description.utf8.count
        return texts.reduce(condition) { $0 + ($1?.utf8.count ?? 0) }
    }

    package static func == (left: SharedTerms, right: SharedTerms) -> Bool {
        left === right || left.terms == right.terms
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(terms) }
}

// A change to what it is already makes nothing new.
extension RequestSpecification {
    package var condition: NetworkCondition {
        get { shared.terms.condition }
        set { if newValue != shared.terms.condition { terms.condition = newValue } }
    }
    package var priority: RequestPriority {
        get { shared.terms.priority }
        set { if newValue != shared.terms.priority { terms.priority = newValue } }
    }
    package var timeToLive: Duration? {
        get { shared.terms.timeToLive }
        set { if newValue != shared.terms.timeToLive { terms.timeToLive = newValue } }
    }
    package var idempotency: Idempotency {
        get { shared.terms.idempotency }
        set { if newValue != shared.terms.idempotency { terms.idempotency = newValue } }
    }
    package var orderKey: String? {
        get { shared.terms.orderKey }
        set { if newValue != shared.terms.orderKey { terms.orderKey = newValue } }
    }
    package var dependsOnPrevious: Bool {
        get { shared.terms.dependsOnPrevious }
        set { if newValue != shared.terms.dependsOnPrevious { terms.dependsOnPrevious = newValue } }
    }
    package var uniqueness: RequestUniqueness {
        get { shared.terms.uniqueness }
        set { if newValue != shared.terms.uniqueness { terms.uniqueness = newValue } }
    }
    package var maximumAttempts: Int? {
        get { shared.terms.maximumAttempts }
        set { if newValue != shared.terms.maximumAttempts { terms.maximumAttempts = newValue } }
    }
    package var isStrict: Bool {
        get { shared.terms.isStrict }
        set { if newValue != shared.terms.isStrict { terms.isStrict = newValue } }
    }
    package var acceptedStatuses: [ClosedRange<Int>] {
        get { shared.terms.acceptedStatuses }
        set { if newValue != shared.terms.acceptedStatuses { terms.acceptedStatuses = newValue } }
    }
    package var outputPath: String? {
        get { shared.terms.outputPath }
        set { if newValue != shared.terms.outputPath { terms.outputPath = newValue } }
    }
    package var interceptor: String? {
        get { shared.terms.interceptor }
        set { if newValue != shared.terms.interceptor { terms.interceptor = newValue } }
    }
    package var timeouts: AttemptTimeouts? {
        get { shared.terms.timeouts }
        set { if newValue != shared.terms.timeouts { terms.timeouts = newValue } }
    }
    package var tag: String? {
        get { shared.terms.tag }
        set { if newValue != shared.terms.tag { terms.tag = newValue } }
    }
    package var failsOffline: Bool {
        get { shared.terms.failsOffline }
        set { if newValue != shared.terms.failsOffline { terms.failsOffline = newValue } }
    }
    package var uploadProtocol: UploadProtocol? {
        get { shared.terms.uploadProtocol }
        set { if newValue != shared.terms.uploadProtocol { terms.uploadProtocol = newValue } }
    }
    package var followsRedirects: Bool {
        get { shared.terms.followsRedirects }
        set { if newValue != shared.terms.followsRedirects { terms.followsRedirects = newValue } }
    }
    package var isCompressed: Bool {
        get { shared.terms.isCompressed }
        set { if newValue != shared.terms.isCompressed { terms.isCompressed = newValue } }
    }
}

/// A specification in the queue of a user.
@dynamicMemberLookup
package struct QueuedRequest: Hashable, Sendable {
    /// The specification does not change in its place: the store, the driver and the transfers pass one on, and none copies
    /// its texts.
    private final class Box: Hashable, Sendable {
        let specification: RequestSpecification

        init(_ specification: RequestSpecification) { self.specification = specification }

        static func == (left: Box, right: Box) -> Bool {
            left === right || left.specification == right.specification
        }

        func hash(into hasher: inout Hasher) { hasher.combine(specification) }
    }

    private var box: Box

    package var specification: RequestSpecification {
        get { box.specification }
        set { box = Box(newValue) }
    }
    /// The user, as the kernel named the client.
    package var owner: UInt32
    /// The bytes of its upload, which are counted for its owner until the request is.
    package var uploadedBytes: Int64 = 0
    /// The bytes that the limits have not accepted yet: an upload was within them when it came, and may be small compared with the
    /// rest of the request.
    package var bytesBesideUpload: Int64 { max(0, box.specification.bytesHeld - uploadedBytes) }

    package init(_ specification: RequestSpecification, owner: UInt32 = 0) {
        box = Box(specification)
        self.owner = owner
    }

    package subscript<Value>(dynamicMember path: KeyPath<RequestSpecification, Value>) -> Value {
        specification[keyPath: path]
    }

    // Every attempt reads these: a key path would copy the whole specification each time.

    package var method: String {
        get { box.specification.method }
        set { specification.method = newValue }
    }
    package var url: String {
        get { box.specification.url }
        set { specification.url = newValue }
    }
    package var destination: Destination { box.specification.destination }
    package var headers: [HeaderField] {
        get { box.specification.headers }
        set { specification.headers = newValue }
    }
    package var body: RequestBody {
        get { box.specification.body }
        set { specification.body = newValue }
    }
    package var condition: NetworkCondition {
        get { box.specification.condition }
        set { specification.condition = newValue }
    }
    package var acceptedStatuses: [ClosedRange<Int>] {
        get { box.specification.acceptedStatuses }
        set { specification.acceptedStatuses = newValue }
    }
    package var outputPath: String? {
        get { box.specification.outputPath }
        set { specification.outputPath = newValue }
    }
    package var interceptor: String? {
        get { box.specification.interceptor }
        set { specification.interceptor = newValue }
    }
    package var timeouts: AttemptTimeouts? {
        get { box.specification.timeouts }
        set { specification.timeouts = newValue }
    }
    package var failsOffline: Bool {
        get { box.specification.failsOffline }
        set { specification.failsOffline = newValue }
    }
    package var bytesHeld: Int64 { box.specification.bytesHeld }
    package var isRepeatable: Bool { box.specification.isRepeatable }
    package var isRevealing: Bool { box.specification.isRevealing }
    package var isComplete: Bool { box.specification.isComplete }
    package var timeToLive: Duration? {
        get { box.specification.timeToLive }
        set { specification.timeToLive = newValue }
    }
    package var uniqueness: RequestUniqueness {
        get { box.specification.uniqueness }
        set { specification.uniqueness = newValue }
    }
    package var uploadProtocol: UploadProtocol? {
        get { box.specification.uploadProtocol }
        set { specification.uploadProtocol = newValue }
    }

    /// - Throws: ``RequestValidationError``, which names the field and the text at fault.
    package func check(_ limits: QueueLimits) throws(RequestValidationError) { try box.specification.check(limits) }

    /// - Throws: ``RequestValidationError`` for a body that is too long.
    package func checkBody(_ limits: QueueLimits) throws(RequestValidationError) {
        try box.specification.checkBody(limits)
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<RequestSpecification, Value>) -> Value {
        get { specification[keyPath: path] }
        set { specification[keyPath: path] = newValue }
    }
}

/// How soon a request starts where several could.
///
/// No request starves: while all four wait, they start in shares of 8:4:2:1.
package enum RequestPriority: UInt8, Hashable, Sendable, CaseIterable, Comparable {
    case urgent = 0
    case high = 1
    case normal = 2
    case low = 3

    /// Its share of the starts.
    package var weight: Int { 8 >> Int(rawValue) }

    package static func < (left: RequestPriority, right: RequestPriority) -> Bool { left.rawValue < right.rawValue }
}

/// How an upload is resumed where the server has a part of it.
package enum UploadProtocol: String, Hashable, Sendable, CaseIterable {
    /// tus 1.0 with its extension "creation": https://tus.io/protocols/resumable-upload. A request with POST goes to the URL
    /// that makes uploads, one with PATCH to an upload that was made.
    case tus
}

/// Whether a request may be sent a second time when it is not known what became of the first.
package enum Idempotency: Hashable, Sendable {
    /// As its method promises (``RepeatableMethods``).
    case byMethod
    /// The server recognises repetitions by this key, the same in every attempt (the `Idempotency-Key` header).
    case key(String)
    /// Never, whatever its method promises.
    case never

    package func allowsRepetition(ofMethod method: String) -> Bool {
        switch self {
        case .byMethod: RepeatableMethods.contains(method)
        case .key: true
        case .never: false
        }
    }
}

/// What becomes of a new request when others of the same name, and of the same user, are still on their way.
package enum RequestUniqueness: Hashable, Sendable {
    case none
    /// The name identifies one piece of work.
    case unique(name: String, mode: Mode)
    /// Only the newest state counts: those that have not started are cancelled, one that is running is finished first.
    case coalesce(key: String)

    /// The words are those of Android's WorkManager.
    package enum Mode: String, Hashable, Sendable, CaseIterable {
        /// The one that is there stays, and is woken from its backoff; the new one is not taken.
        case keep
        /// Those that are there are cancelled.
        case replace
        /// The new one runs after those that are there.
        case append
        /// As `append`, but it never dies because one of those before it died.
        case appendOrReplace = "append-or-replace"
    }
}

/// The number of a queued request: given in the order in which requests are stored, and never given twice.
package struct RequestID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Reads what ``description`` writes.
    ///
    /// - Returns: `nil` for anything but a positive number in decimal digits.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ 48...57 ~= $0 }), let number = Int64(text), number > 0 else { return nil }
        rawValue = number
    }

    package static func < (left: RequestID, right: RequestID) -> Bool { left.rawValue < right.rawValue }

    package var description: String { String(rawValue) }
}
