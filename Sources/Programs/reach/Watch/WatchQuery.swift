internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTerminal

/// A watch of one target, as `reach watch` runs it.
struct WatchQuery {
    enum Form: Equatable {
        case json, pretty
        /// A line in the user's form, where it differs from the last.
        case lines(StatusTemplate)
        /// Lines for people on a terminal, otherwise JSON.
        case byOutput
    }

    var target: Target = .internet
    var form: Form = .byOutput
    var source: DaemonOptions.Source
    var kernelOptions = ReachabilityEngine.Options()

    func run() throws {
        if StandardDescriptors.outputWasClosed { StandardOutput.fail(EBADF) }
        SignalSource.block([SIGINT, SIGTERM, SIGHUP])
        do {
            let loop = try EventLoop()
            try SignalSource.watch([SIGINT, SIGTERM, SIGHUP], on: loop) { _ in loop.stop() }
            let printer = EventPrinter(form, source: source, loop: loop)
            let watch = TargetWatch(
                of: target, from: source, kernelOptions: kernelOptions, withRequests: target == .internet, on: loop
            ) { event, source in printer.write(event, from: source) }
            loop.afterEvents { watch.start() }
            loop.run()
            printer.finish()
            if let failure = watch.failure { throw failure }
        } catch let error as SystemError {
            throw CommandError(status: .cannotObserve, message: "cannot watch: \(error)")
        }
    }
}
