internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// Finds the addresses of the target's host, at least one: the first step of an attempt that makes its own socket.
final class HostLookup {
    private let resolver: NameService
    private var id: NameService.ID?

    init(_ resolver: NameService) { self.resolver = resolver }

    /// - Parameter completion: Called before this returns if the host is an address, otherwise later.
    func find(
        _ host: ProbeTarget.Host, for plan: ProbePlan,
        _ completion: @escaping (Result<[IPAddress], NameFailure>) -> Void
    ) {
        switch host {
        case .address(let address, _): completion(.success([address]))
        case .name(let name):
            let question = NameQuestion(name, family: plan.specification.family, interface: plan.binding)
            id = resolver.resolve(question, within: plan.specification.effectiveTimeout) { [weak self] answer in
                self?.id = nil
                switch answer {
                case .success(let addresses):
                    completion(addresses.isEmpty ? .failure(.notFound(name)) : .success(addresses))
                case .failure(let failure): completion(.failure(failure))
                }
            }
        }
    }

    func cancel() {
        id.map(resolver.cancel)
        id = nil
    }
}
