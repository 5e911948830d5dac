/// A recursive traversal of a link stack that computes one answer for each link, however often the link is reached.
///
/// The kernel nests links at most eight deep (MAX_NEST_DEV) and without cycles. The table may violate both for a
/// moment, while the notices of one change arrive one after the other; the traversal ends nevertheless.
struct LinkTraversal<Answer> {
    private static var depthLimit: Int { 32 }

    private var answers: [InterfaceIndex: Answer] = [:]
    private var depth = 0
    private let fallback: Answer

    /// - Parameter fallback: The answer where the stack has a cycle or is too deep.
    init(fallback: Answer) { self.fallback = fallback }

    /// The answer for a link: the known one, or the result of `decide`, which may ask about the links below.
    mutating func answer(for index: InterfaceIndex, _ decide: (inout LinkTraversal) -> Answer) -> Answer {
        if let known = answers[index] { return known }
        guard depth < Self.depthLimit else { return fallback }
        answers[index] = fallback
        depth += 1
        let answer = decide(&self)
        depth -= 1
        answers[index] = answer
        return answer
    }
}
