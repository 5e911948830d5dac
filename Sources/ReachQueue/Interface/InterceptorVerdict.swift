/// What an interceptor decides about an answer.
package enum InterceptorVerdict: Hashable, Sendable {
    /// The request is sent again after this time, prepared again. It counts as no failure.
    case again(after: Duration)
    /// The queue judges the answer as if there were no interceptor.
    case stands(AttemptEnd)
    /// The request ends without success.
    case refused(RequestResult?)
}
