public import HTTPTypes

/// What to do with a response that the cache may store (``RequestHooks/caching``): Alamofire's
/// `ResponseCacher.Behavior`.
public enum CachingDecision: Sendable {
    /// Store it.
    case store
    /// Store it with these header fields and this body. The fields decide for how long it is fresh.
    case storeAs(HTTPFields, [UInt8])
    /// Do not store it. An older response of its URL is removed.
    case doNotStore
}
