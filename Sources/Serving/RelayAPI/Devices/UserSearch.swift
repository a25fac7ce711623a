// SPDX-License-Identifier: Apache-2.0
import HTTPServer
package import RelayStore
package import Requirements
import UpgradeRules
import WireFormat

/// Finds the other spellings that may be meant by a telephone that is not registered.
///
/// Apps compare telephones character by character, and so does the relay: a number with its international prefix and the same
/// number without it are two users. A caller that mistypes a user's number must not read an empty list as "nothing was sent",
/// so each route that takes a telephone searches here. The login check does not: millions of devices call it, and anybody may.
package struct UserSearch {
    private let store: any RelayStore
    /// The most devices, and the most deliveries, of one spelling that are read to find one of an app in question.
    private static let most = 100
    /// Devices of an app that serve as samples of how its telephones are written.
    private static let sample = 100
    /// The most apps that samples are taken from.
    private static let mostApps = 10

    package init(_ store: any RelayStore) {
        self.store = store
    }

    /// Other spellings of a telephone under which devices are registered or deliveries recorded; none where it is known as
    /// written. Costs two reads for each of a dozen spellings, and one for each app.
    ///
    /// - Parameter isMeant: whether the question includes an app.
    package func similar(to telephone: String, where isMeant: (AppKey) -> Bool) throws -> [String] {
        guard try !isKnown(telephone, isMeant) else { return [] }
        let others = try store.census().devices.keys.filter(isMeant).sorted().prefix(Self.mostApps)
            .flatMap { try store.devices(of: $0, after: 0, limit: Self.sample) }
            .compactMap(\.registration.telephone)
        return try TelephoneRule.spellings(of: telephone, like: others).filter { try isKnown($0, isMeant) }
    }

    private func isKnown(_ telephone: String, _ isMeant: (AppKey) -> Bool) throws -> Bool {
        try store.devices(telephone: telephone, token: nil, after: 0, limit: Self.most)
            .contains { isMeant($0.registration.app) }
            || store.deliveries(DeliveryFilter(telephone: telephone), after: nil, limit: Self.most)
                .contains { isMeant($0.app) }
    }
}

extension API {
    package var userSearch: UserSearch { UserSearch(store) }

    /// The fault of a telephone that is not registered, where another spelling of it is.
    func misspelt(_ telephone: String, where isMeant: (AppKey) -> Bool) throws -> [FieldFault] {
        // Not in a problem's detail, which is logged.
        let known = try userSearch.similar(to: telephone, where: isMeant)
        return known.isEmpty ? [] : [FieldFault("telephone", "it is known as \(known.joined(separator: ", "))")]
    }
}

extension Response {
    /// Adds other spellings to a streamed list, which has no member for them, in a header.
    ///
    /// - Parameter similar: `TelephoneRule` makes them of digits and plus signs alone.
    func naming(_ similar: [String], for sight: Redaction) -> Response {
        guard !similar.isEmpty else { return self }
        var response = self
        response.headers.append(("X-Similar-Telephones", similar.map(sight.telephone).joined(separator: ", ")))
        return response
    }
}
