// SPDX-License-Identifier: Apache-2.0

/// Checks that the store is as far as this relay saw it, which is in `Membership.memory`.
///
/// Each transaction that writes checks this at its beginning by itself, and so does each new session with a server.
package protocol PastStore: NodeStore {
    /// How far the store is. Reads it once.
    func mark() throws -> StoreMark

    /// Checks that the store holds what was seen of it, and notes how far it is. A fall ends here where the store is the
    /// right one again, or where a person has accepted it at another relay.
    ///
    /// - Throws: `StoreError`, `.wentBack`.
    @discardableResult
    func lookBack() throws -> StoreMark

    /// Accepts the store as it is. It gets another identity, so that a return of the one that it fell behind is noticed, too.
    ///
    /// - Throws: `StoreError`, `.refused`, where the store has not fallen, or is not as was shown.
    func accept(_ word: StoreWord, by signature: Signature) throws -> StoreMark
}

extension PastStore {
    /// Whether the store went back, by a look of its own: nothing else may have looked since. nil: it holds what was seen of it.
    package func fallNow() throws -> StoreRollback? {
        do {
            try lookBack()
            return nil
        } catch let error as StoreError where error.code == .wentBack {
            return membership.memory.fall
        }
    }
}
