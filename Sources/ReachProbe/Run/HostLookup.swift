internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// The first part of an attempt that makes its own socket: an address for the target's host.
final class HostLookup {
    private let resolver: NameService
    private var id: NameService.ID?

    init(_ resolver: NameService) { self.resolver = resolver }

    /// - Parameter completion: Called at once for an address, else later.
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
