internal import ReachQueue

/// What a row of the queue's file has to be, in SQL: a bit that changed in memory or on a disk must not become a
/// request that no one sent, nor end the program that reads it.
enum RowRules {
    /// The first column of `request` that is not as it has to be; NULL if all are.
    static let problem = caseExpression(of: requestRules)
    /// The same of `result`.
    static let resultProblem = caseExpression(of: resultRules)
    static let breakerIsGood = conjunction(of: breakerRules)
    static let heldQueueIsGood = conjunction(of: [integer("owner", owners)])

    /// Numbers of requests. A larger one can only be damage, and the next ones have to be larger still.
    static let numbers: ClosedRange<Int64> = 1...1 << 60

    /// - Parameters:
    ///   - condition: What has to be, in SQL.
    ///   - look: A look at the value that shows it as well, where there is one.
    private typealias Rule = (column: String, condition: String, look: Look?)

    private enum Look {
        case integer(ClosedRange<Int64>)
        /// A text of at most this number of bytes.
        case text(Int)
        case nullOrInteger(ClosedRange<Int64>)
        case nullOrText(Int)
        /// Another value may be good, too.
        case null

        var orNull: Look {
            switch self {
            case .integer(let range), .nullOrInteger(let range): .nullOrInteger(range)
            case .text(let length), .nullOrText(let length): .nullOrText(length)
            case .null: .null
            }
        }

        func isGood(_ row: SQLiteStatement, _ column: CInt) -> Bool {
            switch self {
            case .integer(let range): row.isInteger(column) && range.contains(row.integer(column))
            case .text(let length): row.isText(column, upTo: length)
            case .nullOrInteger(let range):
                row.isNull(column) || row.isInteger(column) && range.contains(row.integer(column))
            case .nullOrText(let length): row.isNull(column) || row.isText(column, upTo: length)
            case .null: row.isNull(column)
            }
        }
    }

    /// Whether a row of all columns of `request` is certainly as it has to be: one that waits, and whose body is not in
    /// the spool. This costs a sixth of ``problem``, which decides about the other rows.
    static func isEvidentlyGood(_ row: SQLiteStatement) -> Bool {
        guard row.integer(.state) == RowState.waiting.rawValue, row.isNull(.overWall),
            row.integer(.bodyKind) != 3
        else { return false }
        for (column, look) in looks where !look.isGood(row, column) { return false }
        return true
    }

    private static let looks: [(CInt, Look)] = requestRules.compactMap { rule in
        guard let look = rule.look else { return nil }
        return RequestColumn.names.firstIndex(of: rule.column).map { (CInt($0), look) }
    }

    private static let owners: ClosedRange<Int64> = 0...Int64(UInt32.max)
    private static let flags: ClosedRange<Int64> = 0...1
    /// Attempts and failures: far more than can be made in a request's life.
    private static let counts: ClosedRange<Int64> = 0...1_000_000_000
    /// Lengths in bytes: a pebibyte.
    private static let lengths: ClosedRange<Int64> = 0...1 << 50
    private static let anything: ClosedRange<Int64> = .min ... .max

    private static let requestRules: [Rule] =
        [
            integer(.id, numbers), integer(.state, 0...4), integer(.owner, owners), text(.destination, upTo: 65_536),
            text(.condition, upTo: 65_536), integer(.priority, 0...3), integer(.repeatable, flags),
            integer(.bytes, lengths), integer(.lifetime, 0 ... .max),
            integer(.deadlineWall, anything), integer(.deadlineBoot, anything), integer(.boot, anything),
            integer(.attempts, counts), integer(.networkFailures, counts), integer(.tries, counts),
            integer(.held, flags), integer(.networkFailure, flags), optional(integer(.notBeforeWall, anything)),
            optional(integer(.notBeforeBoot, anything)), optional(integer(.notBeforeIn, anything)),
            optional(text(.reason, upTo: 64)), optional(integer(.overWall, anything)),
            ("over_wall", "(state >= 2) = (over_wall IS NOT NULL)", nil), optional(text(.leaseInterface, upTo: 64)),
            optional(integer(.leaseWall, anything)), ofLease(.leaseInterface, "lease_interface IS NOT NULL"),
            ofLease(.leaseWall, "lease_wall IS NOT NULL"), ofLease(.tries, "tries > 0"), text(.method), text(.url),
            text(.headers), integer(.bodyKind, 0...3), optional(text(.bodyPath)), integer(.bodyBytes, lengths),
            spoolName,
            integer(.kept, lengths), integer(.seen, flags), optional(integer(.waitsWall, anything)),
            optional(integer(.carrier, numbers)),
        ] + RequestTerm.stored.compactMap(rule)

    private static let resultRules: [Rule] = [
        integer("status", 0...999), text("headers"), integer("body_kind", 0...3), optional(text("body_path")),
        integer("body_bytes", lengths), spoolName, ("bytes", "typeof(bytes) IN ('blob', 'null')", nil),
    ]

    private static let breakerRules: [Rule] = [
        text("destination"), text("interface"), integer("until_wall", anything), integer("until_boot", anything),
        integer("boot", anything), integer("step", 0...Int64(StoredBreaker.highestStep)),
    ]

    /// The name of a file in the spool, and of none elsewhere.
    private static let spoolName: Rule = (
        "body_path",
        "(body_kind != 3 OR (body_path IS NOT NULL AND body_path NOT IN ('', '.', '..') AND instr(body_path, '/') = 0))",
        nil
    )

    private static func rule(of term: RequestTerm) -> Rule? {
        guard let column = term.column else { return nil }
        let rule: Rule =
            switch term.form {
            case .flag: integer(column.name, flags)
            case .number(let range): integer(column.name, range)
            case .word(let words) where !words.isEmpty:
                // A request without its word is another one.
                (column.name, "\(column.name) IN (\(words.map { "'\($0)'" }.joined(separator: ", ")))", .null)
            case .text(.max): text(column.name)
            case .text, .word, .ranges: text(column.name, upTo: 65_536)
            }
        return column.isRequired ? rule : optional(rule)
    }

    private static func integer(_ column: String, _ range: ClosedRange<Int64>) -> Rule {
        let isInteger = "typeof(\(column)) = 'integer'"
        if range == anything { return (column, isInteger, .integer(range)) }
        let least = range.lowerBound == .min ? "(-9223372036854775807 - 1)" : "\(range.lowerBound)"
        return (
            column, "(\(isInteger) AND \(column) BETWEEN \(least) AND \(range.upperBound))",
            .integer(range)
        )
    }

    private static func integer(_ column: RequestColumn, _ range: ClosedRange<Int64>) -> Rule {
        integer(column.name, range)
    }

    private static func text(_ column: RequestColumn, upTo length: Int? = nil) -> Rule {
        text(column.name, upTo: length)
    }

    private static func text(_ column: String, upTo length: Int? = nil) -> Rule {
        let isText = "typeof(\(column)) = 'text'"
        guard let length else { return (column, isText, .text(.max)) }
        // Bytes are at least as many as the characters that count.
        return (column, "(\(isText) AND length(\(column)) <= \(length))", .text(length))
    }

    /// What a request that is on its way has: the row of its attempt is made of it.
    private static func ofLease(_ column: RequestColumn, _ condition: String) -> Rule {
        (column.name, "(state != 1 OR \(condition))", nil)
    }

    private static func optional(_ rule: Rule) -> Rule {
        (rule.column, "(\(rule.column) IS NULL OR \(rule.condition))", rule.look?.orNull)
    }

    private static func caseExpression(of rules: [Rule]) -> String {
        "CASE " + rules.map { "WHEN NOT coalesce(\($0.condition), 0) THEN '\($0.column)'" }.joined(separator: " ")
            + " END"
    }

    private static func conjunction(of rules: [Rule]) -> String {
        rules.map { "coalesce(\($0.condition), 0)" }.joined(separator: " AND ")
    }
}
