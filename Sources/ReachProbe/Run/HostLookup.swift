internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// Finds an address for the target's host: the first step of an attempt that makes its own socket.
final class HostLookup {
    private let resolver: NameService
    private var id: NameService.ID?

    init(_ resolver: NameService) { self.resolver = resolver }

    /// - Parameter completion: Called before this returns if the host is an address, otherwise later.
    func find(
        _ host: ProbeTarget.Host, for plan: ProbePlan, _ completion: @escaping (Result<IPAddress, NameFailure>) -> Void
    ) {
        switch host {
        case .address(let address, _): completion(.success(address))
        case .name(let name):
            let question = NameQuestion(name, family: plan.specification.family, interface: plan.binding)
            id = resolver.resolve(question, within: plan.specification.effectiveTimeout) { [weak self] answer in
                self?.id = nil
                switch answer {
                case .success(let addresses):
                    guard let first = addresses.first else { return completion(.failure(.notFound(name))) }
                    completion(.success(first))
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
