internal import FoundationEssentials

/// Creates the directories of downloads.
enum DirectoryMaker {
    /// Creates the directories above a path that do not exist, with the permissions that umask(2) leaves.
    static func makeParents(of path: String) throws(RequestError) {
        let directory = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        guard !directory.isEmpty else { return }
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            var failure = RequestError(.local, "file-failed", "\(directory): the directory cannot be created")
            failure.underlyingError = error
            throw failure
        }
    }
}
