import ReachCore
import ReachSession
import ReachTesting
import Synchronization
import Testing

/// The activity with a lock, a clock and a timer inside, and the one over all sessions. ``ActivityIndicatorTests`` has
/// the rules.
@Suite(.timeLimit(.minutes(1))) struct RequestActivityTests {
    /// An activity whose clock and alarm are the test's.
    private final class Stage: Sendable {
        let activity: RequestActivity
        let shown = EventLog<Bool>()
        let alarms = EventLog<BootTime>()
        private let now: Now

        private final class Now: Sendable {
            let milliseconds = Mutex<Int64>(0)
            var time: BootTime { BootTime(nanoseconds: milliseconds.withLock { $0 } * 1_000_000) }
        }

        init(isEnabled: Bool = true) {
            let (now, alarms) = (Now(), alarms)
            self.now = now
            activity = RequestActivity(ActivityIndicator(isEnabled: isEnabled), clock: { now.time }) {
                alarms.append($0)
            }
            activity.setBlock(shown.sink)
        }

        func pass(_ milliseconds: Int64) {
            now.milliseconds.withLock { $0 += milliseconds }
            if let last = alarms.values.last, last <= now.time { activity.advance() }
        }
    }

    @Test func `the hundred thousandth change costs what the first one does`() {
        let activity = RequestActivity()
        for _ in 0..<50_000 {
            activity.increment()
            activity.decrement()
        }
        #expect(activity.activityCount == 0)
    }

    @Test func `an activity that is off counts without asking for the time`() {
        let asked = Mutex(0)
        let activity = RequestActivity(
            ActivityIndicator(isEnabled: false),
            clock: {
                asked.withLock { $0 += 1 }
                return BootTime(nanoseconds: 0)
            }, alarm: { _ in })
        activity.increment()
        activity.decrement()
        activity.increment()
        #expect(activity.activityCount == 1 && asked.withLock { $0 } == 0)
        activity.setEnabled(true)
        activity.increment()
        #expect(asked.withLock { $0 } > 0 && activity.indicatorState == .delayingStart)
    }

    @Test func `increments and decrements show activity after AFNetworking's delays`() {
        let stage = Stage()
        let activity = stage.activity
        #expect(activity.startDelay == .seconds(1) && activity.endDelay == .milliseconds(170) && activity.isEnabled)
        activity.increment()
        activity.increment()
        stage.pass(999)
        #expect(!activity.isVisible && activity.activityCount == 2 && activity.indicatorState == .delayingStart)
        stage.pass(1)
        #expect(activity.isVisible && stage.shown.values == [true])
        activity.decrement()
        stage.pass(1_000)
        #expect(activity.isVisible)
        activity.decrement()
        stage.pass(169)
        #expect(activity.isVisible && activity.indicatorState == .delayingEnd)
        stage.pass(1)
        #expect(!activity.isVisible && stage.shown.values == [true, false])
    }

    @Test func `decrements in excess do not count, nor does anything show while it is off`() {
        let stage = Stage(isEnabled: false)
        stage.activity.decrement()
        stage.activity.increment()
        #expect(stage.activity.activityCount == 1 && stage.alarms.values.isEmpty && !stage.activity.isEnabled)
        stage.activity.setEnabled(true)
        stage.activity.increment()
        stage.pass(1_000)
        #expect(stage.shown.values == [true])
        stage.activity.setEnabled(false)
        #expect(stage.shown.values == [true, false] && stage.activity.activityCount == 2)
    }

    @Test func `delays can be changed, and a short burst is not shown`() {
        let stage = Stage()
        (stage.activity.startDelay, stage.activity.endDelay) = (.milliseconds(20), .milliseconds(5))
        stage.activity.increment()
        stage.activity.decrement()
        stage.pass(20)
        #expect(stage.shown.values.isEmpty && stage.activity.indicatorState == .notActive)
        stage.activity.increment()
        stage.pass(20)
        stage.activity.decrement()
        stage.pass(5)
        #expect(stage.shown.values == [true, false])
    }

    @Test func `an activity of one's own has a timer`() async throws {
        let activity = RequestActivity(
            ActivityIndicator(startDelay: .milliseconds(10), endDelay: .milliseconds(10), isEnabled: true))
        let shown = EventLog<Bool>()
        activity.setBlock(shown.sink)
        activity.increment()
        #expect(try await shown.wait(for: 1) == [true])
        activity.decrement()
        #expect(try await shown.wait(for: 2) == [true, false])
    }

    @Test func `one activity counts the requests of all sessions`() async throws {
        let slow = try SlowServer()
        let all = RequestActivity(
            ActivityIndicator(startDelay: .zero, endDelay: .zero, isEnabled: true), delivery: .immediate)
        let shown = EventLog<Bool>()
        all.setBlock(shown.sink)
        var options = RequestSessionOptions()
        #expect(options.sharedActivity === RequestActivity.shared)
        options.sharedActivity = all
        let sessions = [try RequestSession(options: options), try RequestSession(options: options)]
        options.sharedActivity = nil
        let apart = try RequestSession(options: options)
        let tasks = try (sessions + [apart]).map { try $0.get(slow.url).resume() }
        #expect(all.activityCount == 2 && sessions.map(\.activity.activityCount) == [1, 1])
        #expect(try await shown.wait(for: 1) == [true])
        tasks[0].cancel()
        #expect(all.activityCount == 1 && all.isVisible)
        slow.gate.open()
        _ = try await tasks[1].response()
        #expect(try await shown.wait(for: 2) == [true, false])
        #expect(all.activityCount == 0 && shown.values.count == 2)
        // A session that is closed counts nothing any more.
        let closing = try SlowServer()
        try sessions[0].get(closing.url).resume()
        #expect(all.activityCount == 1)
        sessions[0].close()
        #expect(all.activityCount == 0)
    }

    @Test func `many threads may count`() async {
        let activity = RequestActivity(ActivityIndicator(isEnabled: true))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1_000 {
                        activity.increment()
                        activity.decrement()
                    }
                }
            }
        }
        #expect(activity.activityCount == 0)
    }
}

extension EventLog {
    /// A function that appends.
    fileprivate var sink: @Sendable (Value) -> Void { { self.append($0) } }
}
