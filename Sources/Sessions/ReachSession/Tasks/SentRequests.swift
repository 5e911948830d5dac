internal import HTTPTypes
public import ReachSerialization
internal import ReachTransfer
internal import Synchronization

extension RequestTask {
    /// The requests that are sent for this task from now on, as they are sent: of each attempt, and after it of each
    /// redirect that is followed and each challenge that is answered; with cookies, and with what an interceptor, the
    /// cache and credentials added.
    ///
    ///     for await request in task.sentRequests { print(request.curlCommand) }
    ///
    /// The sequence ends with the task. It keeps the newest 64 requests that were not read. libcurl adds `Host`,
    /// `Accept`, and the fields that frame the message.
    public var sentRequests: AsyncStream<WebRequest> {
        AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            let number = state.withLock { $0.isOver ? nil : $0.audience.add(continuation) }
            guard let number else { return continuation.finish() }
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { $0.audience.removeStream(number) }
            }
        }
    }

    func willSend(_ transfer: TransferRequest) {
        let streams = state.withLock(\.audience.requestStreams)
        guard !streams.isEmpty, let url = try? WebAddress(received: transfer.url.description),
            let request = try? WebRequest(
                method: transfer.method, url: url, headers: HTTPFields(transfer.sentFields),
                body: transfer.body == .none ? .none : originalRequest.body)
        else { return }
        for stream in streams { stream.yield(request) }
    }
}

extension RequestTask: CustomStringConvertible {
    /// The method, the URL and the state, with the status of an answer: `GET https://example.org/ (completed, 200)`.
    /// The URL may have secrets.
    public var description: String {
        let (life, result) = state.withLock { ($0.life.state, $0.result) }
        let status: String? =
            switch result {
            case .success(let response): "\(response.statusCode)"
            case .failure(let error): error.response.map { "\($0.statusCode)" } ?? error.word
            case nil: nil
            }
        let words = ["\(life)", status].compactMap(\.self).joined(separator: ", ")
        return "\(originalRequest.method.rawValue) \(originalRequest.url) (\(words))"
    }
}
