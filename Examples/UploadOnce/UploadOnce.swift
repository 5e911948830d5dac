import Glibc
import ReachSession

/// upload-once FILE URL: sends a file by POST to a server that does not recognise repetitions, at most once.
@main enum UploadOnce {
    static func main() async {
        guard CommandLine.arguments.count == 3 else {
            print("usage: upload-once FILE URL")
            exit(2)
        }
        do throws(RequestError) {
            var options = RequestOptions()
            // No other attempt, whatever happens while it is sent. It still waits for a network first.
            options.idempotency = .never
            options.retries = .never
            let session = try RequestSession(options: RequestSessionOptions(program: "upload-once"))
            let upload = try session.upload(
                file: CommandLine.arguments[1], to: CommandLine.arguments[2], method: "POST", options: options)
            let response = try await upload.response()
            print("the server said \(response.statusCode), after \(upload.metrics.exchanges.count) exchange")
        } catch  where error.kind == .indeterminate {
            print("it may have arrived, so look before you send it again:", error)
            exit(1)
        } catch {
            print("failed:", error)
            exit(1)
        }
    }
}
