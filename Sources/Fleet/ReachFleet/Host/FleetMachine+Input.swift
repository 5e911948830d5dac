package import ReachCore

extension FleetMachine {
    /// What happened.
    package enum Input: Hashable, Sendable {
        case start
        /// The connection stands.
        case connected(Server)
        /// It ended, or could not be made.
        case disconnected(Loss)
        /// The answer to ``Action/readTail(_:)``.
        case tail(UInt64, TailAnswer)
        /// The answer to ``Action/readMark(_:)``.
        case mark(UInt64, MarkAnswer)
        /// The answer to ``Action/publish(_:_:expecting:)``.
        case published(UInt64, PublishAnswer)
        /// A page of the journal, from the cursor of the last ``Action/openJournal(after:)`` on.
        case journal(EntryPage)
        /// Whether the daemon answers. Without it no page of the journal comes; the reader continues where it was.
        case daemon(isThere: Bool)
        /// The daemon answers, and records no events.
        case noJournal
        /// The daemon answers, and does not hand out its events now.
        case journalRefused
        /// What the host is now. The machine fills in what it knows itself.
        case state(HostState)
        case stateStored(Bool)
        case leaseStored(Bool)
        /// The lease was refused, since it is no longer the one that this connection wrote last.
        case leaseTaken
        /// The answer to ``Action/readLease``.
        case lease(LeaseAnswer)
        /// The lease was refused, since the engine's store is full.
        case leaseFull
        /// The path to the Internet: whether there is one, and whether it is metered. The epoch increases with each
        /// change of it.
        case path(exists: Bool, isMetered: Bool, epoch: UInt64)
        /// The desired document of this revision is applied.
        case applied(UInt64)
        /// ``FleetMachine/deadline`` has come.
        case tick
        /// Say goodbye.
        case stop
    }

    /// What to do, in this order.
    package enum Action: Hashable, Sendable {
        case connect
        case disconnect
        /// Read the last message of the host's subject. The number comes back with the answer.
        case readTail(UInt64)
        /// Read the host's own state in the engine, which says what the engine once had of it. The number comes back
        /// with the answer.
        case readMark(UInt64)
        /// Read the journal after this cursor, from the oldest event on without one, and then new events.
        case openJournal(after: JournalCursor?)
        case closeJournal
        /// Append to the host's subject if its last sequence is `expecting`.
        case publish(UInt64, EventChunk, expecting: UInt64)
        case putState(HostState)
        /// Read the host's own lease, which says when the engine had its last word. Renewing waits for the answer.
        case readLease
        /// Write the lease, if it still is what this connection wrote last.
        case putLease(HostLease)
        case deleteLease
        /// Keep this for the next run.
        case remember(FleetMemory)
        /// The word changed: log it once.
        case word(FleetWord)
    }

    package struct Server: Hashable, Sendable {
        /// Its name until it ends, which all its clients know alike; `nil` if there is none.
        package var start: String?
        /// The largest payload that it accepts, in bytes.
        package var payloadLimit: Int

        package init(start: String? = nil, payloadLimit: Int = 1 << 20) {
            self.start = start
            self.payloadLimit = payloadLimit
        }
    }

    /// Why there is no connection.
    package enum Loss: Hashable, Sendable {
        case unreachable
        case refused
        /// The time of the host's token is over. A file may have a newer one.
        case tokenEnded
        /// The key is accepted, and has no right to the host's subjects.
        case wrongHost
        case untrusted
        case portal
        case clock
        /// The server begins with TLS, which libnats cannot.
        case tlsFirst
    }

    package enum PublishAnswer: Hashable, Sendable {
        case stored(sequence: UInt64, isDuplicate: Bool)
        /// The subject's last sequence is another one.
        case wrongTail(last: UInt64)
        case tooLarge
        case full
        case refused
        /// No stream, no leader, no answer.
        case unavailable
    }

    package enum MarkAnswer: Hashable, Sendable {
        /// The engine's stream had the host's events up to this one.
        case had(JournalCursor)
        /// The engine has no state of the host, or one from before its first event, or it does not let the host read
        /// it.
        case none
        case unavailable
    }

    package enum LeaseAnswer: Hashable, Sendable {
        case renewed(HostLease, at: Timestamp)
        /// The host deleted it, when it said goodbye.
        case deleted(at: Timestamp)
        /// There is none, or the engine does not let the host read it.
        case none
    }

    package enum TailAnswer: Hashable, Sendable {
        /// The subject has no message.
        case none
        case message(sequence: UInt64, EventChunk)
        /// A message that is not a chunk: someone else wrote it.
        case foreign(sequence: UInt64)
        case refused
        case unavailable
    }
}
