internal import ReachCore

/// org.varlink.service, which every Varlink service has: it describes the service and its interfaces.
enum ServiceInterface {
    static let name = "org.varlink.service"

    static func make(_ information: ServiceInformation, _ others: [VarlinkInterface]) -> VarlinkInterface {
        let definitions = Dictionary([(name, definition)] + others.map { ($0.name, $0.definition) }) { first, _ in first
        }
        let names = [name] + others.map(\.name)
        return VarlinkInterface(
            name: name, definition: definition,
            methods: [
                "GetInfo": .init([]) { request throws(VarlinkError) in
                    request.reply { json in
                        json.field("vendor", information.vendor)
                        json.field("product", information.product)
                        json.field("version", information.version)
                        json.field("url", information.url)
                        json.field("interfaces", names)
                    }
                },
                "GetInterfaceDescription": .init(["interface"]) { request throws(VarlinkError) in
                    guard let asked = try request.text("interface") else { throw .invalidParameter("interface") }
                    guard let definition = definitions[asked] else { throw .interfaceNotFound(asked) }
                    request.reply { $0.field("description", definition) }
                },
            ])
    }

    static let definition = """
        # Describes a service and its interfaces. Every Varlink service has this interface.
        interface org.varlink.service

        # Gets the description of the service, and the names of its interfaces.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # Gets the definition of an interface.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # The service has no such interface.
        error InterfaceNotFound (interface: string)

        # The interface has no such method.
        error MethodNotFound (method: string)

        # The interface has the method, but this service does not implement it.
        error MethodNotImplemented (method: string)

        # A parameter is missing, unknown, or has the wrong type.
        error InvalidParameter (parameter: string)

        # The caller may not call this method.
        error PermissionDenied ()

        # The method has many replies: call it with "more".
        error ExpectedMore ()

        """
}

/// The description of a service that `GetInfo` returns.
package struct ServiceInformation: Hashable, Sendable {
    package var vendor: String
    package var product: String
    package var version: String
    package var url: String

    package init(vendor: String, product: String, version: String, url: String) {
        self.vendor = vendor
        self.product = product
        self.version = version
        self.url = url
    }
}
