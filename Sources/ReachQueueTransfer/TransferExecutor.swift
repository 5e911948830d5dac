package import ReachQueue
internal import ReachQueueStore
package import ReachTransfer

/// Makes the queue's attempts with ``TransferEngine``, on the engine's loop.
///
/// Each is bound to the interface of its order. What the network has to tell is asked of ``network``.
package final class TransferExecutor: QueueExecutor {
    /// What is the same for all attempts.
    package struct Options: Sendable {
        package var timeouts = TransferTimeouts(connect: .seconds(10), idle: .seconds(60))
        /// Of an answer's body, which is kept in the queue's file; a larger one is `unreadable`.
        package var answerBytes: UInt64 = 1 << 20
        package var redirects = RedirectPolicy.follow(limit: 10)
        package var security = SecurityPolicy.standard
        /// Where spooled bodies are.
        package var spoolPath = ""
        /// Whether the clock is known to be wrong, so that no certificate can be judged by it.
        package var isClockUnset: @Sendable () -> Bool = { false }

        package init() {}
    }

    private let engine: TransferEngine
    private let options: Options
    private weak var network: (any QueueNetwork)?
    /// Told of everything that comes of an attempt: the driver's ``QueueDriver/send(_:)``.
    private let report: (QueueCommand) -> Void
    private var transfers: [RequestID: TransferID] = [:]

    /// - Parameter network: Held weakly.
    package init(
        engine: TransferEngine, _ options: Options = Options(), network: any QueueNetwork,
        report: @escaping (QueueCommand) -> Void
    ) {
        self.engine = engine
        self.options = options
        self.network = network
        self.report = report
    }

    package func start(_ order: AttemptOrder, _ request: QueuedRequest) {
        let id = order.id
        let url: TransferURL
        do throws(TransferURL.Mistake) {
            url = try TransferURL(request.url)
        } catch {
            return report(.ended(id, .failed(TransferFault(.invalid, isSent: false))))
        }
        // When its first byte leaves is told only at the end: until then what must not be repeated counts as sent.
        if !request.isRepeatable { report(.requestSent(id)) }
        let transfer = self.transfer(order, request, url)
        transfers[id] = engine.start(
            transfer,
            handler: TransferHandler { [weak self] event in
                if case .finished(let end) = event { self?.finished(id, request, end) }
            })
    }

    package func abort(_ id: RequestID) {
        if let transfer = transfers.removeValue(forKey: id) { engine.cancel(transfer) }
    }

    package func checkPath(_ path: QueuePath) { network?.checkPath(path) }
    package func watch(_ destination: Destination) { network?.watch(destination) }
    package func unwatch(_ destination: Destination) { network?.unwatch(destination) }

    private func transfer(_ order: AttemptOrder, _ request: QueuedRequest, _ url: TransferURL) -> TransferRequest {
        var transfer = TransferRequest(request.method, url: url)
        transfer.headers = request.headers.map { HTTPField($0.name, $0.value) }
        switch request.body {
        case .none: transfer.body = .none
        case .inline(let bytes): transfer.body = .bytes(bytes)
        case .file(let path, _): transfer.body = .file(path: path)
        case .spooled(let name, _): transfer.body = .file(path: options.spoolPath + "/" + name)
        }
        transfer.interface = InterfaceBinding(name: order.path.interface, index: order.path.interfaceIndex)
        transfer.family = order.family
        transfer.timeouts = options.timeouts
        transfer.limit = ResponseLimit(bodyBytes: options.answerBytes, action: .fail)
        if let path = request.outputPath {
            transfer.sink = .file(FileSink(path: path))
            transfer.limit.bodyBytes = .max
        }
        transfer.redirects = options.redirects
        transfer.security = options.security
        return transfer
    }

    private func finished(_ id: RequestID, _ request: QueuedRequest, _ end: TransferReport) {
        guard transfers.removeValue(forKey: id) != nil else { return }
        let isSent = end.hops.contains { $0.phases.requestStarted != nil }
        switch end.outcome {
        case .success(let head):
            let headers = head?.fields.map { QueuedRequest.Header(name: $0.name, value: $0.value) } ?? []
            let result = RequestResult(
                status: head?.status ?? 0, headers: headers, body: answerBody(request, end))
            report(.ended(id, .answered(result, isAccepted: request.accepts(status: result.status))))
        case .failure(let failure):
            let fault = TransferFault(
                TransferFault.Cause(failure.reason), isClockUnset: options.isClockUnset(), isSent: isSent)
            report(.ended(id, .failed(fault)))
        }
    }

    private func answerBody(_ request: QueuedRequest, _ end: TransferReport) -> RequestBody {
        if let path = request.outputPath, end.body.isEmpty { return .file(path: path, bytes: Int64(end.receivedBytes)) }
        return end.body.isEmpty ? .none : .inline(end.body)
    }
}

/// What the queue asks of those who watch the network; see ``QueueExecutor``.
package protocol QueueNetwork: AnyObject {
    func checkPath(_ path: QueuePath)
    func watch(_ destination: Destination)
    func unwatch(_ destination: Destination)
}
