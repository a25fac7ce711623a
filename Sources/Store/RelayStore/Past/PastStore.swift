// SPDX-License-Identifier: Apache-2.0
package import Requirements

/// Checks that the store has not fallen behind what this relay saw of it, which `Membership.memory` keeps.
///
/// Each transaction that writes checks this at its beginning by itself, and so does each new session with a server.
package protocol PastStore: NodeStore {
    /// The store's present mark, read anew at each call.
    func mark() throws -> StoreMark

    /// Checks that the store holds what was seen of it, and notes its present mark. A fall ends here where the store is
    /// the right one again, or where a person has accepted it at another relay.
    ///
    /// - Throws: `StoreError`, `.wentBack`.
    @discardableResult
    func lookBack() throws -> StoreMark

    /// Accepts the store as it is. It gets a new identity, so that a later return of the newer store, which it fell
    /// behind, is noticed, too.
    ///
    /// - Throws: `StoreError`, `.refused`, where the store has not fallen, or is not as it was shown.
    func accept(_ word: StoreWord, by signature: Signature) throws -> StoreMark
}

extension PastStore {
    /// The store's rollback, by a check made now, since no other call may have checked lately. nil: the store holds
    /// what was seen of it.
    package func fallNow() throws -> StoreRollback? {
        do {
            try lookBack()
            return nil
        } catch let error as StoreError where error.code == .wentBack {
            return membership.memory.fall
        }
    }
}
