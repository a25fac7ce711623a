// SPDX-License-Identifier: Apache-2.0

/// Whether the store is as far as this relay saw it. What that was is in `Membership.memory`.
///
/// Each transaction that writes asks it at its beginning by itself; so does each new session with a server.
package protocol PastStore: NodeStore {
    /// How far the store is. One look.
    func mark() throws -> StoreMark

    /// Looks whether the store holds what was seen of it, and notes how far it is. A fall ends here where the store is the right one
    /// again, or where a person has taken it on at another relay.
    ///
    /// - Throws: `StoreError`, `.wentBack`.
    @discardableResult
    func lookBack() throws -> StoreMark

    /// Takes the store on as it is: it has another identity from then on, so that the one that it fell behind is seen, too.
    ///
    /// - Throws: `StoreError`, `.refused`, where the store has not fallen, or is not as was shown.
    func accept(_ word: StoreWord, by signature: Signature) throws -> StoreMark
}
