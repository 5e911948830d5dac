extension RequestSession {
    /// The events of tasks from now on: what ``addObserver(forName:task:using:)`` calls its block with, in the same order.
    ///
    ///     for await event in session.events(forName: .didComplete) { print(event.task.identifier) }
    ///
    /// The sequence ends with its consumer's task. It keeps the newest 1,024 events that were not read; a consumer that is
    /// slower than that misses the oldest.
    ///
    /// - Parameters:
    ///   - name: The notification to observe; all if `nil`.
    ///   - task: The task to observe; all if `nil`.
    public func events(
        forName name: RequestNotification? = nil, task: RequestTask? = nil
    ) -> AsyncStream<RequestEvent> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { continuation in
            let observer = addObserver(forName: name, task: task) { continuation.yield($0) }
            continuation.onTermination = { [weak core = self.core] _ in core?.observers.remove(observer) }
        }
    }
}
