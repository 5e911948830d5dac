import Glibc
import ReachSession

/// A view model whose state belongs to the main actor, and that is written with blocks.
@MainActor final class UsersViewModel {
    struct Page: Decodable, Sendable {
        struct User: Decodable, Sendable {
            var name: String
        }

        var users: [User]
    }

    private let session: RequestSession
    private(set) var names: [String] = []
    private(set) var isLoading = false {
        didSet { onChange(self) }
    }
    var onChange: (UsersViewModel) -> Void = { _ in }

    init(session: RequestSession) { self.session = session }

    func load() throws(RequestError) {
        isLoading = true
        let task = try session.get("users", parameters: ["page": 1])
        task.whenCompleteOnMain { [weak self] result in self?.show(result) }
        task.resume()
    }

    private func show(_ result: Result<RequestResponse, RequestError>) {
        switch result {
        case .success(let response):
            names = ((try? response.decoded(as: Page.self))?.users ?? []).map(\.name)
        case .failure(let error): print("failed:", error)
        }
        isLoading = false
    }
}

/// view-model URL: loads users into a view model.
@main enum ViewModel {
    @MainActor static func main() async {
        guard CommandLine.arguments.count == 2 else {
            print("usage: view-model URL")
            exit(2)
        }
        do throws(RequestError) {
            var options = RequestSessionOptions(program: "view-model")
            options.delivery = .main
            let session = try RequestSession(baseURL: CommandLine.arguments[1], options: options)
            let model = UsersViewModel(session: session)
            let (changes, change) = AsyncStream.makeStream(of: Bool.self)
            model.onChange = { model in
                print(model.isLoading ? "loading" : "users: \(model.names.joined(separator: ", "))")
                change.yield(model.isLoading)
            }
            try model.load()
            for await isLoading in changes where !isLoading { break }
            await session.closeAndWait()
        } catch {
            print("failed:", error)
            exit(1)
        }
    }
}
