internal import Glibc
internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachRecords

/// The daemon's state on disk: its history, its journal and its queue.
extension Daemon {
    /// Locks the state directory. Two daemons must not write one history or one queue, so without the lock neither is
    /// available.
    ///
    /// - Throws: If another daemon holds the lock. Any other failure is only logged.
    func claimState() throws(StartError) {
        let usual = HistoryFiles.directory(isRoot: getuid() == 0, environment: SocketPath.processEnvironment)
        guard
            configuration.history.entries > 0 || configuration.queue.isEnabled
                || !configuration.journal.events.isEmpty,
            let directory = options.stateDirectory ?? configuration.history.directory ?? usual
        else { return }
        do throws(FileLock.Failure) {
            stateDirectory = try StateDirectory(directory)
        } catch {
            switch error {
            case .held(let process): throw .stateInUse(directory: directory, process: process)
            case .unsafe(let path, let reason):
                log.error("history, journal and queue are unavailable", metadata: ["error": "\(path): \(reason)"])
            case .failed(let error):
                log.warning("history, journal and queue are unavailable", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Gives networks without a name an identifier.
    func startNetworks() {
        guard let directory = stateDirectory?.path else { return }
        do throws(SystemError) {
            registry.use(try NetworkKeyFile.key(in: directory))
        } catch {
            log.warning("networks without a name get no identifier", metadata: ["error": "\(error)"])
        }
    }

    func startHistory() {
        guard configuration.history.entries > 0, let directory = stateDirectory?.path else { return }
        let files = HistoryFiles(directory: directory)
        // Before this run's first record.
        let earlier = (try? files.read()).map { OutageBook($0, now: SystemClock.now, boot: BootIdentity.current) }
        do throws(SystemError) {
            let history = try EventHistory(
                files, entries: configuration.history.entries, at: SystemClock.now, boot: BootIdentity.current
            ) { [log] in log.warning("\($0)") }
            history.scheduleSigns(on: loop) { [unowned self] in
                records.sampleTraffic()
                queue.openAgain()
            }
            let traffic = TrafficCounter(stateDirectory: directory, thread: history.thread, loop: loop)
            records.open(history, traffic, outages: earlier ?? OutageBook())
            applyOutageTests()
        } catch {
            log.warning("the history is unavailable", metadata: ["error": "\(error)"])
        }
    }

    /// Tests the way in outages where the configuration wants it, and where there is a history for what is found.
    func applyOutageTests() {
        guard configuration.history.testsOutages, records.hasHistory else { return internet.tester = nil }
        guard internet.tester == nil else { return }
        internet.tester = OutageTester(on: loop) { [unowned self] in
            let (files, memory) = ([configuration], registry.engine.memory(of: .internet))
            return {
                let result = try? SingleDiagnosis.run("internet", files: files, memory: memory)
                return result.map { OutageEvidence($0.0, of: "internet") }
            }
        } record: { [unowned self] in
            records.record($0)
        }
    }

    /// Opens the journal if any kind of event is wanted.
    func startJournal() {
        guard !configuration.journal.events.isEmpty, let directory = stateDirectory?.path else { return }
        do throws(SystemError) {
            let journal = try Journal(
                JournalFiles(stateDirectory: directory), configuration.journalOptions, loop: loop, at: SystemClock.now,
                boot: BootIdentity.current, encoder: encoder
            ) { [log] in log.warning("\($0)") }
            journal.onSafe = { [unowned self] in queue.trimOutbox(upTo: $0) }
            queue.onFileEvent = { [unowned self] in records.journal?.record($0) }
            records.open(journal)
        } catch {
            log.warning("the journal is unavailable", metadata: ["error": "\(error)"])
        }
    }

    func startQueue() {
        guard configuration.queue.isEnabled, let directory = stateDirectory?.path else { return }
        queue.open(
            in: directory, configuration, version: options.version, network: registry.engine,
            outbox: records.journal?.outbox)
        registry.followSurvey { [unowned self] in queue.update(survey: $0) }
        queue.onBrokenPath = { [unowned self] in registry.noteFailure() }
        queue.checkLimit = { [unowned self] in
            registry.checkLimit(over: $0, $1) ?? configuration.connectivity.timeout
        }
        queue.onAnswer = { [unowned self] in registry.noteAnswer(in: nil) }
    }
}
