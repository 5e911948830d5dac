internal import ReachControl
internal import ReachCore
internal import ReachQueue

/// What the screen of `reach top` shows, and what a key does to it.
struct TopState {
    enum Page: Hashable { case all, queue, probes }

    /// The queue of the daemon, as far as the screen shows it.
    struct Queue: Hashable {
        /// Running requests, then waiting ones, then those that were given up.
        var items: [RequestReport] = []
        /// All requests that are not over.
        var count = 0
        var holds: [QueueHold] = []
    }

    /// What a key asks the daemon for.
    enum Order: Hashable {
        case hold(Int64), release(Int64), cancel(Int64), retry(Int64), explain(Int64)
    }

    enum Effect: Hashable {
        case none, redraw, quit, order(Order)
    }

    var page: Page
    /// The present, for ages.
    var now: Instant
    var internet: ReachabilityState?
    var links: [LinkReport] = []
    /// The strength of the signal of Wi-Fi links in dBm, by name.
    var signals: [String: Int] = [:]
    /// The broken ones first.
    var probes: [ProbeReport] = [] {
        didSet { firstProbe = min(firstProbe, max(0, probes.count - 1)) }
    }
    /// The first one on the page of the probes.
    private(set) var firstProbe = 0
    var queue = Queue()
    /// Why there is no queue; `nil` if there is one.
    var queueTrouble: String?
    /// The rates of running requests in bytes per second.
    var rates: [Int64: Int64] = [:]
    /// Why the daemon does not answer; what is shown is then the last that it said.
    var away: String?
    /// The result of the last key.
    var message: String?
    /// Why a request waits, as sentences; `nil` unless it was asked for.
    var explanation: [String]?
    private(set) var selected: Int64?
    /// The request that the next key cancels, or not.
    private(set) var isAskedToCancel: Int64?

    /// The place of the selected request.
    var selectedPlace: Int? { queue.items.firstIndex { $0.id.rawValue == selected } }

    /// Keeps the selection, or chooses its neighbour if its request is gone.
    mutating func update(_ fresh: Queue) {
        let place = selectedPlace ?? 0
        queue = fresh
        guard selectedPlace == nil else { return }
        selected = fresh.items.isEmpty ? nil : fresh.items[min(place, fresh.items.count - 1)].id.rawValue
        isAskedToCancel = nil
    }

    /// - Parameter rows: The requests that a page of the screen shows.
    mutating func handle(_ key: TopKey, rows: Int) -> Effect {
        if let id = isAskedToCancel { return answer(key, id) }
        message = nil
        if explanation != nil {
            explanation = nil
            return key == .character("q") ? .quit : .redraw
        }
        switch key {
        case .character("q"), .character("\u{3}"): return .quit
        case .tab, .character("\t"): page = nextPage
        case .up, .character("k"): move(by: -1)
        case .down, .character("j"): move(by: 1)
        case .pageUp: move(by: -max(1, rows))
        case .pageDown, .character(" "): move(by: max(1, rows))
        case .home, .character("g"): move(by: -max(queue.items.count, probes.count))
        case .end, .character("G"): move(by: max(queue.items.count, probes.count))
        case .character("h"): return order { .hold($0) }
        case .character("r"): return order { .release($0) }
        case .character("t"): return order { .retry($0) }
        case .character("e"), .enter: return order { .explain($0) }
        case .character("c"):
            isAskedToCancel = selected
            message = selected.map { "cancel request \($0)? y or n" } ?? "no request is selected"
        case .escape, .character: return .none
        }
        return .redraw
    }

    private mutating func answer(_ key: TopKey, _ id: Int64) -> Effect {
        isAskedToCancel = nil
        message = nil
        return key == .character("y") ? .order(.cancel(id)) : .redraw
    }

    private mutating func order(_ make: (Int64) -> Order) -> Effect {
        if let selected { return .order(make(selected)) }
        message = "no request is selected"
        return .redraw
    }

    private var nextPage: Page {
        switch page {
        case .all: .queue
        case .queue: probes.isEmpty ? .all : .probes
        case .probes: .all
        }
    }

    /// Those that are down, then those of which nothing is known, those that are paused, and those that are up.
    static func brokenFirst(_ probes: [ProbeReport]) -> [ProbeReport] {
        let ranks: [(ProbeReport) -> Bool] = [
            { $0.pause == nil && $0.state == .down }, { $0.pause == nil && $0.state != .down && $0.state != .up },
            { $0.pause != nil }, { $0.pause == nil && $0.state == .up },
        ]
        return ranks.flatMap { probes.filter($0) }
    }

    private mutating func move(by rows: Int) {
        if page == .probes {
            firstProbe = min(max(firstProbe + rows, 0), max(0, probes.count - 1))
            return
        }
        guard !queue.items.isEmpty else { return }
        let place = min(max((selectedPlace ?? 0) + rows, 0), queue.items.count - 1)
        selected = queue.items[place].id.rawValue
    }

    /// When the screen differs without an event: each second while a request runs or waits for a time, and when a
    /// probe's next result is due. `nil` if never.
    var nextChange: Duration? {
        var times: [Duration] = []
        if queue.items.contains(where: { $0.running != nil || $0.notBefore != nil }) { times.append(.seconds(1)) }
        // The age of a waiting request is shown in minutes after the first one.
        if !queue.items.isEmpty { times.append(.seconds(10)) }
        let due = probes.compactMap { probe in
            probe.next.map { $0.nanosecondsSince1970 - now.wall.nanosecondsSince1970 }
        }
        if let next = due.min() { times.append(max(.milliseconds(500), .nanoseconds(next) + .milliseconds(250))) }
        if !signals.isEmpty { times.append(.seconds(5)) }
        return times.min()
    }
}

/// A key of the keyboard.
enum TopKey: Hashable {
    case up, down, pageUp, pageDown, home, end, enter, escape, tab
    case character(Character)

    /// The keys in what a terminal sends. Sequences that are not known are skipped.
    static func keys(in bytes: [UInt8]) -> [TopKey] {
        var keys: [TopKey] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            switch byte {
            case 0x1b: keys.append(contentsOf: sequence(&rest))
            case 0x0a, 0x0d: keys.append(.enter)
            case 0x09: keys.append(.tab)
            case 0x03, 0x20...0x7e: keys.append(.character(Character(Unicode.Scalar(byte))))
            default: continue
            }
        }
        return keys
    }

    /// What follows an escape (ECMA-48, and xterm's keys).
    private static func sequence(_ rest: inout ArraySlice<UInt8>) -> [TopKey] {
        guard let first = rest.first, first == UInt8(ascii: "[") || first == UInt8(ascii: "O") else { return [.escape] }
        rest.removeFirst()
        let parameters = rest.prefix { 0x30...0x3f ~= $0 }
        rest = rest.dropFirst(parameters.count)
        guard let final = rest.popFirst() else { return [] }
        switch (final, String(decoding: parameters, as: UTF8.self)) {
        case (UInt8(ascii: "A"), _): return [.up]
        case (UInt8(ascii: "B"), _): return [.down]
        case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), "1"), (UInt8(ascii: "~"), "7"): return [.home]
        case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), "4"), (UInt8(ascii: "~"), "8"): return [.end]
        case (UInt8(ascii: "~"), "5"): return [.pageUp]
        case (UInt8(ascii: "~"), "6"): return [.pageDown]
        default: return []
        }
    }
}
