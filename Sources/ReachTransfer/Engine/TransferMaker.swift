/// What makes transfers: an engine, or what answers in its place in the tests of a program. Confined to its loop.
///
/// ``TransferEngine`` documents the members.
package protocol TransferMaker: AnyObject {
    var runningCount: Int { get }
    func start(_ request: TransferRequest, handler: TransferHandler) -> TransferID
    func cancel(_ id: TransferID)
    func use(_ sink: FileSink, for id: TransferID)
    func resume(_ id: TransferID)
    func newEpoch()
    func resumePoint(record: String, of file: String, reply: @escaping (ResumePoint?) -> Void)
}

extension TransferEngine: TransferMaker {}
