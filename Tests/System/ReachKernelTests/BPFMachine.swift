import ReachKernel

/// An interpreter of the classic BPF that the filters use, with the checks that the kernel makes of a program. It
/// follows Documentation/networking/filter.rst and net/core/filter.c of the kernel.
struct BPFMachine {
    enum Fault: Error, Equatable {
        case unknownInstruction(UInt16)
        case jumpOutside(from: Int)
        case noReturnAtEnd
        case memoryOutside(UInt32)
        case memoryNotStored(UInt32)
        case tooLong(Int)
        case shiftTooFar(UInt32)
    }

    let program: [SocketFilter.Instruction]

    /// Checks a program as bpf_check_classic() does: every jump ends inside the program, and the last instruction
    /// returns.
    init(_ program: [SocketFilter.Instruction]) throws(Fault) {
        guard (1...4096).contains(program.count) else { throw .tooLong(program.count) }
        for (place, instruction) in program.enumerated() {
            switch instruction.code {
            case 0x05:
                guard place + 1 + Int(instruction.operand) < program.count else { throw .jumpOutside(from: place) }
            case 0x15, 0x25, 0x35, 0x45:
                guard place + 1 + Int(max(instruction.ifTrue, instruction.ifFalse)) < program.count else {
                    throw .jumpOutside(from: place)
                }
            case 0x60, 0x61, 0x02: guard instruction.operand < 16 else { throw .memoryOutside(instruction.operand) }
            case 0x00, 0x01, 0x06, 0x07, 0x1c, 0x20, 0x30, 0x40, 0x7c, 0xa4: break
            default: throw .unknownInstruction(instruction.code)
            }
        }
        guard program.last?.code == 0x06 else { throw .noReturnAtEnd }
        self.program = program
    }

    /// Whether the message passes. A read beyond its end drops it, as in the kernel.
    func passes(_ message: [UInt8]) throws(Fault) -> Bool {
        var accumulator: UInt32 = 0
        var index: UInt32 = 0
        var memory: [UInt32: UInt32] = [:]
        var place = 0
        func load(_ at: UInt32, _ count: Int) -> UInt32? {
            let start = Int(at)
            guard start + count <= message.count else { return nil }
            return message[start..<start + count].reduce(0) { $0 << 8 | UInt32($1) }
        }
        while true {
            let instruction = program[place]
            let operand = instruction.operand
            place += 1
            switch instruction.code {
            case 0x00: accumulator = operand
            case 0x01: index = operand
            case 0x20 where operand == UInt32(bitPattern: -4096 + 12):
                accumulator = Self.findAttribute(index, in: message, from: accumulator)
            case 0x20, 0x30, 0x40:
                let count = instruction.code == 0x30 ? 1 : 4
                guard let value = load(instruction.code == 0x40 ? index &+ operand : operand, count) else {
                    return false
                }
                accumulator = value
            case 0x60, 0x61:
                guard let value = memory[operand] else { throw .memoryNotStored(operand) }
                if instruction.code == 0x60 { accumulator = value } else { index = value }
            case 0x02: memory[operand] = accumulator
            case 0x07: index = accumulator
            case 0x1c: accumulator = accumulator &- index
            case 0x7c:
                guard index < 32 else { throw .shiftTooFar(index) }
                accumulator >>= index
            case 0xa4: accumulator ^= operand
            case 0x05: place += Int(operand)
            case 0x15: place += Int(accumulator == operand ? instruction.ifTrue : instruction.ifFalse)
            case 0x25: place += Int(accumulator > operand ? instruction.ifTrue : instruction.ifFalse)
            case 0x35: place += Int(accumulator >= operand ? instruction.ifTrue : instruction.ifFalse)
            case 0x45: place += Int(accumulator & operand != 0 ? instruction.ifTrue : instruction.ifFalse)
            case 0x06: return operand != 0
            default: throw .unknownInstruction(instruction.code)
            }
        }
    }

    /// Finds an attribute as bpf_skb_get_nlattr() does.
    private static func findAttribute(_ type: UInt32, in message: [UInt8], from start: UInt32) -> UInt32 {
        guard message.count >= 4, start <= UInt32(message.count - 4) else { return 0 }
        var place = Int(start)
        while place + 4 <= message.count {
            let length = Int(message[place]) | Int(message[place + 1]) << 8
            let found = (UInt32(message[place + 2]) | UInt32(message[place + 3]) << 8) & 0x3fff
            guard length >= 4, place + length <= message.count else { return 0 }
            if found == type { return UInt32(place) }
            place += (length + 3) & ~3
        }
        return 0
    }
}
