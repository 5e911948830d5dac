import Foundation
import ReachSession

/// downloader URL FILE: downloads to a file, with progress. Ctrl-C interrupts it, and the next run resumes there.
@main enum Downloader {
    static func main() async {
        guard CommandLine.arguments.count == 3 else {
            print("usage: downloader URL FILE")
            exit(2)
        }
        do throws(RequestError) {
            try await download(CommandLine.arguments[1], to: CommandLine.arguments[2])
        } catch {
            print("\(error)")
            exit(error.kind == .cancelled ? 130 : 1)
        }
    }

    private static func download(_ url: String, to file: String) async throws(RequestError) {
        let session = try RequestSession()
        let saved = SavedState(path: file + ".resume")
        let task: RequestTask
        if let resumeData = saved.read(), resumeData.url == url {
            print("resumes at \(resumeData.offset) bytes")
            task = try session.download(resuming: resumeData)
        } else {
            task = try session.download(url, to: file)
        }
        let (interrupts, source) = interrupts()
        defer { source.cancel() }
        await withTaskGroup { group in
            group.addTask {
                for await _ in interrupts { saved.write(await task.cancelProducingResumeData()) }
            }
            for await progress in task.resume().progressUpdates { show(progress) }
            group.cancelAll()
        }
        do throws(RequestError) {
            let response = try await task.response()
            saved.remove()
            print("\(task.progress.received) bytes in \(response.path ?? file)")
        } catch {
            // A connection that broke off leaves something to resume, too.
            if let resumeData = error.resumeData { saved.write(resumeData) }
            throw error
        }
    }

    private static func show(_ progress: TaskProgress) {
        guard progress.received > 0 else { return }
        // A server need not say how long the file is.
        guard let fraction = progress.fractionReceived else { return print("\(progress.received) bytes") }
        let marks = Int(fraction * 30)
        let bar = String(repeating: "#", count: marks) + String(repeating: "-", count: 30 - marks)
        print("[\(bar)] \(Int(fraction * 100)) %")
        fflush(nil)
    }

    /// One element for each Ctrl-C, in place of the end of the program, until the source is cancelled.
    private static func interrupts() -> (AsyncStream<Void>, any DispatchSourceSignal) {
        signal(SIGINT, SIG_IGN)
        let (events, continuation) = AsyncStream.makeStream(of: Void.self)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler { continuation.yield() }
        source.resume()
        return (events, source)
    }
}

/// The state of an interrupted download, in a file next to it.
private struct SavedState: Sendable {
    let path: String

    func read() -> ResumeData? { FileManager.default.contents(atPath: path).flatMap { ResumeData(Array($0)) } }

    func write(_ resumeData: ResumeData?) {
        guard let resumeData else { return }
        do {
            try Data(resumeData.bytes).write(to: URL(filePath: path), options: .atomic)
        } catch {
            print("the state cannot be saved:", error)
        }
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
