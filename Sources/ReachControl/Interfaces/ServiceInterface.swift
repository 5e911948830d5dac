internal import ReachCore

/// org.varlink.service, which every Varlink service has: it tells which others there are.
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
        # Tells what a service is, and which interfaces it has. Every Varlink service answers this one.
        interface org.varlink.service

        # What the service is, and the names of its interfaces.
        method GetInfo() -> (
          vendor: string,
          product: string,
          version: string,
          url: string,
          interfaces: []string
        )

        # The definition of one of them.
        method GetInterfaceDescription(interface: string) -> (description: string)

        # The service has no such interface.
        error InterfaceNotFound (interface: string)

        # The interface has no such method.
        error MethodNotFound (method: string)

        # The interface has the method, and this service does not.
        error MethodNotImplemented (method: string)

        # A parameter is missing, unknown, or has the wrong type.
        error InvalidParameter (parameter: string)

        # The caller may not do this.
        error PermissionDenied ()

        # The method has many replies: call it with "more".
        error ExpectedMore ()

        """
}
