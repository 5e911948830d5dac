internal import ReachCore
internal import ReachLoop
package import ReachQueue

/// Passes the driver's commands to the transfers, the path checker and the network.
extension QueueEngine: QueueExecutor {
    package func begin(_ contents: StoreContents) { attempts.adopt(contents) }

    /// Files of answers go with their requests.
    package func published(_ event: QueueEvent) {
        switch event.kind {
        case .done, .dead, .cancelled:
            if let id = event.request { attempts.forget(id, keepsAnswer: event.status != nil) }
        default: break
        }
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

    package func watch(_ destination: Destination, for owner: UInt32) {
        guard watches[destination] == nil, let target = destination.target else { return }
        watches[destination] = network.follow(target, for: owner) { [weak self] event in
            guard let self, case .change(let change) = event else { return }
            report(change.state, of: destination)
        }
    }

    func report(_ state: ReachabilityState, of destination: Destination) {
        let path = feed.path(to: state)
        targets[destination] = (state, path)
        driver.send(.targetPath(destination, path))
    }

    package func unwatch(_ destination: Destination) {
        targets[destination] = nil
        watches.removeValue(forKey: destination)?()
    }
}
