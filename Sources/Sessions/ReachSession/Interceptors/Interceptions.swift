internal import HTTPTypes
internal import ReachCore
internal import ReachQueue
internal import ReachSerialization
internal import ReachTransfer

/// What interceptors are doing and have done, for each request that is not over. Confined to the loop.
struct Interceptions {
    /// The state of one request's interception.
    private struct Record {
        var adaptation: Adaptation?
        var retryCount = 0
        /// The running call.
        var call: Task<Void, Never>?
        /// The number of the running call: an earlier one, whose request was abandoned, no longer counts.
        var number: UInt64 = 0
    }

    private(set) var interceptors: [String: any RequestInterceptor] = [:]
    private var records: [RequestID: Record] = [:]
    private var lastNumber: UInt64 = 0

    var names: Set<String> { Set(interceptors.keys) }

    mutating func set(_ interceptor: any RequestInterceptor, _ name: String) { interceptors[name] = interceptor }

    // MARK: - Calls

    /// - Returns: The number of the call.
    mutating func begin(_ id: RequestID) -> UInt64 {
        lastNumber += 1
        records[id, default: Record()].number = lastNumber
        return lastNumber
    }

    mutating func running(_ call: Task<Void, Never>, _ number: UInt64, of id: RequestID) {
        if records[id]?.number == number { records[id]?.call = call }
    }

    /// - Returns: Whether the call still counts.
    mutating func end(_ number: UInt64, of id: RequestID) -> Bool {
        guard records[id]?.number == number else { return false }
        records[id]?.number = 0
        records[id]?.call = nil
        return true
    }

    mutating func abandon(_ id: RequestID) {
        records[id]?.call?.cancel()
        records[id]?.call = nil
        records[id]?.number = 0
    }

    mutating func forget(_ id: RequestID) {
        // Most sessions have no interceptor.
        if !records.isEmpty { records.removeValue(forKey: id)?.call?.cancel() }
    }

    mutating func cancelAll() {
        for record in records.values { record.call?.cancel() }
        records = [:]
    }

    // MARK: - Adaptations

    mutating func set(_ adaptation: Adaptation, for id: RequestID) {
        records[id, default: Record()].adaptation = adaptation
        records[id]?.retryCount = adaptation.retryCount
    }

    func adaptation(of id: RequestID) -> Adaptation? { records[id]?.adaptation }

    func retryCount(of id: RequestID) -> Int { records[id]?.retryCount ?? 0 }

    mutating func countRetry(_ id: RequestID) { records[id, default: Record()].retryCount += 1 }

    func judges(_ response: RequestResponse, _ id: RequestID) -> Bool {
        guard let name = records[id]?.adaptation?.name else { return false }
        return interceptors[name]?.judges(response) ?? false
    }

    func apply(to transfer: inout TransferRequest, of id: RequestID) {
        records[id]?.adaptation?.apply(to: &transfer.headers)
    }

    func withdraw(from transfer: inout TransferRequest, of id: RequestID) {
        records[id]?.adaptation?.withdraw(from: &transfer.headers)
    }
}

/// What an interceptor changed in the headers of one attempt.
struct Adaptation: Sendable {
    /// The name of the interceptor.
    let name: String
    /// The request's own method and URL.
    let method: String
    let url: WebAddress
    /// How often the interceptor was asked again, failed adaptations included.
    let retryCount: Int
    /// The headers as they are sent.
    let headers: HTTPFields
    private let fields: [HeaderField]
    private let added: [HeaderField]
    /// The request's own fields that the interceptor replaced or removed.
    private let replaced: [HeaderField]

    init(_ name: String, _ attempt: RequestAttempt, of request: QueuedRequest) throws(RequestError) {
        self.name = name
        method = attempt.method
        url = attempt.url
        retryCount = attempt.retryCount
        headers = attempt.headers
        let fields = try [HeaderField](attempt.headers)
        self.fields = fields
        added = fields.filter { !request.specification.headers.contains($0) }
        replaced = request.specification.headers.filter { !fields.contains($0) }
    }

    /// Makes the changes.
    func apply(to headers: inout [HeaderField]) {
        let changed = Self.names(of: added + replaced)
        headers.removeAll { field in
            changed.contains(field.name.lowercased())
                && !fields.contains(field)
        }
        headers += added
    }

    /// Undoes the changes, for another origin. The request's own credentials do not come back.
    func withdraw(from headers: inout [HeaderField]) {
        // Also what came back at an earlier redirect.
        let changed = Self.names(of: added + replaced)
        headers.removeAll { changed.contains($0.name.lowercased()) }
        headers += replaced.filter(Self.mayReturn)
    }

    /// A redirect may also have removed the body, and what is said about it.
    private static func mayReturn(_ field: HeaderField) -> Bool {
        let name = field.name.lowercased()
        return !field.isNamedAsSecret && !["host", "idempotency-key"].contains(name)
            && !name.hasUTF8Prefix("content-")
    }

    private static func names(of fields: [HeaderField]) -> Set<String> { Set(fields.map { $0.name.lowercased() }) }
}
