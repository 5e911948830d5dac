/// The version that `reach --version` prints.
enum Version {
    static let text = "reach 0.1.0"
}
