internal import ReachCore
internal import ReachLoop

/// How far the requests of a long file are read.
struct StoreRestoring {
    /// What times of an earlier start of the machine are measured against.
    let now: Instant
    /// The number at which the next portion begins; `nil` after the last.
    var next: Int64? = .min
    var aside = RowsSetAside()
    /// The files of bodies that were there at the beginning. Those that no row names are removed at the end.
    let bodies: Set<String>
    /// Whether the check of the file is under way.
    var awaitsCheck: Bool
    var isDamaged = false

    init(at now: Instant, bodies: Set<String>, awaitsCheck: Bool) {
        self.now = now
        self.bodies = bodies
        self.awaitsCheck = awaitsCheck
    }
}

/// A file with many requests is read in portions, between writes and the readings of clients; a long one is checked
/// meanwhile, by another thread. Only when both have ended may anything be sent.
extension StoreWriter {
    /// Reads the next portion, and ends the restoring when there is none.
    func restoreNext() {
        guard retryAt == nil, let database, var state = restoring, !state.isDamaged else { return }
        do throws(SQLiteError) {
            if let next = state.next {
                let portion = try database.portion(from: next, limit: options.portion, at: state.now, &state.aside)
                state.next = portion.next
                restoring = state
                if !portion.requests.isEmpty { deliver(.restored(portion.requests)) }
            }
            guard state.next == nil, !state.awaitsCheck else { return }
            if database.makeSafe() { try removeBodies(state.bodies, database) }
            database.unfold()
            restoring = nil
            database.releaseCache()
            deliver(.allRestored(state.aside))
        } catch {
            if case .corrupt = error { restoring?.isDamaged = true } else { degrade(error.description) }
        }
    }

    /// Removes the files of bodies that no row names: those of requests that were never stored.
    func removeBodies(_ bodies: Set<String>, _ database: QueueDatabase) throws(SQLiteError) {
        // To find the names takes a look at every row.
        if bodies.isEmpty { return }
        for name in bodies.subtracting(try database.spoolNames()) { directory.removeSpoolFile(name) }
    }

    /// Checks the file by a connection of its own: SQLite reads every page for it.
    func startCheck() {
        BackgroundThread.start(named: "reach-check") { [jobs, path = directory.databasePath] in
            var isSound = true
            do throws(SQLiteError) {
                try SQLiteDatabase.open(path, forReading: true).check()
            } catch {
                // Any other failure says nothing of the file.
                if case .corrupt = error { isSound = false }
            }
            jobs.put(.checked(isSound: isSound))
        }
    }
}
