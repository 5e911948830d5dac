internal import Glibc
internal import ReachSession

/// upload DIRECTORY FILE URL [PATTERN]: the README's example. Links whose names match the pattern count as Wi-Fi. For
/// tests.
@main enum Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4 else { exit(2) }
        let (directory, file, url) = (arguments[1], arguments[2], arguments[3])
        var options = RequestSessionOptions()
        if arguments.count > 4 { options.linkClasses = [arguments[4]: .wifi] }
        let session = try RequestSession(keeping: .directory(directory), options: options)
        // From here on the code is that of the README, except for the flush of the output.
        let upload = try session.upload(file: file, to: url, when: .wifi)
        print("stored as", try await upload.stored())
        print(await upload.explanation())
        fflush(nil)
        print("the server said", try await upload.response().statusCode)
        await session.closeAndWait()
    }
}
