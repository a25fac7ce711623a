// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayStore
import RelayStoreSQLite
import Synchronization
import Threading

/// Checks a store on a thread of its own, while its rows are copied to another store.
final class SourceCheck: Sendable {
    private let path: String
    private let found = Mutex<Result<StoreFault?, any Error>?>(nil)
    private let isOver = DispatchSemaphore(value: 0)
    private let isGivenUp = CancellationFlag()

    private init(_ path: String) { self.path = path }

    /// - Throws: the store's fault, even if `body` failed because of it first; else the error of `body`.
    static func run<R>(on store: SQLiteStore, at path: String, beside body: (SourceCheck) throws -> R) throws -> R {
        let check = SourceCheck(path)
        let thread = try NativeThread(name: "check") { check.look(at: store) }
        do {
            let result = try body(check)
            thread.join()
            return result
        } catch {
            check.isGivenUp.set()
            thread.join()
            throw check.damage ?? error
        }
    }

    private func look(at store: SQLiteStore) {
        let result = Result { try store.check { [isGivenUp] _ in !isGivenUp.isSet }.first }
        found.withLock { $0 = result }
        isOver.signal()
    }

    /// The fault found so far.
    var damage: StoreError? {
        guard case .success(let fault?)? = found.withLock({ $0 }) else { return nil }
        return StoreError(
            .failed, context: "\(path) is damaged: \(fault.check): \(fault.detail)",
            hint: "\"upgrade-relay store check \(path)\" lists every fault; nothing was moved")
    }

    /// Waits for the end of the check. Call once, within `run`.
    func verify() throws {
        isOver.wait()
        if let damage { throw damage }
        _ = try found.withLock { $0 }?.get()
    }
}
