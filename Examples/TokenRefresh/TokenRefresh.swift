import Glibc
import ReachSession

/// token-refresh URL: fetches orders with an access token that has expired. The interceptor refreshes it once.
@main enum TokenRefresh {
    struct Token: Decodable, Sendable {
        var token: String
    }

    struct Order: Decodable, Sendable {
        var id: Int
        var item: String
    }

    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            print("usage: token-refresh URL")
            exit(2)
        }
        do throws(RequestError) {
            var options = RequestSessionOptions(program: "token-refresh")
            // By name: a request that is stored for a later run finds the interceptor of that run.
            options.requests.interceptor = "api"
            let session = try RequestSession(baseURL: CommandLine.arguments[1], options: options)
            session.setInterceptor(interceptor(startingWith: "expired"), named: "api")
            try await show(1, in: session)
            // The new token is known now: these are sent at the same time, and once each.
            let others = [try fetch(2, in: session), try fetch(3, in: session)]
            for task in others { try await show(task) }
        } catch {
            print("failed:", error)
            exit(1)
        }
    }

    /// Adds the token to each attempt, and gets another one when the server answers 401. Requests that are refused
    /// meanwhile wait for the same refresh.
    private static func interceptor(startingWith token: String) -> some RequestInterceptor {
        AuthenticationInterceptor<String>(credential: token) { token, attempt in
            attempt.headers[.authorization] = "Bearer \(token)"
        } refresh: { _, session in
            let answer: Token = try await session.post("token", parameters: ["grant": "refresh"]).decoded()
            print("the token was refreshed")
            return answer.token
        }
    }

    private static func fetch(_ number: Int, in session: RequestSession) throws(RequestError) -> RequestTask {
        try session.get("orders/\(number)").resume()
    }

    private static func show(_ number: Int, in session: RequestSession) async throws(RequestError) {
        try await show(fetch(number, in: session))
    }

    private static func show(_ task: RequestTask) async throws(RequestError) {
        let order: Order = try await task.decoded()
        print("order \(order.id): \(order.item), exchanges: \(task.metrics.exchanges.count)")
    }
}
