import AsyncHTTPClient
import NIOCore
import PeerDrain
import _NIOFileSystem

/// async-http-client.
struct AsyncHTTP: PeerClient {
    private let client: HTTPClient

    init(concurrency: Int) {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = concurrency
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func get(_ url: String) async throws {
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .hours(1))
        guard response.status == .ok else { throw UnexpectedStatus(Int(response.status.code)) }
        _ = try await response.body.collect(upTo: 1 << 20)
    }

    func download(_ url: String, to file: String) async throws {
        let delegate = try FileDownloadDelegate(path: file)
        let end = try await client.execute(request: HTTPClient.Request(url: url), delegate: delegate).get()
        guard end.head.status == .ok else { throw UnexpectedStatus(Int(end.head.status.code)) }
    }

    func upload(_ file: String, to url: String) async throws {
        try await FileSystem.shared.withFileHandle(forReadingAt: FilePath(file)) { handle in
            var request = HTTPClientRequest(url: url)
            request.method = .PUT
            request.body = .stream(handle.readChunks(), length: .known(try await handle.info().size))
            let response = try await client.execute(request, timeout: .hours(1))
            guard response.status == .ok else { throw UnexpectedStatus(Int(response.status.code)) }
        }
    }

    func close() async throws { try await client.shutdown() }
}

@main struct Main {
    static func main() async throws { try await drain(by: AsyncHTTP.self) }
}
