// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayStore
import Threading

/// A copy of a store in a file without a name, which disappears with the process however that ends.
final class Snapshot: StoreSnapshot {
    let size: Int64
    private let descriptor: Int32

    /// - Parameter path: the copy, whose name is removed.
    init(taking path: String) throws {
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        let code = errno
        _ = unsafe unlink(path)
        guard descriptor >= 0 else { throw Self.failure("the copy \(path) cannot be opened", code) }
        var information = stat()
        _ = unsafe fstat(descriptor, &information)
        size = Int64(information.st_size)
    }

    deinit {
        close(descriptor)
    }

    func read(atMost limit: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        var count: Int
        repeat {
            count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw Self.failure("the copy of the store cannot be read", errno) }
        bytes.removeLast(limit - count)
        return bytes
    }

    /// The copy's place while it is being made: beside the store, the one place that the daemon may surely write to.
    static func path(beside store: String) -> String { store + ".snapshot" }

    /// Removes the copy that a killed process has left.
    static func removeLeftover(of store: String) {
        _ = unsafe unlink(path(beside: store))
    }

    private static func failure(_ context: String, _ code: Int32) -> StoreError {
        StoreError(.failed, context: "\(context): \(SystemError.text(code))")
    }
}
