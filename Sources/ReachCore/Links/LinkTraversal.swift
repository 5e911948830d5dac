/// A walk down a stack of links that answers once for each, however often it is met.
///
/// The kernel stacks links no deeper than eight (MAX_NEST_DEV) and in no circle, but what is held of them may for a
/// moment be a mixture of before and after.
struct LinkTraversal<Answer> {
    private static var deepest: Int { 32 }

    private var answers: [InterfaceIndex: Answer] = [:]
    private var depth = 0
    private let unanswered: Answer

    /// - Parameter unanswered: What a circle or too deep a stack gets for an answer.
    init(unanswered: Answer) { self.unanswered = unanswered }

    mutating func answer(for index: InterfaceIndex, _ decide: (inout LinkTraversal) -> Answer) -> Answer {
        if let known = answers[index] { return known }
        guard depth < Self.deepest else { return unanswered }
        answers[index] = unanswered
        depth += 1
        let answer = decide(&self)
        depth -= 1
        answers[index] = answer
        return answer
    }
}
