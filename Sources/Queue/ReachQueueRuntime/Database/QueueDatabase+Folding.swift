internal import ReachCore
internal import ReachQueue

/// The tables are the fold of the change log. A transaction of SQLite has what is pending: it is open while someone
/// reads, and it is committed when the changes are many. Who reads sees the tables alone, and writes nothing.
extension QueueDatabase {
    /// Brings what is pending into the tables, in memory alone. It stays so until ``flush()`` or ``unfold()``; until
    /// then no other program can write to the file.
    func foldPending() throws(SQLiteError) {
        if pending.isFolded { return }
        do throws(SQLiteError) {
            if !fold.isOpen {
                // Otherwise what does not fit into SQLite's cache would go into its log. Within a transaction this
                // changes nothing.
                try database.execute("PRAGMA cache_spill = OFF")
                try beginFold()
            }
            try applyPending()
        } catch {
            unfold()
            throw error
        }
    }

    private func beginFold() throws(SQLiteError) {
        do throws(SQLiteError) {
            try statements.transactions.begin.run()
        } catch {
            allowSpills()
            throw error
        }
        fold.begin()
    }

    /// Takes what is pending out of the tables again.
    func unfold() {
        guard fold.isOpen else { return }
        if database.isInTransaction { try? database.execute("ROLLBACK") }
        fold.undo()
        pending.markUnfolded()
        allowSpills()
    }

    private func allowSpills() { try? database.execute("PRAGMA cache_spill = ON") }

    /// Brings the pending changes into the tables for good. On a full disk it tries again in the reserve.
    ///
    /// - Throws: An error if the disk may have lost something (``TableSafety/mayHaveLostWrites``), or cannot be
    ///   written.
    func flush() throws(SQLiteError) {
        try safety.check()
        try flushAgain()
    }

    /// The same as ``flush()``, even if the disk may have lost what was written before.
    func flushAgain() throws(SQLiteError) {
        if pending.isEmpty { return }
        do throws(SQLiteError) {
            try commitFold()
        } catch {
            guard case .storage = error else { throw error }
            directory.giveUpReserve()
            hasUsedReserve = true
            try commitFold()
        }
        // If this fails, the tables have the changes all the same: the file is doubtful then, and what is written next
        // fails.
        if !safety.mayHaveLostWrites, safety.hasFilesToRemove { try? makeTablesSafe() }
    }

    private func commitFold() throws(SQLiteError) {
        // A transaction that fails does not shorten SQLite's log again: on a full disk the log would take the last of
        // the room, which the change log needs.
        guard directory.hasRoom(for: 2 * pendingBytes + (128 << 10)) else {
            unfold()
            throw .storage("the disk has no room for the changes that wait")
        }
        if !fold.isOpen { try beginFold() }
        do throws(SQLiteError) {
            try applyPending()
            try prune()
            try statements.transactions.setGeneration.run(.integer(changeLog.next))
            guard database.changedRows == 1 else { throw SQLiteError.corrupt("the table change_log has no row") }
            try statements.transactions.commit.run()
        } catch {
            unfold()
            throw error
        }
        fold.end()
        allowSpills()
        safety.committed(removing: fold.takeFilesToRemove())
        pending = PendingChanges()
        changeLog.beginNext()
    }

    // MARK: Changes

    /// Writes the pending changes that the open fold lacks. Those that the tables reject are noted in ``TableFold``.
    private func applyPending() throws(SQLiteError) {
        let changes = pending.effective
        let gone = pending.goneSinceFold
        let before = fold.now
        try database.execute("SAVEPOINT pending")
        do throws(SQLiteError) {
            for change in changes { try write(change) }
        } catch {
            guard case .rejected = error else { throw error }
            try database.execute("ROLLBACK TO pending")
            fold.now = before
            try applyOneByOne(changes)
        }
        try database.execute("RELEASE pending")
        // Together: mostly their numbers follow each other.
        try purge(changes.filter { $0.kind == .purge }.map(\.id) + gone.map(\.id))
        for request in gone { fold.now.filesToRemove += request.files }
        pending.markFolded()
        // Numbers of requests that are forgotten again are not given to others, either.
        if let last = changes.last(where: { $0.kind == .insert })?.id, last == pending.lastInserted { return }
        if pending.lastInserted > 0 {
            try statements.transactions.beginNumbers.run()
            try statements.transactions.raiseNumber.run(.integer(pending.lastInserted))
        }
    }

    private func applyOneByOne(_ changes: [LoggedChange]) throws(SQLiteError) {
        for change in changes {
            let before = fold.now
            try database.execute("SAVEPOINT one")
            do throws(SQLiteError) {
                try write(change)
            } catch {
                guard case .rejected(let reason) = error else { throw error }
                try database.execute("ROLLBACK TO one")
                fold.now = before
                fold.now.leftOut.append("\(change.kind) of \(change.id): \(reason)")
            }
            try database.execute("RELEASE one")
        }
    }

    /// Writes a change into the tables; purges follow together.
    private func write(_ change: LoggedChange) throws(SQLiteError) {
        let id = SQLiteValue.integer(change.id)
        switch change.kind {
        case .insert:
            if change.row.count == NewRow.writer.count {
                try statements.requests.insert.run(change.row)
            } else {
                try database.prepare(NewRow.writer.insertion(change.row.count)).run(change.row)
            }
            if let body = change.more.first { try statements.bodies.insert.run(id, body) }
        case .lease: try statements.requests.lease.run(change.row + [id])
        case .update: try statements.requests.update.run(ChangedRow.writer.filled(change.row) + [id])
        case .hold: try statements.requests.hold.run(change.row + [id])
        case .finish: try finish(change)
        case .purge: break
        case .markRead: try statements.requests.markRead.run(id)
        case .event: if let event = change.more.first { try outbox?.write(change.id, event) }
        case .trimEvents: try outbox?.trim(upTo: change.id)
        case .revive:
            try statements.requests.update.run(ChangedRow.writer.filled(change.row) + [id])
            // What it died of is over. The receipt has the file: the next answer gets the same name, so it goes before
            // a lease.
            try statements.answers.delete.run(id)
            try statements.requests.setDeadline.run(change.more + [id])
        case .holdQueue: try statements.others.holdQueue.run(id)
        case .releaseQueue: try statements.others.releaseQueue.run(id)
        case .openBreaker: try statements.others.openBreaker.run(change.more)
        case .closeBreaker: try statements.others.closeBreaker.run(change.more)
        case .join: for other in change.more { try statements.requests.setCarrier.run(id, other) }
        case .setMetered:
            if case .integer(0) = change.more[2], case .null = change.more[4], case .null = change.more[6] {
                try statements.others.removeMetered.run(change.more[0])
            } else {
                try statements.others.setMetered.run(change.more)
            }
        }
    }

    private func finish(_ change: LoggedChange) throws(SQLiteError) {
        let id = SQLiteValue.integer(change.id)
        let facts = try statements.requests.facts.first(id) { row in
            (owner: row.integer(0), texts: row.integer(1), body: row.integer(2), name: row.text(3))
        }
        // A row that was set aside has no end.
        guard let facts, let state = change.endState else { return }
        let bytes = (state == .dead ? 0 : facts.texts + RequestFacts.rowBytes) + change.answerBytes
        try statements.requests.finish.run(ChangedRow.writer.filled(change.row) + [.integer(bytes), id])
        // Only what is dead can be sent again.
        if state != .dead {
            if facts.body == 1 { try statements.bodies.delete.run(id) }
            if facts.body == 3, let name = facts.name {
                fold.now.filesToRemove.append(name)
                try statements.requests.forgetBody.run(id)
            }
        }
        if !change.more.isEmpty { try statements.answers.insert.run([id] + change.more) }
        if state != .dead { fold.now.kept.add(bytes, of: UInt32(clamping: facts.owner)) }
        fold.now.finished += 1
        fold.now.lastEnd = change.endTime ?? fold.now.lastEnd
    }

    // MARK: Safety

    /// Waits until all of the tables is on the disk. Only then the change log may be overwritten, so that a loss of
    /// power always leaves the beginning of what was written.
    func makeTablesSafe() throws(SQLiteError) {
        try safety.check()
        if safety.isSafe { return }
        try safety.makeSafe()
        changeLog.shorten()
    }

    /// Waits for the tables and the change log.
    ///
    /// - Returns: Whether all that was written is on the disk.
    func makeSafe() -> Bool {
        guard (try? makeTablesSafe()) != nil else { return false }
        guard pending.isEmpty || changeLog.sync() else {
            safety.doubt()
            return false
        }
        return true
    }

    /// Moves SQLite's log into the file and the file to the disk, so that nothing depends on SQLite's log or the change
    /// log any more.
    ///
    /// - Throws: An error even where another program reads, since SQLite's log then has to stay.
    func endDoubt() throws(SQLiteError) {
        unfold()
        guard try database.checkpoint(truncate: true) else {
            throw .storage("another program reads the queue's file")
        }
        try safety.endDoubt()
    }
}
