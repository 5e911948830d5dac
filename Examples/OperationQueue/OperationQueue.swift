import Glibc
import ReachSession

/// operation-queue URL: requests that depend on one another, as operations of an NSOperationQueue do. Each is sent after the one
/// before it, and only if that succeeded; others of the session are sent at the same time.
@main enum OperationQueue {
    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            print("usage: operation-queue URL")
            exit(2)
        }
        do throws(RequestError) {
            let options = RequestSessionOptions(program: "operation-queue")
            let session = try RequestSession(baseURL: CommandLine.arguments[1], options: options)
            // [order addDependency:login]; [invoice addDependency:order]; [mail addDependency:invoice];
            var dependent = RequestOptions()
            dependent.orderKey = "checkout"
            dependent.dependsOnPrevious = true
            let steps = [
                ("login", try session.post("token", parameters: ["grant": "password"], options: dependent)),
                ("order", try session.upload(Array("tea".utf8), to: "basket", options: dependent)),
                ("invoice", try session.get("invoices/1", options: dependent)),
                ("mail", try session.post("mails", parameters: ["to": "ann"], options: dependent)),
            ]
            // Resumed in this order, they are sent in this order.
            for (_, task) in steps { task.resume() }
            for (name, task) in steps { await show(name, task) }
            await session.closeAndWait()
        } catch {
            print("failed:", error)
            exit(1)
        }
    }

    private static func show(_ name: String, _ task: RequestTask) async {
        do throws(RequestError) {
            print("\(name):", try await task.response().statusCode)
        } catch {
            print("\(name):", error.word == "dependency" ? "not sent" : "\(error)")
        }
    }
}
