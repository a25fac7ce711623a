// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The place where a key's provider token is kept: for the next run, and for every relay that has the key, so that all of them
/// send with the same one. Each call may block until a database has answered.
package protocol ProviderTokenKeeper: Sendable {
    func token(_ place: ProviderTokenPlace) throws -> ProviderToken?

    /// Keeps a token that was just signed, in the place of the token issued at `known` (nil: none), if no other relay was faster
    /// and `ProviderTokenMachine.mayReplace` allows it.
    ///
    /// - Returns: the token that is kept now, this one or another.
    func mint(
        _ token: ProviderToken, _ place: ProviderTokenPlace, replacing known: Timestamp?, at now: Timestamp
    ) throws -> ProviderToken

    /// Keeps the key's pause, whichever file signs.
    ///
    /// - Returns: false where no token of the key is kept.
    func pause(until end: Timestamp, by server: String?, at now: Timestamp) throws -> Bool
}

/// The place of a token, by the key file that signed it.
///
/// Two key files of one id are an operator's mistake, or its repair: Apple gives each key an id of its own, and so
/// refuses the tokens of one of them. If both files shared one place, relays with one file would overwrite the token of
/// relays with the other, again and again, and each time most of these would be left without a token. So a relay that
/// finds the other file's token there leaves it, and shares a place with the relays that have the same file. Which file
/// has the key's own place never changes.
package enum ProviderTokenPlace: Sendable, Hashable {
    /// The key's own: its first file's. The pause is here.
    case key
    /// The place of another file with the same key id, by its fingerprint.
    case file(String)
}
