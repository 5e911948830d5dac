internal import ReachCore
internal import ReachLoop
package import ReachQueue

/// Passes the driver's commands to the transfers and the path checker.
extension QueueEngine: QueueExecutor {
    package func begin(_ contents: StoreContents) { attempts.adopt(contents) }

    /// Files of answers go with their requests.
    package func published(_ event: QueueEvent) {
        guard event.kind.isEnd, let id = event.request else { return }
        attempts.forget(id, isCancelled: event.kind == .cancelled, keepsAnswer: event.status != nil)
    }

    package func start(_ order: AttemptOrder, _ request: QueuedRequest) { attempts.start(order, request) }

    package func abort(_ id: RequestID) { attempts.abort(id) }

    package func prepare(_ id: RequestID) { attempts.prepare(id) }

    package func abandon(_ id: RequestID) { attempts.abandon(id) }

    package func checkPath(_ path: QueuePath) {
        // The endpoints are in the Internet: they say nothing of a path to one host.
        guard let checker, feed.last?[interfaceIndex: path.interfaceIndex] != nil else {
            return answerByEvidence(path)
        }
        checker.check(path) { [weak self] works in
            guard let works else { self?.answerByEvidence(path); return }
            self?.driver.send(.pathChecked(interfaceIndex: path.interfaceIndex, works: works, isProof: true))
        }
    }

    /// Without a checker the queue's own attempts decide. If they show nothing, the path counts as working, since the
    /// kernel has it, and the failure as the destination's.
    private func answerByEvidence(_ path: QueuePath) {
        let works = attempts.evidence(on: path) != .fails
        // After the turn in which the driver asked.
        loop.afterEvents { [weak self] in
            self?.driver.send(.pathChecked(interfaceIndex: path.interfaceIndex, works: works))
        }
    }
}
