package import ReachTOML

/// A configuration, and where its keys are set.
package struct ReadConfiguration: Hashable, Sendable {
    package let configuration: Configuration
    /// By key, such as `hold.up`. Keys of `[[probe]]` and `[[interface]]` tables stand for the last of them.
    package let places: [String: ConfigurationPlace]
    /// The files that were read, in this order.
    package let files: [String]

    /// Reads a configuration from the texts of files, of which a later one has precedence.
    package init(_ files: [(path: String, text: [UInt8])]) throws(ConfigurationError) {
        let documents = files.map { (file: $0.path, document: TOMLDocument.parse($0.text)) }
        let reader = Configuration.read(documents)
        guard reader.errors.isEmpty else {
            throw ConfigurationError(file: files.first?.path ?? "", errors: reader.errors)
        }
        configuration = reader.root
        places = reader.places
        self.files = files.map(\.path)
    }

    /// The configuration as TOML that reads back the same.
    package var text: String { ConfigurationWriter.text(of: configuration, Configuration.tables, places: places) }
}

extension Configuration {
    /// Reads a configuration from the text of a file.
    ///
    /// - Parameter file: The file's name, for error messages.
    package static func parse(_ text: [UInt8], file: String) throws(ConfigurationError) -> Configuration {
        try ReadConfiguration([(file, text)]).configuration
    }

    /// `[[probe]]` tables are added to those of earlier files. So are `[[interface]]` and `[[network]]` tables, but
    /// before the earlier ones, since the first that matches decides.
    fileprivate static func read(
        _ documents: [(file: String, document: TOMLDocument)]
    ) -> ConfigurationReader<Configuration> {
        var reader = ConfigurationReader(Configuration(), tables)
        // A probe's template may be in any file, also a later one.
        for (file, document) in documents { reader.read(document, file: file) { $0 == templates } }
        for (file, document) in documents {
            let (interfaces, networks) = (reader.root.interfaces, reader.root.networks)
            (reader.root.interfaces, reader.root.networks) = ([], [])
            reader.read(document, file: file) { $0 != templates }
            reader.root.interfaces += interfaces
            reader.root.networks += networks
        }
        let isValid = reader.errors.isEmpty
        let places = reader.places
        reader.root.fitDefaults { places[$0] != nil }
        if isValid { reader.report(reader.root.contradictions, file: documents.first?.file ?? "") }
        return reader
    }
}
