// queuecrash DIRECTORY JOURNAL POINT COUNT: queues COUNT requests and delivers all that is queued.
import Glibc
import ReachQueueStore

let arguments = CommandLine.arguments
guard arguments.count == 5, let point = CrashRun.Point(rawValue: arguments[3]), let count = Int(arguments[4]) else {
    exit(2)
}
do throws(QueueStoreError) {
    let directory = try QueueDirectory(arguments[1])
    do {
        try CrashRun(journal: arguments[2], point: point, count: count).run(directory)
    } catch {
        print("failed \(error)")
        exit(1)
    }
} catch {
    print("failed \(error)")
    if case .locked = error { exit(73) }
    exit(1)
}
