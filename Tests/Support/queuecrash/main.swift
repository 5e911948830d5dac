// queuecrash DIRECTORY JOURNAL POINT COUNT [PAGES]: queues COUNT requests and delivers all that is queued; the log is moved into
// the file after so many pages.
import Glibc
import ReachQueueStore

let arguments = CommandLine.arguments
guard 5...6 ~= arguments.count, let point = CrashRun.Point(rawValue: arguments[3]), let count = Int(arguments[4]) else {
    exit(2)
}
do throws(QueueStoreError) {
    let directory = try QueueDirectory(arguments[1])
    do {
        let run = try CrashRun(journal: arguments[2], point: point, count: count)
        run.checkpointPages = arguments.count == 6 ? Int(arguments[5]) : nil
        try run.run(directory)
    } catch {
        print("failed \(error)")
        exit(1)
    }
} catch {
    print("failed \(error)")
    if case .locked = error { exit(73) }
    exit(1)
}
