internal import Dispatch
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTesting
internal import Reachability
internal import Synchronization

/// Runs `body`, which may block, on a separate thread, since the concurrency runtime has few.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        BackgroundThread.start(named: "test") { continuation.resume(returning: body()) }
    }
}

/// Runs `body` on this many threads at the same time, and waits for all.
func onThreads<Value: Sendable>(_ count: Int, _ body: @escaping @Sendable (Int) -> Value) async -> [Value] {
    let start = DispatchSemaphore(value: 0)
    return await withTaskGroup(of: Value.self) { group in
        for number in 0..<count {
            group.addTask {
                await onThread {
                    start.wait()
                    return body(number)
                }
            }
        }
        await onThread { for _ in 0..<count { start.signal() } }
        return await group.reduce(into: []) { $0.append($1) }
    }
}

/// Polls `condition` until it holds, for ten seconds at most. For conditions without a callback.
func becomesTrue(_ condition: @escaping @Sendable () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
        if condition() { return true }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return condition()
}

/// A counter for use by any thread.
final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    func increment() { count.add(1, ordering: .sequentiallyConsistent) }
}

/// A weak reference, which shows whether a monitor is still alive.
final class Weak: Sendable {
    weak let monitor: ReachabilityMonitor?

    init(_ monitor: ReachabilityMonitor) { self.monitor = monitor }
}

extension DispatchSemaphore {
    /// Waits for a signal, for ten seconds at most.
    ///
    /// - Returns: Whether the signal came.
    func waitAWhile() -> Bool { wait(timeout: .now() + 10) == .success }
}

extension ReachabilityMonitor {
    /// A monitor of a fake source. It has its own notification center, so that tests do not see each other's changes.
    convenience init(
        _ source: any ChangeSource, _ target: Target = .internet, delivery: ReachabilityDelivery = .privateQueue,
        wantsInitialEvent: Bool = true, center: ReachabilityNotificationCenter = ReachabilityNotificationCenter()
    ) {
        var options = ReachabilityOptions()
        options.delivery = delivery
        options.wantsInitialEvent = wantsInitialEvent
        options.notificationCenter = center
        self.init(target, options: options, source: source)
    }
}

extension EventLog {
    /// A function that appends.
    var sink: @Sendable (Value) -> Void { { self.append($0) } }
}

/// Number of rtnetlink sockets that programs hold in the namespace. The kernel's own socket has port 0.
func netlinkSockets(in namespace: TestNamespace) throws -> Int {
    try namespace.run("cat", "/proc/net/netlink").split(separator: "\n").dropFirst()
        .filter { line in
            let fields = line.split(separator: " ")
            return fields[1] == "0" && fields[2] != "0"
        }.count
}

/// Number of descriptors that this process has open.
func openDescriptors() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}
