// Feeds bytes to the reader of name servers' answers. What may not happen: a trap, a hang, a name or a chain without end.

/// Called by libFuzzer with each message it invents.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let response = try? DNSResponse(bytes) else { return 0 }
    let records = response.answers + response.authorities
    // A record takes eleven bytes at least.
    precondition(records.count * 11 <= bytes.count)
    for name in records.map(\.name) + [response.question?.name].compactMap({ $0 }) {
        precondition(name.encoded.count <= 255)
        precondition(name.labels.isEmpty || DNSName(labels: name.labels) == name)
        _ = name.description
    }
    guard let question = response.question else { return 0 }
    let query = DNSQuery(id: response.id, name: question.name, type: question.type)
    precondition(response.answers(query))
    if case .addresses(let addresses, _) = DNSAnswer(response, to: query) {
        precondition((1...16).contains(addresses.count))
    }
    // The question as we would ask it is itself no answer.
    precondition((try? DNSResponse(query.encoded)) == nil)
    return 0
}
