internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// What happens when the disk fails or is full: what may be refused is refused, all else is kept and tried again.
extension StoreWriter {
    /// Refuses the transactions that may be refused. Writes the others into the reserved space, so that a client can
    /// cancel on a full disk. Those that do not fit there either are kept in memory, and their clients are refused a
    /// confirmation.
    func writeNecessary(_ batch: [StoreTransaction], _ reason: String) {
        for transaction in batch where transaction.mayBeRefused {
            deliver(.notCommitted(transaction.number, reason))
        }
        let needed = batch.filter { !$0.mayBeRefused }
        if needed.isEmpty { return }
        if kept.isEmpty, database?.safety.mayHaveLostWrites != true {
            directory.giveUpReserve()
            do throws(SQLiteError) {
                return try commit(needed)
            } catch {
                degrade(error.description)
            }
        }
        kept += needed
        for transaction in needed { deliver(.postponed(transaction.number)) }
    }

    func degrade(_ reason: String) {
        if retryAt == nil { deliver(.degraded(reason)) }
        retryAt = SystemClock.boot + options.retryInterval
    }

    /// Handles transactions that waited for the disk when it failed. Refuses those that may be refused, and keeps a
    /// transaction that removes their requests again; the others are reported once the file is whole again.
    func doubt(_ receipts: [StoreReceipt]) {
        for receipt in receipts {
            guard receipt.transaction.mayBeRefused else {
                unsafe.append(receipt)
                deliver(.postponed(receipt.transaction.number))
                continue
            }
            let number = receipt.transaction.number
            deliver(.notCommitted(number, "it may not have reached the disk"))
            let inserted = receipt.transaction.changes.compactMap {
                if case .insert(let stored, _) = $0 { stored.id } else { nil }
            }
            guard !inserted.isEmpty else { continue }
            kept.append(
                StoreTransaction(number: number, changes: [.purge(inserted)], mayBeRefused: false))
        }
    }

    /// Reports a transaction that cannot be written, now or later; the others continue. If it may not be refused, the
    /// file keeps the request's old row until the request is written the next time.
    func giveUp(_ receipt: StoreReceipt, _ reason: String) {
        let transaction = receipt.transaction
        if retryAt == nil { deliver(.degraded(reason)) }
        if transaction.mayBeRefused {
            deliver(.notCommitted(transaction.number, reason))
        } else {
            deliver(.postponed(transaction.number))
            deliver(receipt.notice)
        }
        if retryAt == nil { deliver(.degraded(nil)) }
    }

    func keepReserve(_ database: QueueDatabase) {
        guard database.hasUsedReserve else { return }
        database.hasUsedReserve = false
        // What fits of the reserve is taken again, before other programs take the room. New requests wait until all of
        // it fits.
        if !directory.fillReserve(options.reserveBytes) { _ = directory.fillReserve(options.reserveBytes / 2) }
        degrade("the disk is full")
    }

    /// Opens the file again, then writes the kept transactions. The file may be another one now, and SQLite's own
    /// memory cannot be trusted after a failed write. Until the new connection has written the changes in memory, the
    /// old one stays in use.
    func retry() {
        guard let old = database else { return }
        do {
            old.unfold()
            let reopened = try QueueDatabase(
                directory, options, schema, outbox: outbox, at: SystemClock.now, bootIdentity: BootIdentity.current,
                replacing: old)
            try reopened.flushAgain()
            // From here on the old connection lacks what the new one has written.
            database = reopened
            let mayHaveLostBefore = reopened.safety.mayHaveLostWrites
            try settleDoubt(reopened)
            while !kept.isEmpty {
                let batch = Array(kept.prefix(options.batch))
                try commit(batch)
                kept.removeFirst(batch.count)
            }
            if !mayHaveLostBefore { try reopened.checkpoint() }
            // New requests wait until there is room for ends and changes again.
            guard directory.fillReserve(options.reserveBytes) else {
                // What fits is taken before other programs take the room.
                _ = directory.fillReserve(options.reserveBytes / 2)
                retryAt = SystemClock.boot + options.retryInterval
                return
            }
            reopened.hasUsedReserve = false
            retryAt = nil
            deliver(.degraded(nil))
        } catch {
            // What fits of the reserve is taken before other programs take the room: changes until the next try may
            // need it.
            _ = directory.fillReserve(options.reserveBytes / 2)
            retryAt = SystemClock.boot + options.retryInterval
        }
    }

    /// Makes sure that the file can be written, then ends the transactions that wait for the disk.
    private func settleDoubt(_ database: QueueDatabase) throws {
        report(database)
        if database.safety.mayHaveLostWrites { try database.endDoubt() }
        _ = try database.begin(at: SystemClock.now)
        try database.probe()
        try follow()
        checkpoint.pages = 0
        for receipt in unsafe { Self.settle(receipt, directory, deliver) }
        unsafe = []
    }
}
