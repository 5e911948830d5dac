package import ReachCore
internal import ReachLoop

extension JSONWriter {
    /// A request, as `reach queue show --json` prints it.
    package mutating func queueItem(_ item: QueueItem, at moment: Instant) {
        queueObject("queue-item", at: moment) { json in
            json.field("id", item.id)
            json.field("user", Int64(item.user))
            json.field("state", item.state)
            json.field("reason", item.reason)
            json.field("blockers", item.blockers)
            json.field("method", item.method)
            json.field("url", item.url)
            json.field("when", item.when)
            json.field("priority", item.priority)
            json.field("order", item.order)
            json.field("key", item.key)
            json.field("idempotency_key", item.idempotencyKey)
            json.field("body_bytes", item.bodyBytes)
            json.field("created", item.created)
            json.field("deadline", item.deadline)
            json.field("not_before", item.notBefore?.description)
            json.field("over", item.over?.description)
            json.field("attempts", item.attempts.wide)
            json.field("network_failures", item.networkFailures.wide)
            json.field("tries", item.tries.wide)
            if let progress = item.running {
                json.field("progress", object: { $0.queueProgress(progress) })
            } else {
                json.field("progress", String?.none)
            }
            json.field("status", item.status?.wide)
            json.field("answer_bytes", item.answerBytes)
        }
    }

    /// The members that tell how far an attempt is.
    mutating func queueProgress(_ progress: QueueProgress) {
        field("interface", progress.interface)
        field("began", progress.began.wall)
        field("began_boottime_ns", progress.began.boot.nanoseconds)
        field("sent", progress.sent)
        field("to_send", progress.toSend)
        field("received", progress.received)
        field("to_receive", progress.toReceive)
    }

    package mutating func queueReceipt(_ receipt: QueueReceipt, at moment: Instant) {
        queueObject("queue-receipt", at: moment) { json in
            json.field("id", receipt.id)
            json.field("kept", receipt.isKept)
        }
    }

    package mutating func queueExplanation(_ explanation: QueueItemExplanation, at moment: Instant) {
        queueObject("queue-explanation", at: moment) { json in
            json.key("request")
            json.queueItem(explanation.item, at: moment)
            json.field("interface", explanation.interface)
            json.field("reasons", array: { json in for reason in explanation.reasons { json.queueReason(reason) } })
        }
    }

    private mutating func queueReason(_ reason: QueueItemExplanation.Reason) {
        object { json in
            json.field("blocker", reason.blocker)
            json.field("since", reason.since.wall)
            json.field("since_boottime_ns", reason.since.boot.nanoseconds)
            json.field("until", reason.until?.wall.description)
            json.field("until_boottime_ns", reason.until?.boot.nanoseconds)
            json.field("text", reason.text)
            json.field("remedy", reason.remedy)
        }
    }

    package mutating func queueAnswer(_ answer: QueueAnswer, at moment: Instant) {
        queueObject("queue-answer", at: moment) { json in
            json.field("id", answer.id)
            json.field("state", answer.state)
            json.field("status", answer.status.wide)
            json.field(
                "headers",
                array: { json in
                    for header in answer.headers {
                        json.object {
                            $0.field("name", header.name)
                            $0.field("value", header.value)
                        }
                    }
                })
            json.field("body_bytes", answer.bodyBytes)
            json.field("offset", answer.offset)
            json.field("data", base64: answer.bytes)
        }
    }

    private mutating func queueObject(_ type: String, at moment: Instant, _ body: (inout JSONWriter) -> Void) {
        object { json in
            json.field("v", 1)
            json.field("type", type)
            json.times(moment.wall, moment.boot)
            body(&json)
        }
    }
}

extension EncodedEvent {
    /// From here on nothing is missed: the first line of a watch of the queue, and the one after `dropped`.
    package static func queueWatching(at moment: Instant) -> EncodedEvent {
        EncodedEvent("queue", at: moment) { $0.field("event", "watching") }
    }

    static func queueProgress(_ progress: QueueProgress, at moment: Instant) -> EncodedEvent {
        EncodedEvent("queue", at: moment) { json in
            json.field("event", "progress")
            json.field("id", progress.id)
            json.queueProgress(progress)
        }
    }
}

extension QueueNotice {
    /// The line that tells it.
    package var encoded: EncodedEvent {
        switch self {
        case .event(let record): .queue(record)
        case .progress(let progress): .queueProgress(progress, at: SystemClock.now)
        }
    }
}
