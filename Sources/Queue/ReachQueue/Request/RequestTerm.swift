internal import ReachCore

/// One term of a request: how the wire and the queue's file have it.
///
/// The table is ``RequestTerm/all``, next to ``RequestTerms``.
package struct RequestTerm: Sendable {
    package typealias Read = @Sendable (inout RequestTerms, TermValue) throws(RequestValidationError) -> Void

    /// The parameter of `io.reach.Queue.Add`; `nil` for what only sessions ask for.
    package let parameter: String?
    package let form: TermForm
    /// The column of `request`; `nil` where the file has the term in another form.
    package let column: Column?
    /// Reads a value of this form.
    package let read: Read
    /// Returns `nil` for what the reader assumes without a value.
    package let write: @Sendable (RequestTerms) -> TermValue?

    /// The version of the queue's file that has its column.
    package var version: Int { column?.version ?? 0 }

    package struct Column: Hashable, Sendable {
        package let name: String
        /// The version of the file that has the column; 1 also for those that a migration of ``QueueSchema`` adds.
        package let version: Int
        /// Whether the scheduler needs it of a request that waits.
        package let isForScheduling: Bool
        /// Whether it is never NULL.
        package let isRequired: Bool

        init(_ name: String, since version: Int = 1, isForScheduling: Bool = false, isRequired: Bool = false) {
            self.name = name
            self.version = version
            self.isForScheduling = isForScheduling
            self.isRequired = isRequired
        }
    }

    init(
        _ parameter: String?, _ form: TermForm, column: Column? = nil, read: @escaping Read,
        write: @escaping @Sendable (RequestTerms) -> TermValue?
    ) {
        self.parameter = parameter
        self.form = form
        self.column = column
        self.read = read
        self.write = write
    }
}

/// The form of a term's values, from which follow the limits of calls and the rules for rows.
package enum TermForm: Hashable, Sendable {
    case flag
    case number(ClosedRange<Int64>)
    /// A text of at most this number of bytes.
    case text(Int)
    /// A word, of those that are given where each other one makes another request of it.
    case word([String])
    case ranges

    static let word = TermForm.word([])

    /// Whether SQLite has its values as integers.
    package var isNumber: Bool {
        switch self {
        case .flag, .number: true
        case .text, .word, .ranges: false
        }
    }
}

/// A value of a term.
package enum TermValue: Hashable, Sendable {
    case flag(Bool)
    case number(Int64)
    case text(String)
    case ranges([ClosedRange<Int>])

    // A reader gets a value of the term's form.

    var flag: Bool { if case .flag(let flag) = self { flag } else { false } }
    var number: Int64 { if case .number(let number) = self { number } else { 0 } }
    var text: String { if case .text(let text) = self { text } else { "" } }
    var ranges: [ClosedRange<Int>] { if case .ranges(let ranges) = self { ranges } else { [] } }
}

// MARK: - Kinds of terms

extension RequestTerm {
    typealias Place<Value> = any WritableKeyPath<RequestTerms, Value> & Sendable

    static func flag(_ parameter: String?, _ place: Place<Bool>, column: Column) -> RequestTerm {
        RequestTerm(parameter, .flag, column: column) {
            $0[keyPath: place] = $1.flag
        } write: {
            $0[keyPath: place] ? .flag(true) : nil
        }
    }

    static func text(
        _ parameter: String?, _ place: Place<String?>, column: Column, upTo length: Int = QueueLimits.longestKey
    ) -> RequestTerm {
        RequestTerm(parameter, .text(length), column: column) {
            $0[keyPath: place] = $1.text
        } write: { terms in
            terms[keyPath: place].map { .text($0) }
        }
    }

    /// - Parameter make: Throws for a word that is none.
    static func word<Word: RawRepresentable<String> & CaseIterable & Sendable>(
        _ parameter: String?, _ place: Place<Word?>,
        _ make: @escaping @Sendable (String) throws(RequestValidationError) -> Word, column: Column
    ) -> RequestTerm {
        RequestTerm(parameter, .word(Word.allCases.map(\.rawValue)), column: column) {
            terms, text throws(RequestValidationError) in
            terms[keyPath: place] = try make(text.text)
        } write: { terms in
            terms[keyPath: place].map { .text($0.rawValue) }
        }
    }
}

/// Ranges of statuses as a text: `200-299,404-404`.
enum StatusRanges {
    static func text(of statuses: [ClosedRange<Int>]) -> String {
        statuses.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
    }

    static func ranges(_ text: String) -> [ClosedRange<Int>] {
        // Nearly all requests.
        if text == "200-299" { return [200...299] }
        return text.split(scalar: ",").compactMap { part in
            let bounds = part.split(scalar: "-").compactMap { Int($0) }
            return bounds.count == 2 && bounds[0] <= bounds[1] ? bounds[0]...bounds[1] : nil
        }
    }
}
