// queuecrash DIRECTORY JOURNAL POINT COUNT [PAGES]: queues COUNT requests and delivers all that is queued; the log is moved into
// the file after so many pages.
// queuecrash DIRECTORY soak DAYS: lives through so many days in seconds, and prints what that takes.
import Glibc
import ReachQueueRuntime

let arguments = CommandLine.arguments
do {
    if arguments.count == 4, arguments[2] == "soak", let days = Int(arguments[3]) {
        try Soak(try QueueDirectory(arguments[1])).run(days: days)
        exit(0)
    }
    guard 5...6 ~= arguments.count, let point = CrashRun.Point(rawValue: arguments[3]), let count = Int(arguments[4])
    else { exit(2) }
    let directory = try QueueDirectory(arguments[1])
    let run = try CrashRun(journal: arguments[2], point: point, count: count)
    run.checkpointPages = arguments.count == 6 ? Int(arguments[5]) : nil
    try run.run(directory)
} catch QueueStoreError.locked(let path, let process) {
    print("failed \(QueueStoreError.locked(path: path, process: process))")
    exit(73)
} catch {
    print("failed \(error)")
    exit(1)
}
