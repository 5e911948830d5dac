/// A reference to an object that may end first, for closures that run later on its loop.
///
/// It costs less than a weak reference, which slows down every use of the object. In return the owner must set ``owner``
/// to `nil` in its `deinit`. That must happen on the loop's thread, and only that thread may read ``owner``.
package final class LoopReference<Owner: AnyObject>: @unchecked Sendable {
    /// `nil` once the owner has ended.
    package unowned(unsafe) var owner: Owner?

    package init() {}
}
