import Foundation
import FoundationNetworking
import PeerDrain

/// URLSession of swift-corelibs-foundation.
struct FoundationSession: PeerClient {
    private let session: URLSession

    init(concurrency: Int) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = concurrency
        configuration.timeoutIntervalForRequest = 3600
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    func get(_ url: String) async throws {
        let (_, response) = try await session.data(from: address(url))
        try check(response)
    }

    func download(_ url: String, to file: String) async throws {
        let (place, response) = try await session.download(from: address(url))
        try check(response)
        try FileManager.default.moveItem(at: place, to: URL(fileURLWithPath: file))
    }

    func upload(_ file: String, to url: String) async throws {
        var request = try URLRequest(url: address(url))
        request.httpMethod = "PUT"
        let (_, response) = try await session.upload(for: request, fromFile: URL(fileURLWithPath: file))
        try check(response)
    }

    func close() async throws { session.invalidateAndCancel() }

    private func address(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw URLError(.badURL) }
        return url
    }

    private func check(_ response: URLResponse) throws {
        let code = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard code == 200 else { throw UnexpectedStatus(code) }
    }
}

@main struct Main {
    static func main() async throws { try await drain(by: FoundationSession.self) }
}
