package import ReachCore

/// What a client wants sent, and when: the one form of a request on the command line, on the wire, in the queue, in the
/// store and in sessions.
@dynamicMemberLookup
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
    /// What the client wants of the queue; shared, since many requests want the same.
    package private(set) var sharedTerms: Shared<RequestTerms>

    package var terms: RequestTerms {
        _read { yield sharedTerms.value }
        _modify { yield &sharedTerms.value }
    }

    /// A term; setting one to what it is leaves the terms shared.
    package subscript<Term: Equatable>(dynamicMember term: WritableKeyPath<RequestTerms, Term>) -> Term {
        get { sharedTerms.value[keyPath: term] }
        set { if newValue != sharedTerms.value[keyPath: term] { sharedTerms.value[keyPath: term] = newValue } }
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
    package init(
        method: String, stored url: String, to destination: Destination,
        terms: Shared<RequestTerms> = RequestTerms.usual
    ) {
        sharedTerms = terms
        self.method = method
        self.url = url
        self.destination = destination
    }

    /// Whether it may be sent again when the outcome of an attempt is unknown.
    package var isRepeatable: Bool {
        terms.uploadProtocol != nil || terms.idempotency.allowsRepetition(ofMethod: method)
    }

    /// Whether a server in the destination's place would read what is meant for the destination alone: it goes in the
    /// clear, with a header that may be a secret, which its interceptor may add, too, or a body. With HTTPS, a portal
    /// is recognised before anything is sent.
    package var exposesSecrets: Bool {
        guard !destination.isSecure else { return false }
        return body != .none || terms.interceptor != nil || !headers.allSatisfy(\.isHarmless)
    }

    package func accepts(status: Int) -> Bool { terms.acceptedStatuses.contains { $0.contains(status) } }

    /// How many bytes of the queue's room it uses, in round numbers: its texts, its body, and a row's overhead.
    package var bytesHeld: Int64 {
        // The destination is kept next to the URL that it is a part of.
        let head = headers.reduce(method.utf8.count + url.utf8.count + destination.description.utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count
        }
        return body.bytesHeld + Int64(head + sharedTerms.value.textBytes + body.pathBytes + 256)
    }
}

/// A specification in the queue of a user.
package struct QueuedRequest: Hashable, Sendable {
    /// Shared, since the store, the driver and the transfers pass it on.
    private var shared: Shared<RequestSpecification>

    package var specification: RequestSpecification {
        _read { yield shared.value }
        _modify { yield &shared.value }
    }
    /// The user, as the kernel named the client.
    package var owner: UInt32
    /// The bytes of its upload, which are counted for its owner until the request is.
    package var uploadedBytes: Int64 = 0
    /// The bytes that the limits have not accepted yet: an upload was within them when it came, and may be small
    /// compared with the rest of the request.
    package var bytesBesideUpload: Int64 { max(0, shared.value.bytesHeld - uploadedBytes) }
    /// How its body may be sent with those of others; `nil` if it is sent alone.
    package var joinForm: JoinForm? { shared.value.sharedTerms.value.uniqueness.joinForm }

    package init(_ specification: RequestSpecification, owner: UInt32 = 0) {
        shared = Shared(specification)
        self.owner = owner
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
    /// tus 1.0 with its extension "creation": https://tus.io/protocols/resumable-upload. A request with POST goes to
    /// the URL that makes uploads, one with PATCH to an upload that was made.
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
    /// Their bodies are sent in one request.
    case joined(key: String, form: JoinForm)

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
