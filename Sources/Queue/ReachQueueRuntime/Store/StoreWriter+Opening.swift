internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// How the file is opened: a damaged one is set aside, and on a full disk the reserve is given up.
extension StoreWriter {
    func open() throws {
        let now = SystemClock.now
        var contents: StoreContents
        var trouble: SQLiteError?
        do {
            (contents, trouble) = try openDatabase(at: now)
        } catch SQLiteError.corrupt {
            // Only once: a new file is not damaged.
            database = nil
            let aside = try directory.setAside(at: now.wall.nanosecondsSince1970 / 1_000_000_000)
            (contents, trouble) = try openDatabase(at: now)
            contents.setAside = aside
        } catch let error as SQLiteError {
            throw QueueStoreError.database(error)
        }
        deliver(.opened(contents))
        if let database { report(database) }
        if let trouble {
            _ = directory.fillReserve(options.reserveBytes / 2)
            database?.hasUsedReserve = false
            return degrade(trouble.description)
        }
        if let database { keepReserve(database) }
    }

    /// - Returns: What the file holds, and if the disk has no room the error: the file is in use even then.
    private func openDatabase(at now: Instant) throws -> (StoreContents, SQLiteError?) {
        let database = try openWithReserve(at: now)
        var trouble: SQLiteError?
        do throws(SQLiteError) {
            try database.flush()
        } catch {
            guard case .storage = error else { throw error }
            trouble = error
        }
        let isLong = try !database.isChecked || database.rowCount() > options.portion
        let aside = try database.begin(at: now, looksAtRequests: !isLong)
        var contents = try isLong ? database.contentsBeforeRequests(at: now) : database.contents(at: now)
        // Numbers continue beyond those of any earlier file, so that no number is given twice.
        if contents.nextID == 1, directory.hasFileSetAside {
            contents.nextID = now.wall.nanosecondsSince1970 / 1_000_000_000
        }
        contents.rowsSetAside = aside
        // A spool file is deleted only if nothing on the disk names it any more.
        let isSafe = database.makeSafe()
        let spool = try directory.sweepSpool(
            keeping: database.answerNames, isOpen: database.isOpen, removes: isSafe)
        (contents.begunAnswers, contents.begunUploads) = (spool.answers, spool.uploads)
        if isLong {
            restoring = StoreRestoring(at: now, bodies: spool.bodies, awaitsCheck: !database.isChecked)
        } else if isSafe {
            try removeBodies(spool.bodies, database)
        }
        try database.repeatOutbox()
        database.unfold()
        self.database = database
        if restoring?.awaitsCheck == true { startCheck() }
        try follow()
        // If this fails for lack of room, the first request fails for the same reason.
        if !database.hasUsedReserve, trouble == nil { _ = directory.fillReserve(options.reserveBytes) }
        return (contents, trouble)
    }

    private func openWithReserve(at now: Instant) throws -> QueueDatabase {
        func opened() throws -> QueueDatabase {
            try QueueDatabase(directory, options, schema, outbox: outbox, at: now, bootIdentity: BootIdentity.current)
        }
        do {
            return try opened()
        } catch SQLiteError.storage {
            directory.giveUpReserve()
            let database = try opened()
            database.hasUsedReserve = true
            return database
        }
    }

    func follow() throws(SystemError) {
        try syncer?.follow(directory.changeLogPath)
    }
}
