import Foundation
import ReachSession
import ReachSessionFoundation

/// from-afnetworking URL: calls of AFNetworking 4, as comments, and the same with ReachSession. Each step runs against
/// `Examples/server.py`, and prints what it received.
@main enum FromAFNetworking {
    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            print("usage: from-afnetworking URL")
            exit(2)
        }
        do {
            let steps = Steps(session: try makeSession(CommandLine.arguments[1]))
            try await steps.run()
            await steps.session.closeAndWait()
        } catch {
            print("failed:", error)
            exit(1)
        }
    }

    // AFHTTPSessionManager *manager = [[AFHTTPSessionManager alloc] initWithBaseURL:[NSURL URLWithString:@"..."]];
    // manager.requestSerializer = [AFJSONRequestSerializer serializer];
    // manager.requestSerializer.timeoutInterval = 30;
    // [manager.requestSerializer setValue:@"example" forHTTPHeaderField:@"X-Client"];
    private static func makeSession(_ url: String) throws -> RequestSession {
        var options = RequestSessionOptions(program: "from-afnetworking")
        options.requestSerializer = JSONRequestSerializer()
        options.timeouts.idle = .seconds(30)
        let session = try RequestSession(baseURL: url, options: options)
        session.changeHeaders { $0["X-Client"] = "example" }
        return session
    }
}

/// One method for each step.
private struct Steps {
    let session: RequestSession

    func run() async throws {
        try await reachability()
        observe()
        try await get()
        await getWithCallbacks()
        try await post()
        try await postForm()
        try await upload()
        try await download()
        await fail()
        await cancel()
    }

    // [[AFNetworkReachabilityManager sharedManager] startMonitoring];
    // [[AFNetworkReachabilityManager sharedManager] setReachabilityStatusChangeBlock:^(AFNetworkReachabilityStatus status) {
    //     NSLog(@"%@", AFStringFromNetworkReachabilityStatus(status));
    // }];
    private func reachability() async throws {
        let monitor = session.reachability  // of the base URL's host; ReachabilityMonitor.shared is the Internet's
        monitor.setStatusChangeBlock { status in _ = status.displayText }
        monitor.start()
        let state = try await monitor.wait(until: { $0.status != .unknown })
        print("reachability:", state?.networkReachabilityStatus.displayText ?? "unknown")
        monitor.stop()
    }

    // [[NSNotificationCenter defaultCenter] addObserverForName:AFNetworkingTaskDidCompleteNotification object:nil queue:nil
    //     usingBlock:^(NSNotification *note) { ... }];
    private func observe() {
        session.addObserver(forName: .didComplete) { event in _ = event.userInfo }
    }

    // [manager GET:@"users" parameters:@{@"page": @2} headers:nil progress:nil
    //     success:^(NSURLSessionDataTask *task, id object) { NSLog(@"%@", object[@"total"]); }
    //     failure:^(NSURLSessionDataTask *task, NSError *error) { NSLog(@"%@", error); }];
    private func get() async throws {
        let users = try await session.get("users", parameters: ["page": 2]).value()
        print("get:", users?.json?["total"]?.integer ?? 0, "users on page", users?.json?["page"]?.integer ?? 0)
    }

    /// The same with a block: a task with a completion is sent by ``RequestTask/resume()``.
    private func getWithCallbacks() async {
        await withCheckedContinuation { continuation in
            do throws(RequestError) {
                try session.get("users", parameters: ["page": 3]) { result in
                    switch result {
                    case .success(let response):
                        print("get with a block: page", response.object?.json?["page"]?.integer ?? 0)
                    case .failure(let error): print(error)
                    }
                    continuation.resume()
                }.resume()
            } catch {
                // An invalid request throws where it is made.
                print(error)
                continuation.resume()
            }
        }
    }

    // [manager POST:@"users" parameters:@{@"name": @"Cay"} headers:nil progress:nil success:... failure:...];
    private func post() async throws {
        struct User: Codable {
            var id: Int?
            var name: String
        }
        let user: User = try await session.post("users", body: User(name: "Cay")).decoded()
        print("post:", user.name, "is user", user.id ?? 0)
    }

    // [manager POST:@"photos" parameters:@{@"title": @"Sunset"} headers:nil
    //     constructingBodyWithBlock:^(id<AFMultipartFormData> form) {
    //         [form appendPartWithFileURL:url name:@"photo" error:nil];
    //     } progress:nil success:... failure:...];
    private func postForm() async throws {
        let photo = FileManager.default.temporaryDirectory.appending(path: "photo-\(getpid()).jpg")
        try Data("pixels".utf8).write(to: photo)
        defer { try? FileManager.default.removeItem(at: photo) }
        let task = try session.postForm("photos", parameters: ["title": "Sunset"]) { form in
            try form.append(file: photo, name: "photo")
        }
        let parts = try await task.value()?.json?["parts"]
        print("form: the server found", parts?.array?.compactMap(\.string) ?? [])
    }

    // [[manager uploadTaskWithRequest:request fromData:data progress:^(NSProgress *progress) {
    //     NSLog(@"%f", progress.fractionCompleted);
    // } completionHandler:^(NSURLResponse *response, id object, NSError *error) { ... }] resume];
    private func upload() async throws {
        let task = try session.upload(Data(repeating: 7, count: 100_000), to: "logs/1")
        for await progress in task.resume().progressUpdates where progress.fractionSent == 1 {
            print("upload:", progress.sent, "bytes sent")
            break
        }
        print("upload:", try await task.value()?.json?["stored"]?.integer ?? 0, "bytes stored")
    }

    // [[manager downloadTaskWithRequest:request progress:nil
    //     destination:^NSURL *(NSURL *target, NSURLResponse *response) { return file; }
    //     completionHandler:^(NSURLResponse *response, NSURL *file, NSError *error) { ... }] resume];
    private func download() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "image-\(getpid()).png")
        let response = try await session.download("image", to: file).response()
        print("download:", try Data(contentsOf: response.fileURL ?? file).count, "bytes")
        try FileManager.default.removeItem(at: file)
    }

    // failure:^(NSURLSessionDataTask *task, NSError *error) {
    //     NSHTTPURLResponse *response = error.userInfo[AFNetworkingOperationFailingURLResponseErrorKey];
    //     NSData *body = error.userInfo[AFNetworkingOperationFailingURLResponseDataErrorKey];
    // }
    private func fail() async {
        do throws(RequestError) {
            try await session.get("nothing").response()
        } catch {
            print("failure:", error.kind, error.response?.statusCode ?? 0, error.response?.text ?? "")
        }
    }

    // [task cancel]; the failure block receives NSURLErrorCancelled.
    private func cancel() async {
        do throws(RequestError) {
            let task = try session.get("users")
            task.cancel()
            try await task.response()
        } catch {
            print("cancelled:", error.kind == .cancelled)
        }
    }
}
