// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Synchronization
import Threading

/// Asks the server to cancel a statement, on a thread of its own: PQcancel connects, and has no deadline.
///
/// `@unchecked Sendable`: made by one thread and then used by one other. Its handle is a copy of what a cancel needs
/// from the connection; PQcancel "can also be invoked from a thread that is separate from the one manipulating the
/// PGconn object" (PQcancel's page).
@safe final class CancelRequest: @unchecked Sendable {
    /// The threads that are cancelling now, in the whole process.
    private static let underWay = Atomic(0)
    private static let most = 8

    private let handle: OpaquePointer

    private init(_ handle: OpaquePointer) { unsafe self.handle = handle }
    deinit { unsafe relay_PQfreeCancel(handle) }

    /// - Returns: false where the cancel could not be started.
    static func start(for connection: OpaquePointer) -> Bool {
        guard let cancel = unsafe relay_PQgetCancel(connection) else { return false }
        let request = unsafe CancelRequest(cancel)
        guard underWay.wrappingAdd(1, ordering: .relaxed).newValue <= most else {
            underWay.wrappingSubtract(1, ordering: .relaxed)
            return false
        }
        do {
            try NativeThread(name: "cancel") {
                request.send()
                underWay.wrappingSubtract(1, ordering: .relaxed)
            }.detach()
            return true
        } catch {
            underWay.wrappingSubtract(1, ordering: .relaxed)
            return false
        }
    }

    private func send() {
        var words = [CChar](repeating: 0, count: 256)
        _ = unsafe relay_PQcancel(handle, &words, Int32(words.count))
    }
}
