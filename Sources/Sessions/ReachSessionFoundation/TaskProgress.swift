public import Foundation
internal import ReachCore
public import ReachSession

extension RequestTask {
    /// Foundation's progress of the upload: AFURLSessionManager's `uploadProgressForTask:`.
    ///
    /// Cancelling it cancels the task; pausing and resuming it suspends and resumes the task. It is indeterminate until
    /// the length of the body is known, and finished when the task has succeeded. Each call makes a new one.
    public var uploadProgress: Progress { progress { ($0.sent, $0.toSend) } }

    /// Foundation's progress of the download, as ``uploadProgress``: AFURLSessionManager's `downloadProgressForTask:`.
    ///
    /// It stays indeterminate where the server does not send a length.
    public var downloadProgress: Progress { progress { ($0.received, $0.toReceive) } }

    private func progress(_ part: @escaping @Sendable (TaskProgress) -> (Int64, Int64?)) -> Progress {
        let progress = Progress(totalUnitCount: -1)
        progress.isCancellable = true
        progress.isPausable = true
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        progress.pausingHandler = { [weak self] in self?.suspend() }
        progress.resumingHandler = { [weak self] in _ = self?.resume() }
        let updates = progressUpdates
        Task { [weak self, weak progress] in
            for await value in updates {
                let (count, total) = part(value)
                progress?.totalUnitCount = total ?? -1
                progress?.completedUnitCount = count
            }
            guard case .success = self?.result, let progress else { return }
            // A body of unknown length, or an empty one, is complete now.
            if progress.totalUnitCount <= 0 { progress.totalUnitCount = max(progress.completedUnitCount, 1) }
            progress.completedUnitCount = progress.totalUnitCount
        }
        return progress
    }
}
