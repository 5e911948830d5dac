/// How much is logged, as the configuration says it: this level, and everything graver.
package enum LogLevel: String, Hashable, CaseIterable, Sendable {
    case debug, info, notice, warning, error
}
