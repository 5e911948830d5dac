internal import Glibc
package import ReachCore
package import ReachLoop
package import ReachQueue

/// Writes event lines to a descriptor. A reader that is too slow loses lines; later it receives their number and the
/// current state.
package final class EventLines {
    package typealias Encoder = (inout EventStream) -> [UInt8]

    private let output: LineOutput
    private var stream: EventStream
    private var latest: ReachabilityState?
    private var droppedCount = 0
    private let recover: (Int, ReachabilityState, inout EventStream) -> [UInt8]

    /// - Parameters:
    ///   - recover: Makes the lines for a reader that has caught up, from the number of lines it missed and the state.
    ///   - onClose: Called with 0 when the reader has gone, or with the error number.
    package init(
        _ descriptor: CInt, on loop: EventLoop, source: StatusSource = .kernel,
        recover: @escaping (Int, ReachabilityState, inout EventStream) -> [UInt8] = EventLines.snapshotAfterLoss,
        onClose: @escaping (CInt) -> Void
    ) {
        output = LineOutput(descriptor, on: loop)
        stream = EventStream(source: source)
        self.recover = recover
        output.onClose = onClose
        output.onDrain = { [unowned self] in catchUp() }
    }

    /// The source named in the status of each line, from the next line on.
    package var source: StatusSource {
        get { stream.source }
        set { stream.source = newValue }
    }

    /// Writes a line, unless the reader is behind.
    ///
    /// - Parameter state: The state from now on; `nil` if it has not changed.
    package func write(_ state: ReachabilityState?, _ encode: Encoder) {
        latest = state ?? latest
        guard droppedCount == 0 else { return droppedCount += 1 }
        // A line that is not written must not use up a number.
        var next = stream
        let line = encode(&next)
        if output.write(line) { stream = next } else { droppedCount = 1 }
    }

    /// Writes a line for an event of a target.
    package func write(_ event: TargetEvent) {
        let state: ReachabilityState? = if case .change(let change) = event { change.state } else { nil }
        write(state) { $0.line(event.encoded(source: $0.source)) }
    }

    /// Writes a line for an event of the queue.
    package func write(_ event: QueueEvent) { write(nil) { $0.line(.queue(event)) } }

    /// Waits for the reader to read pending lines, for a short time. To be called when the loop has ended.
    package func finish() { output.flush(patienceMilliseconds: 200) }

    /// Makes a `dropped` line and a snapshot.
    package static func snapshotAfterLoss(
        _ count: Int, _ state: ReachabilityState, _ stream: inout EventStream
    ) -> [UInt8] {
        let now = SystemClock.now
        return stream.dropped(count: count, at: now)
            + stream.snapshot(state, isInitial: false, cause: .resync, at: now)
    }

    private func catchUp() {
        guard droppedCount > 0, let latest else { return }
        let count = droppedCount
        droppedCount = 0
        _ = output.write(recover(count, latest, &stream))
    }
}
