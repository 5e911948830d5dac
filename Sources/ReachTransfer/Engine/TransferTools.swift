internal import ReachLoop

/// The services that the transfers of one engine share. Confined to the loop.
final class TransferTools {
    let loop: EventLoop
    let resolver: NameService
    let files = FileThread()
    let replies: LoopReplies
    let systemTrust: SystemTrust
    let handles = HandlePool()

    init(loop: EventLoop, options: TransferEngine.Options) {
        self.loop = loop
        replies = LoopReplies(loop: loop)
        resolver = NameService(loop: loop, options: options.resolver)
        systemTrust = SystemTrust(
            path: options.certificatesPath ?? CurlRuntime.current?.certificatesPath ?? "", thread: files,
            replies: replies)
    }
}
