internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// io.reach.Queue: what is asked of the daemon's request queue.
package enum QueueInterface {
    package static let name = "io.reach.Queue"

    /// The text of io.reach.Queue.varlink, which SwiftPM embeds in the code.
    package static let definition = String(decoding: PackageResources.io_reach_Queue_varlink, as: UTF8.self)

    /// When a page has this many bytes, no further request is written to it: the rest of a message is for the last one.
    package static let pageBytes = 256 << 10

    static func make(_ service: any QueueService, _ topics: Topics) -> VarlinkInterface {
        let methods = [reading(service, topics), changing(service)]
        return VarlinkInterface(
            name: name, definition: definition,
            methods: methods.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
        )
    }

    private static func reading(_ service: any QueueService, _ topics: Topics) -> [String: VarlinkInterface.Method] {
        [
            "List": .init(["states", "after", "limit"], cost: .large) { request throws(VarlinkError) in
                let filter = try request.filter()
                service.list(filter, for: request.caller, inTurn: request.continueInTurn) { result in
                    request.replyLater(result) { json, page in json.queuePage(page, at: SystemClock.now) }
                }
            },
            "Show": .init(["id"], cost: .large) { request throws(VarlinkError) in
                service.show(try request.id(), for: request.caller) { result in
                    request.reply(result, "request") { $0.queueItem($1, at: SystemClock.now) }
                }
            },
            "Explain": .init(["id"], cost: .large) { request throws(VarlinkError) in
                service.explain(try request.id(), for: request.caller) { result in
                    request.reply(result, "explanation") { $0.queueExplanation($1, at: SystemClock.now) }
                }
            },
            "Result": .init(["id", "offset", "length"], cost: .large) { request throws(VarlinkError) in
                let offset = try request.natural("offset") ?? 0
                let length = min(try request.natural("length") ?? .max, Int64(QueueAnswer.longest))
                service.result(try request.id(), from: offset, upTo: Int(length), for: request.caller) { result in
                    request.replyLater(result) { json, answer in
                        json.key("answer")
                        json.queueAnswer(answer, at: SystemClock.now)
                    }
                }
            },
            "Holds": .init([], cost: .change) { request throws(VarlinkError) in
                service.holds(for: request.caller) { result in
                    request.reply(result) { json, holds in
                        json.key("holds")
                        holds.write(to: &json)
                    }
                }
            },
            "Status": .init([], cost: .change) { request throws(VarlinkError) in
                service.status(for: request.caller) { result in
                    request.reply(result, "status") { $0.queueStatus($1, at: SystemClock.now) }
                }
            },
            "Watch": .init(["id"]) { request throws(VarlinkError) in
                let id = try request.natural("id")
                guard request.call.wantsMore else { throw .expectedMore }
                try request.stream(topics, request: id)
            },
        ]
    }

    private static func changing(_ service: any QueueService) -> [String: VarlinkInterface.Method] {
        [
            "Add": .init(RequestSpecification.parameterNames, cost: .change) { request throws(VarlinkError) in
                let specification = try RequestSpecification(request.call.parameters)
                guard !specification.isOverBudget || request.mayChange else {
                    let who = "root, the daemon's own user and the members of the group socket.group"
                    throw QueueServiceError.notPermitted(reason: "only \(who) go beyond a budget for metered links")
                        .varlink
                }
                service.add(specification, for: request.caller) { result in
                    request.reply(result, "receipt") { $0.queueReceipt($1, at: SystemClock.now) }
                }
            },
            "Upload": .init(["name", "data", "memory"], cost: .change) { request throws(VarlinkError) in
                let piece = QueueUpload.Piece(name: try request.text("name"), try request.pieceContent())
                service.upload(piece, for: request.caller) { result in
                    request.reply(result) { json, upload in
                        json.field("name", upload.name)
                        json.field("bytes", upload.bytes)
                    }
                }
            },
            "Hold": .init(["id", "all"], cost: .change) { request throws(VarlinkError) in
                service.hold(try request.selection(), for: request.caller) { request.reply($0) }
            },
            "Release": .init(["id", "all"], cost: .change) { request throws(VarlinkError) in
                service.release(try request.selection(), for: request.caller) { request.reply($0) }
            },
            "HoldForFleet": .init(["held", "reason"], cost: .change) { request throws(VarlinkError) in
                guard let isHeld = try request.optionalFlag("held") else { throw .invalidParameter("held") }
                let reason = try request.text("reason")
                guard request.mayHoldForFleet else {
                    let who = "root, the daemon's own user and the members of the group queue.fleet_group"
                    throw QueueServiceError.notPermitted(reason: "only \(who) hold the queue for the fleet").varlink
                }
                service.setFleetHold(isHeld, reason: reason) { request.reply($0) }
            },
            "Cancel": .init(["id"], cost: .change) { request throws(VarlinkError) in
                service.cancel(try request.id(), for: request.caller) { request.reply($0) }
            },
            "Retry": .init(["id", "all", "reason"], cost: .change) { request throws(VarlinkError) in
                let selection = try request.selection()
                let reason = try request.text("reason")
                // One that is named is sent again whatever it died of.
                if reason != nil, selection != .all { throw .invalidParameter("reason") }
                service.retry(selection, reason: reason, for: request.caller) { result in
                    request.reply(result) { $0.field("count", $1.wide) }
                }
            },
        ]
    }
}

extension JSONWriter {
    /// As many requests as there is room for; the rest are on the next page.
    fileprivate mutating func queuePage(_ page: QueuePage, at moment: Instant) {
        var next = page.next
        field(
            "requests",
            array: { json in
                for (index, item) in page.items.enumerated() {
                    guard json.count < QueueInterface.pageBytes else {
                        next = page.items[index - 1].id.rawValue
                        break
                    }
                    json.queueItem(item, at: moment)
                }
            })
        field("next", next)
        field("count", page.count.wide)
    }
}
