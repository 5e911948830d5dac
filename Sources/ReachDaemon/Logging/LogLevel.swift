/// The configured log level: messages of this level and more severe ones are logged. A file of its own, without the logger,
/// so that the fuzzer of the configuration can compile it alone.
package enum LogLevel: String, Hashable, CaseIterable, Sendable {
    case debug, info, notice, warning, error
}
