package import ReachCore

/// The parts of a specification that people and programs write as words.
extension RequestPriority {
    /// - Throws: ``RequestValidationError``, which names the text and lists the words.
    package init(_ text: String) throws(RequestValidationError) {
        let number = UInt8(text).flatMap(RequestPriority.init(rawValue:))
        guard let priority = Self.allCases.first(where: { "\($0)" == text }) ?? number else {
            throw RequestValidationError(
                .priority,
                "'\(shown(text))' is no priority: urgent, high, normal, low, or 0 to 3"
                    + NearestWord.hint(for: text, among: Self.allCases.map { "\($0)" }))
        }
        self = priority
    }
}

extension RequestUniqueness {
    /// The words for ``mode``.
    private static let modes = Mode.allCases.map(\.rawValue) + [coalescing] + JoinForm.allCases.map(\.mode)
    private static let coalescing = "coalesce"

    /// - Parameter mode: `nil` is `keep`.
    /// - Throws: ``RequestValidationError``, which names the text and lists the words.
    package init(key: String?, mode: String?) throws(RequestValidationError) {
        if let mode, !Self.modes.contains(mode) {
            throw RequestValidationError(
                .mode,
                "'\(shown(mode))' is no mode: \(Self.modes.joined(separator: ", "))"
                    + NearestWord.hint(for: mode, among: Self.modes))
        }
        guard let key else {
            guard mode == nil else {
                throw RequestValidationError(
                    .mode, "a mode decides between requests with the same key: give a key, too")
            }
            self = .none
            return
        }
        if let form = JoinForm.allCases.first(where: { $0.mode == mode }) {
            self = .joined(key: key, form: form)
            return
        }
        self =
            mode.flatMap(Mode.init(rawValue:)).map { .unique(name: key, mode: $0) }
            ?? (mode == nil ? .unique(name: key, mode: .keep) : .coalesce(key: key))
    }

    /// The name of the work; `nil` for ``none``.
    package var key: String? {
        switch self {
        case .none: nil
        case .unique(let name, _): name
        case .coalesce(let key), .joined(let key, _): key
        }
    }

    package var mode: String? {
        switch self {
        case .none: nil
        case .unique(_, let mode): mode.rawValue
        case .coalesce: Self.coalescing
        case .joined(_, let form): form.mode
        }
    }
}

extension JoinForm {
    /// The mode of a key that has it.
    fileprivate var mode: String { "join-" + rawValue }
}

extension UploadProtocol {
    /// - Throws: ``RequestValidationError``, which names the text and lists the words.
    package init(_ text: String) throws(RequestValidationError) {
        guard let value = Self(rawValue: text) else {
            let words = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw RequestValidationError(
                .uploadProtocol, "'\(shown(text))' is no protocol for resumable uploads: \(words)")
        }
        self = value
    }
}

extension RequestSpecification {
    /// Reads a condition that a request can wait for.
    ///
    /// - Throws: ``RequestValidationError``, which names the term at fault.
    package static func condition(_ text: String) throws(RequestValidationError) -> NetworkCondition {
        do throws(NetworkConditionError) {
            let condition = try NetworkCondition(text)
            guard !condition.isTargetUnreachable else {
                throw NetworkConditionError(
                    description: "'not-reachable' is not a condition for a request: it needs a path")
            }
            return condition
        } catch {
            throw RequestValidationError(.condition, error.description)
        }
    }
}

extension Idempotency {
    package var key: String? {
        if case .key(let key) = self { key } else { nil }
    }

    /// As a row of the queue's file has it: a key is never empty.
    package var stored: String? { self == .never ? "" : key }

    package init(stored text: String?) {
        self = text.map { $0.isEmpty ? .never : .key($0) } ?? .byMethod
    }
}

private func shown(_ text: String) -> String { DisplayText.excerpt(text) }
