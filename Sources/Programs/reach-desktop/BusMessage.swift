internal import CSystemdBus
internal import ReachDesktop

/// A message that came from the bus.
final class BusMessage {
    private let message: OpaquePointer

    /// Takes over a reference.
    init(owning message: OpaquePointer) { self.message = message }

    /// Adds a reference.
    init(sharing message: OpaquePointer) { self.message = sd_bus_message_ref(message) }

    deinit { sd_bus_message_unref(message) }

    /// The unique name of who sent it, by the bus.
    var sender: String? { sd_bus_message_get_sender(message).map { String(cString: $0) } }

    /// Reads the next argument, a number.
    func uint32() -> UInt32? {
        var value: UInt32 = 0
        return sd_bus_message_read_basic(message, type("u"), &value) > 0 ? value : nil
    }

    /// Reads the next argument, a text.
    func text() -> String? {
        var text: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(message, type("s"), &text) > 0, let text else { return nil }
        return String(cString: text)
    }

    /// Reads the next argument, an array of texts.
    func texts() -> [String]? {
        guard sd_bus_message_enter_container(message, type("a"), "s") > 0 else { return nil }
        var texts: [String] = []
        while let text = text() { texts.append(text) }
        return sd_bus_message_exit_container(message) >= 0 ? texts : nil
    }

    /// The method call that it is; `nil` if it is none.
    var call: BusCall? {
        guard let path = sd_bus_message_get_path(message), let member = sd_bus_message_get_member(message) else {
            return nil
        }
        let signature = sd_bus_message_get_signature(message, 1).map { String(cString: $0) } ?? ""
        var texts: [String] = []
        for type in signature.utf8 {
            guard type == UInt8(ascii: "s"), let text = text() else { break }
            texts.append(text)
        }
        return BusCall(
            String(cString: path), sd_bus_message_get_interface(message).map { String(cString: $0) },
            String(cString: member), signature: signature, texts: texts)
    }

    /// Answers a method call.
    func answer(_ values: [BusValue], on bus: OpaquePointer) {
        var reply: OpaquePointer?
        guard sd_bus_message_new_method_return(message, &reply) >= 0, let reply else { return }
        defer { sd_bus_message_unref(reply) }
        guard BusWriter.append(values, to: reply) >= 0 else { return answer(BusFailure.unwritten) }
        _ = sd_bus_send(bus, reply, nil)
    }

    func answer(_ failure: BusFailure) {
        failure.name.withCString { name in
            failure.message.withCString { text in
                var error = sd_bus_error(name: name, message: text, _need_free: 0)
                _ = sd_bus_reply_method_error(message, &error)
            }
        }
    }
}

/// Appends values to a message.
enum BusWriter {
    /// - Returns: A negative number of an error, as sd-bus returns it.
    static func append(_ values: [BusValue], to message: OpaquePointer) -> CInt {
        for value in values {
            let result = append(value, to: message)
            if result < 0 { return result }
        }
        return 0
    }

    private static func append(_ value: BusValue, to message: OpaquePointer) -> CInt {
        switch value {
        case .bool(let flag):
            // sd-bus takes an int.
            var number: CInt = flag ? 1 : 0
            return sd_bus_message_append_basic(message, type("b"), &number)
        case .int32(var number): return sd_bus_message_append_basic(message, type("i"), &number)
        case .uint32(var number): return sd_bus_message_append_basic(message, type("u"), &number)
        case .string(let text): return text.withCString { sd_bus_message_append_basic(message, type("s"), $0) }
        case .path(let path): return path.withCString { sd_bus_message_append_basic(message, type("o"), $0) }
        case .array(let element, let values): return container("a", element, values, message)
        case .structure(let fields): return container("r", fields.map(\.signature).joined(), fields, message)
        case .variant(let value): return container("v", value.signature, [value], message)
        case .entry(let key, let value): return container("e", key.signature + value.signature, [key, value], message)
        }
    }

    private static func container(
        _ kind: Unicode.Scalar, _ contents: String, _ values: [BusValue], _ message: OpaquePointer
    ) -> CInt {
        let opened = sd_bus_message_open_container(message, type(kind), contents)
        if opened < 0 { return opened }
        let result = append(values, to: message)
        return result < 0 ? result : sd_bus_message_close_container(message)
    }
}

/// A type as sd-bus takes it.
private func type(_ scalar: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: scalar.value) }
