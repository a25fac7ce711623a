// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The one owner of a file descriptor: closed at the end of its life.
struct Descriptor: ~Copyable, Sendable {
    let number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    /// Throws `SimulatorError` with errno's text if `number` is negative.
    init(_ number: Int32, or context: String) throws {
        guard number >= 0 else { throw SimulatorError.system(context) }
        self.number = number
    }

    deinit { close(number) }
}

extension SimulatorError {
    static func system(_ context: String) -> SimulatorError {
        SimulatorError("\(context): \(unsafe String(cString: strerror(errno)))")
    }
}

/// Whole files, without Foundation.
enum WholeFile {
    static func read(_ path: String) throws -> [UInt8] {
        let file = try unsafe Descriptor(open(path, O_RDONLY | O_CLOEXEC), or: "\(path) cannot be read")
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = unsafe Glibc.read(file.number, &part, part.count)
            if count < 0 { throw SimulatorError.system("\(path) cannot be read") }
            if count == 0 { return bytes }
            bytes += part[..<count]
        }
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
        let file = try unsafe Descriptor(open(path, flags, 0o644), or: "\(path) cannot be written")
        guard append(bytes, to: file.number) else { throw SimulatorError.system("\(path) cannot be written") }
    }

    /// Writes all of it; false, with errno set, if that fails.
    static func append(_ bytes: [UInt8], to file: Int32) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count, let base = buffer.baseAddress {
                let count = unsafe Glibc.write(file, base + done, buffer.count - done)
                if count < 0 {
                    if errno == EINTR { continue }
                    return false
                }
                done += count
            }
            return true
        }
    }
}
