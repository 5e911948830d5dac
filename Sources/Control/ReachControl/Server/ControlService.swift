package import ReachCore

/// The daemon's answers to io.reach.Monitor. Called on the event loop's thread; replies there, at once or later.
package protocol ControlService: AnyObject {
    typealias Reply<Value> = (Result<Value, MonitorError>) -> Void

    /// Gets the current state of a target, whether or not it is watched.
    func status(of target: Target, for caller: Caller, reply: @escaping Reply<ReachabilityState>)

    /// Watches a target on behalf of all its subscribers: the server calls this once for each target.
    ///
    /// - Parameter sink: Called with each event from now on, including the first determined state. May be called before
    ///   this method returns.
    func watch(
        _ target: Target, for caller: Caller, sink: @escaping (TargetEvent) -> Void
    ) throws(MonitorError) -> ControlWatch

    /// Finds out, until the returned function is called, whether gateways that did not answer are back: a client waits
    /// for a path. The server calls this once for all clients that wait.
    func seekPath() -> () -> Void

    /// The targets of the configuration, with their names.
    var targets: [(name: String, target: Target)] { get }

    /// The names of the configuration's networks, each once.
    var networkNames: [String] { get }

    /// Gets the machine's links, with their class and what they carry.
    func links(for caller: Caller, reply: @escaping Reply<[LinkReport]>)

    /// Explains why a target is reachable or not. May take seconds if a name must be resolved.
    func explain(_ target: Target, for caller: Caller, reply: @escaping Reply<Explanation>)

    /// Gets the reports of the configured probes, in the order of the configuration.
    ///
    /// - Parameters:
    ///   - after: How many of the first are left out.
    ///   - limit: At most so many.
    func probes(after: Int, limit: Int, for caller: Caller, reply: @escaping Reply<ProbePage>)

    /// Makes one attempt now. Every caller may name a configured probe. Only callers that may change something may give
    /// a URL, since the daemon may have rights to send packets that the caller does not have.
    func probe(_ order: ProbeOrder, for caller: Caller, reply: @escaping Reply<ProbeAnswer>)

    /// Reads a part of a page of the journal. A part may be empty although more parts follow.
    ///
    /// - Parameter owner: The user whose events of requests are read; `nil` for everybody's.
    func journal(
        _ query: JournalQuery, of owner: UInt32?, for caller: Caller, reply: @escaping Reply<JournalSlice>)

    /// Calls `handler` after events were written to the journal, until the returned function is called.
    func followJournal(_ handler: @escaping () -> Void) throws(MonitorError) -> () -> Void

    /// Runs the hooks with an event that says that nothing has happened. Called only for callers that may change
    /// something.
    func testHooks(for caller: Caller, reply: @escaping Reply<HookTestReport>)

    /// Reloads the configuration, and replies with the changed keys that count only from the next start on. Called only
    /// for callers that may change something.
    func reload(for caller: Caller, reply: @escaping Reply<[String]>)
}

/// The watch of a target, by which the server reads its state and ends it.
package struct ControlWatch {
    /// The current state, for a new subscriber; `nil` while it is not determined.
    package let state: () -> ReachabilityState?
    /// Ends the watch when the last subscriber has left.
    package let cancel: () -> Void

    package init(state: @escaping () -> ReachabilityState?, cancel: @escaping () -> Void) {
        self.state = state
        self.cancel = cancel
    }
}
