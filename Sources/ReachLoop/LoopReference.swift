/// A way back to an object that may go first, for closures that wait for its loop or on other threads.
///
/// It costs less than a weak reference: an object to which there is one of those is slower to use for everybody. In return
/// its owner must close the way in its `deinit`, which runs on the loop's thread, where alone the way may be gone.
package final class LoopReference<Owner: AnyObject>: @unchecked Sendable {
    /// `nil` when the owner has gone.
    package unowned(unsafe) var owner: Owner?

    package init() {}
}
