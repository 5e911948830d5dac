internal import ReachCore

/// Files and the end.
extension TransferMachine {
    var hasEnded: Bool { if case .ended = state { true } else { false } }

    /// The action that follows from the last one; `nil` if the next event decides.
    mutating func proceed() -> Action? {
        if opensSink {
            opensSink = false
            return openSink()
        }
        guard case .finishing(let outcome) = state else { return nil }
        state = .ended
        return .finish(.finished(report(outcome)))
    }

    /// Ends the transfer without a report.
    mutating func cancel() {
        state = .ended
        opensSink = false
        disarm()
    }

    // MARK: - Files

    private mutating func openSink() -> Action? {
        guard isTransferring, case .file(let sink) = request.sink, let head = record.head,
            head.status == 200 || head.status == 206
        else { return nil }
        guard keptBytes > 0 || sink.memoryBytes == 0 else { return nil }
        return openFile(sink, keep: keptBytes, first: [])
    }

    mutating func openFile(_ sink: FileSink, keep: UInt64, first: [UInt8]) -> Action? {
        record.hasFile = true
        return .openFile(
            FileOpening(
                sink: sink, keep: keep, entityTag: resumableTag, expected: expectedBytes.map { keep + $0 }, first: first
            ))
    }

    /// The length of the body that arrives; `nil` if the server has not sent it, or sends it in another form.
    private var expectedBytes: UInt64? {
        guard let head = record.head, head["content-encoding"] == nil, let text = head["content-length"],
            let bytes = UInt64(text), bytes <= request.limit.bodyBytes
        else { return nil }
        return bytes
    }

    mutating func fileClosed(_ failure: TransferFailure?, at now: BootTime) -> Action? {
        guard case .flushing(let outcome) = state else { return nil }
        guard let failure else { return finish(outcome, at: now) }
        record.isFileGood = false
        // The first failure says more.
        if case .failure = outcome { return finish(outcome, at: now) }
        return finish(.failure(failure), at: now)
    }

    // MARK: - The end

    /// Ends the transfer, once its file is written if it has one.
    mutating func end(_ outcome: Outcome, at now: BootTime) -> Action? {
        guard record.hasFile else { return finish(outcome, at: now) }
        disarm()
        state = .flushing(outcome)
        return .closeFile
    }

    mutating func finish(_ outcome: Outcome, at now: BootTime) -> Action? {
        disarm()
        opensSink = false
        record.updateHop { $0.phases.finished = now }
        state = .finishing(outcome)
        if let progress = record.dueProgress(at: now, isLast: true) { return .report(.progress(progress)) }
        return proceed()
    }

    private func report(_ outcome: Outcome) -> TransferReport {
        var report = TransferReport(outcome: outcome, hops: record.hops)
        report.body = record.body
        report.fileBytes = record.hasFile ? fileBytes : nil
        report.isCut = record.isCut
        report.sentBytes = record.sentBytes
        report.receivedBytes = record.receivedBytes
        report.resume = resumePoint(outcome)
        return report
    }

    /// Bytes of the file that an earlier transfer wrote.
    private var keptBytes: UInt64 { record.head?.status == 206 ? request.resumable?.offset ?? 0 : 0 }

    /// The number of bytes in the file that belong to the resource.
    private var fileBytes: UInt64 { keptBytes + record.counts.received }

    private func resumePoint(_ outcome: Outcome) -> ResumePoint? {
        guard case .failure = outcome, record.hasFile, record.isFileGood else { return nil }
        return resumableTag.map { ResumePoint(offset: fileBytes, entityTag: $0) }
    }

    /// The strong entity tag that identifies the bytes of this response; `nil` if there is none, and for an error page.
    private var resumableTag: String? {
        guard request.method == "GET", !request.hasOwnRange, let head = record.head,
            head.status == 200 || head.status == 206, let tag = head["etag"], ResumePoint.isStrong(tag)
        else { return nil }
        // The offset would be one of decoded bytes.
        return request.decodes(head) && head["content-encoding"] != nil ? nil : tag
    }
}
