import Glibc
import ReachSession

/// operation-queue URL: requests that depend on one another, as operations of an NSOperationQueue do. Each is sent after those that
/// it depends on, and only if they succeeded; others of the session are sent at the same time.
@main enum OperationQueue {
    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            print("usage: operation-queue URL")
            exit(2)
        }
        do throws(RequestError) {
            let options = RequestSessionOptions(program: "operation-queue")
            let session = try RequestSession(baseURL: CommandLine.arguments[1], options: options)
            let login = try session.post("token", parameters: ["grant": "password"])
            let order = try session.upload(Array("tea".utf8), to: "basket")
            let invoice = try session.get("invoices/1")
            let mail = try session.post("mails", parameters: ["to": "ann"])
            // [order addDependency:login]; [invoice addDependency:order]; [mail addDependency:invoice];
            try order.addDependency(on: login, mustSucceed: true)
            try invoice.addDependency(on: order, mustSucceed: true)
            try mail.addDependency(on: invoice, mustSucceed: true)
            // They may be resumed in any order.
            let steps = [("login", login), ("order", order), ("invoice", invoice), ("mail", mail)]
            for (_, task) in steps.reversed() { task.resume() }
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
