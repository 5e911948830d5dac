import ReachDaemon
import ReachTesting
import Testing

@Suite struct HookQueueTests {
    private var queue = HookQueue()

    private func event(_ number: Int, of target: String = "internet") -> HookEvent {
        HookEvent(
            target.hasPrefix("request:") ? .requestDone : .change, target: target, json: [],
            environment: ["NUMBER": "\(number)"])
    }

    private func shown(_ run: HookQueue.Run?) -> String? {
        run.map { "\($0.hook) \($0.event.target) \($0.event.environment["NUMBER"] ?? "") skipped \($0.skipped)" }
    }

    @Test mutating func `every idle hook runs at once`() {
        #expect(
            queue.add(event(1), for: ["a", "b"]).map(shown) == ["a internet 1 skipped 0", "b internet 1 skipped 0"])
        #expect(queue.running == ["a", "b"])
        #expect(queue.finished("a") == nil)
        #expect(queue.running == ["b"])
        #expect(queue.add(event(2), for: ["a", "b"]).map(shown) == ["a internet 2 skipped 0"])
    }

    @Test mutating func `a busy hook gets only the newest event, and the number it missed`() {
        _ = queue.add(event(1), for: ["a"])
        for number in 2...5 { #expect(queue.add(event(number), for: ["a"]) == []) }
        #expect(shown(queue.finished("a")) == "a internet 5 skipped 3")
        #expect(queue.finished("a") == nil)
        #expect(shown(queue.add(event(6), for: ["a"]).first) == "a internet 6 skipped 0")
    }

    @Test mutating func `a hook learns the state before the oldest change that it missed`() {
        func change(from status: String, of target: String = "internet") -> HookEvent {
            HookEvent(
                target == "internet" ? .change : .requestDone, target: target, json: [],
                environment: ["REACH_PREVIOUS_STATUS": status])
        }
        #expect(queue.add(change(from: "unknown"), for: ["a"]).first?.environment["REACH_LAST_STATUS"] == "unknown")
        for status in ["reachable", "not-reachable", "unknown"] { _ = queue.add(change(from: status), for: ["a"]) }
        let run = queue.finished("a")
        #expect(run?.environment["REACH_LAST_STATUS"] == "reachable" && run?.environment["REACH_SKIPPED"] == "2")
        _ = queue.add(change(from: "reachable"), for: ["a"])
        for number in 0...HookQueue.limit {
            _ = queue.add(change(from: "unknown", of: "request:\(number)"), for: ["a"])
        }
        var last: HookQueue.Run?
        while let run = queue.finished("a") { last = run }
        #expect(last?.skipped == 1 && last?.environment["REACH_LAST_STATUS"] == nil, "it missed another target's")
    }

    @Test mutating func `beyond the limit the newest event takes the last place`() {
        _ = queue.add(event(0), for: ["a"])
        for number in 1...HookQueue.limit + 10 { _ = queue.add(event(number, of: "request:\(number)"), for: ["a"]) }
        var runs: [String] = []
        while let run = shown(queue.finished("a")) { runs.append(run) }
        #expect(runs.count == HookQueue.limit)
        #expect(runs.first == "a request:1 1 skipped 0")
        let last = HookQueue.limit + 10
        #expect(runs.last == "a request:\(last) \(last) skipped 10")
    }

    @Test mutating func `many ends of requests push out no change of the network, before or after them`() {
        _ = queue.add(event(0), for: ["a"])
        _ = queue.add(event(1, of: "before"), for: ["a"])
        for number in 1...HookQueue.limit { _ = queue.add(event(number, of: "request:\(number)"), for: ["a"]) }
        _ = queue.add(event(2), for: ["a"])
        for number in 1000...1100 { _ = queue.add(event(number, of: "request:\(number)"), for: ["a"]) }
        var runs: [String] = []
        while let run = shown(queue.finished("a")) { runs.append(run) }
        #expect(runs.count == HookQueue.limit + 2)
        #expect(runs.first == "a before 1 skipped 0")
        #expect(runs.last == "a internet 2 skipped 0")
    }

    @Test mutating func `a busy hook gets the newest event of each target, in the order of their first changes`() {
        _ = queue.add(event(1), for: ["a"])
        for (number, target) in [(2, "x"), (3, "y"), (4, "x"), (5, "internet")] {
            _ = queue.add(event(number, of: target), for: ["a"])
        }
        #expect(shown(queue.finished("a")) == "a x 4 skipped 1")
        #expect(shown(queue.finished("a")) == "a y 3 skipped 0")
        #expect(shown(queue.finished("a")) == "a internet 5 skipped 0")
        #expect(queue.finished("a") == nil)
    }

    @Test mutating func `nothing starts after the queue stops`() {
        _ = queue.add(event(1), for: ["a"])
        _ = queue.add(event(2), for: ["a"])
        queue.stop()
        #expect(queue.finished("a") == nil)
        #expect(queue.add(event(3), for: ["a"]) == [])
    }

    @Test(arguments: 0..<50)
    func `a hook never runs twice at a time, and ends with the newest event of each target`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = HookQueue()
        let hooks = ["a", "b", "c"]
        let targets = ["x", "y"]
        var (running, handled, newest): (Set<String>, [String: Int], [String: HookEvent]) = ([], [:], [:])
        var last: [String: HookEvent] = [:]
        func start(_ run: HookQueue.Run) {
            #expect(running.insert(run.hook).inserted, "it runs already")
            handled[run.hook, default: 0] += 1 + run.skipped
            last[run.hook + run.event.target] = run.event
        }
        for number in 0..<200 {
            if random.oneIn(2) {
                let event = event(number, of: random.pick(targets))
                newest[event.target] = event
                queue.add(event, for: hooks).forEach(start)
            } else if let hook = running.randomElement(using: &random) {
                running.remove(hook)
                if let next = queue.finished(hook) { start(next) }
            }
            #expect(queue.running == running)
        }
        while let hook = running.first {
            running.remove(hook)
            if let next = queue.finished(hook) { start(next) }
        }
        for hook in hooks {
            #expect(handled[hook] == handled["a"])
            for target in targets { #expect(last[hook + target] == newest[target]) }
        }
    }
}
