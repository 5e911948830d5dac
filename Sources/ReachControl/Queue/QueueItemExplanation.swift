package import ReachCore

/// Why a request is not running, and what would let it.
package struct QueueItemExplanation: Hashable, Sendable {
    package struct Reason: Hashable, Sendable {
        /// A stable word, of ``QueueItem/blockers``.
        package let blocker: String
        package let since: Instant
        /// When it ends by itself, where that is known.
        package let until: Instant?
        /// Whole sentences: what it is, and what would end it.
        package let text: String
        package let remedy: String

        package init(blocker: String, since: Instant, until: Instant?, text: String, remedy: String) {
            self.blocker = blocker
            self.since = since
            self.until = until
            self.text = text
            self.remedy = remedy
        }
    }

    package let item: QueueItem
    /// Empty when it runs, is about to, or is over.
    package let reasons: [Reason]
    /// The interface that it would go by, or goes by.
    package let interface: String?

    package init(item: QueueItem, reasons: [Reason], interface: String?) {
        self.item = item
        self.reasons = reasons
        self.interface = interface
    }
}
