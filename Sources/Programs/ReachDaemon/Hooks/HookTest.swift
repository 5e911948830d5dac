internal import ReachControl
internal import ReachCore
internal import ReachLoop

/// One run of all hooks with a sample event, with what each of them did. Confined to the loop's thread.
final class HookTest {
    private let options: HookRunner.Options
    private let loop: EventLoop
    private let completion: (HookTestReport) -> Void
    private var runner: HookRunner?
    private var outcomes: [HookTestReport.Outcome] = []
    private var output: [String: [String]] = [:]
    /// The hooks that have not ended; `nil` until the directory was listed.
    private var open: Set<String>?
    private let loopReference = LoopReference<HookTest>()

    init(_ options: HookRunner.Options, on loop: EventLoop, completion: @escaping (HookTestReport) -> Void) {
        self.options = options
        self.loop = loop
        self.completion = completion
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    /// Starts them. The completion is called once, after this has returned.
    func start(_ event: HookEvent) {
        let (directory, mailbox, reference) = (options.directory, loop.mailbox, loopReference)
        // Reading the directory may wait for a disk.
        BackgroundThread.start(named: "reach-hook") {
            let listing = directory.list()
            mailbox.post { _ in reference.owner?.run(listing, event) }
        }
    }

    func stop() { runner?.stop() }

    private func run(_ listing: HookDirectory.Listing, _ event: HookEvent) {
        for (path, problem) in listing.refused.sorted(by: { $0.key < $1.key }) {
            outcomes.append(HookTestReport.Outcome(hook: path, isOK: false, end: "it is not run: \(problem)"))
        }
        open = Set(listing.hooks)
        guard !listing.hooks.isEmpty else { return end() }
        let runner = HookRunner(on: loop, options) { [unowned self] in handle($0) }
        self.runner = runner
        runner.handle(event)
    }

    private func handle(_ report: HookReport) {
        switch report {
        case .output(let hook, let line): output[hook, default: []].append(line)
        case .ended(let hook, let ending, _, _): finish(hook, isOK: ending == .exit(0), report)
        case .failed(let hook, _): finish(hook, isOK: false, report)
        case .timedOut(let hook, _): output[hook, default: []].append(report.text)
        case .refused: break
        }
    }

    private func finish(_ hook: String, isOK: Bool, _ report: HookReport) {
        guard open?.remove(hook) != nil else { return }
        outcomes.append(
            HookTestReport.Outcome(hook: hook, isOK: isOK, end: report.text, output: output[hook] ?? []))
        if open?.isEmpty == true { end() }
    }

    private func end() {
        let report = HookTestReport(
            directory: options.directory.path, outcomes: outcomes.sorted { $0.hook < $1.hook })
        loop.afterEvents { [weak self] in self?.completion(report) }
    }
}
