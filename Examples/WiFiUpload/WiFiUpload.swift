import Glibc
import ReachSession

/// wifi-upload DIRECTORY FILE URL [PATTERN]: uploads a file once there is Wi-Fi. The directory keeps the upload, so that a
/// later run continues it. Links whose names match the pattern count as Wi-Fi, for a machine without.
@main enum WiFiUpload {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4 else {
            print("usage: wifi-upload DIRECTORY FILE URL [PATTERN]")
            exit(2)
        }
        var options = RequestSessionOptions(program: "wifi-upload")
        if arguments.count > 4 { options.linkClasses = [arguments[4]: .wifi] }
        do throws(RequestError) {
            let session = try RequestSession(keeping: .directory(arguments[1]), options: options)
            for task in await session.tasks() {
                print("request", task.storedNumber ?? 0, "of an earlier run continues")
            }
            try await upload(arguments[2], to: arguments[3], in: session)
            await session.closeAndWait()
        } catch {
            print("not uploaded:", error)
            exit(1)
        }
    }

    private static func upload(_ file: String, to url: String, in session: RequestSession) async throws(RequestError) {
        let upload = try session.upload(file: file, to: url, when: .wifi)
        print("stored as", try await upload.stored())
        print(await upload.explanation())
        // What was printed is seen at once, also in a pipe.
        fflush(nil)
        print("the server said", try await upload.response().statusCode)
    }
}
