// queuecrash DIRECTORY JOURNAL POINT COUNT [PAGES]: queues COUNT requests and delivers all that are queued. PAGES is
// the size of the write-ahead log, in pages, at which it is copied into the database. queuecrash DIRECTORY recover:
// opens the queue, and brings all into the database. Prints "opened" and the number of requests. queuecrash DIRECTORY
// soak DAYS: simulates DAYS in seconds, and prints the resources used after each day.
import Glibc
import ReachLoop
import ReachQueueRuntime

let arguments = CommandLine.arguments
do {
    if arguments.count == 4, arguments[2] == "soak", let days = Int(arguments[3]) {
        try Soak(try QueueDirectory(arguments[1])).run(days: days)
        exit(0)
    }
    if arguments.count == 3, arguments[2] == "recover" {
        try recover(try QueueDirectory(arguments[1]))
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

/// Does what a start and a stop of the daemon do to the files.
func recover(_ directory: QueueDirectory) throws {
    let opened = try WorkerSignal()
    let store = try QueueStore(directory) { notice in
        switch notice {
        case .opened(let contents):
            print("opened \(contents.requests.count)\(contents.setAside == nil ? "" : " reset")")
            opened.signal()
        case .failed(let error):
            print("failed \(error)")
            exit(1)
        default: break
        }
    }
    opened.wait()
    store.close(patience: .seconds(20))
}
