package import ReachLoop

/// Makes transfers with libcurl on one event loop: no thread of its own for each, and nothing on the loop that blocks.
///
/// Confined to the loop's thread, as its handlers are. SIGPIPE must be ignored by the process: libcurl cannot do that
/// where there are threads.
package final class TransferEngine {
    package struct Options: Sendable {
        /// How long transfers of an older epoch may go on.
        package var drainLimit: Duration = .seconds(30)
        /// How long connections are kept after the last transfer that used their pool.
        package var idlePoolLifetime: Duration = .seconds(60)

        package init() {}
    }

    package init(loop: EventLoop, options: Options = Options()) throws(TransferFailure) {
    }

    /// Begins a transfer.
    ///
    /// What is wrong with the request is told as any other failure is: by ``TransferEvent/finished(_:)``, later.
    package func start(_ request: TransferRequest, handler: TransferHandler) -> TransferID {
        fatalError("follows")
    }

    /// Ends a transfer: its handler is not called again. One that has ended is left alone.
    package func cancel(_ id: TransferID) {
    }

    /// The network is another one: connections and name servers' answers of before are not used any more. Transfers
    /// that run may finish, within ``Options/drainLimit``.
    package func newEpoch() {
    }
}
