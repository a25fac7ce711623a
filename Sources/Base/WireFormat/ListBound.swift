// SPDX-License-Identifier: Apache-2.0
import UpgradeRules

/// The lists that other programs write and the relay reads, each with the most members that are read: a list without a bound
/// costs its reader as much as its writer likes. `SECURITY.md` has the same table, and a test checks it and every parser
/// against this one.
package enum ListBound: String, Sendable, CaseIterable {
    // A request's head.
    case queryParameters, pathSegments, headerFields, connectionOptions
    case acceptedTypes, acceptedCodings, acceptedLanguages, entityTags, cookies, forwardedHops, webhookSignatures
    case proxyHops, groups
    // Bodies.
    case formFields, jsonDepth, jsonMembers, jsonValues
    case telephones, blockedVersions, languages, scopes, apps
    // Answers of other services.
    case foreignValues, foreignHeaderParts
    // The relay's answers.
    case namedFaults

    /// The treatment of members beyond the bound.
    package enum Beyond: Hashable, Sendable {
        /// The whole is refused, with this status.
        case refused(Int)
        /// The first members count; the others are ignored.
        case passedOver
        /// The source has failed; it is asked again as after any failure.
        case failed
    }

    /// The most members that are read.
    package var limit: Int {
        switch self {
        case .queryParameters, .formFields: 64
        case .pathSegments, .webhookSignatures, .scopes, .proxyHops: 16
        // A browser sends some thirty.
        case .headerFields: 512
        case .acceptedLanguages: LanguageRanges.maximumCount
        case .connectionOptions, .acceptedTypes, .acceptedCodings, .entityTags, .jsonDepth: 32
        // Browsers keep 50 to 180 of one host, of which few are sent.
        case .cookies: 128
        // The hop that the client spoke to.
        case .forwardedHops: 1
        case .jsonMembers, .apps, .groups: 256
        case .jsonValues: 10_000
        case .telephones: 1000
        case .blockedVersions: 20
        case .languages: LocalizedText.maximumLanguages
        case .foreignValues: 100_000
        case .foreignHeaderParts: 16
        case .namedFaults: 10
        }
    }

    package var beyond: Beyond {
        switch self {
        case .queryParameters, .formFields, .jsonDepth, .jsonMembers, .jsonValues: .refused(400)
        case .pathSegments: .refused(404)
        case .headerFields, .connectionOptions: .refused(431)
        case .telephones, .blockedVersions, .languages, .scopes, .apps: .refused(422)
        case .foreignValues: .failed
        case .acceptedTypes, .acceptedCodings, .acceptedLanguages, .entityTags, .cookies, .forwardedHops,
            .webhookSignatures, .foreignHeaderParts, .namedFaults, .proxyHops, .groups:
            .passedOver
        }
    }

    /// The most bytes of a member of a header's list: a longer member is passed over.
    package static let longestMember = 256

    /// The first members of a text, without empty ones. The text behind them is not split.
    package func members(of text: Substring, at separator: Character = ",") -> ArraySlice<Substring> {
        text.split(separator: separator, maxSplits: limit).prefix(limit)
    }

    package func members(of text: String, at separator: Character = ",") -> ArraySlice<Substring> {
        members(of: text[...], at: separator)
    }

    /// All members of bytes; nil where there are more than are taken.
    ///
    /// One function for each type of bytes: a generic one is not specialized in another module, and took a tenth of the time of
    /// a login check.
    package func whole(
        _ bytes: Substring.UTF8View, at separator: UInt8, omittingEmpty: Bool = true
    ) -> [Substring.UTF8View]? {
        cut(bytes, at: separator, omittingEmpty: omittingEmpty)
    }

    package func whole(
        _ bytes: ArraySlice<UInt8>, at separator: UInt8, omittingEmpty: Bool = true
    ) -> [ArraySlice<UInt8>]? {
        cut(bytes, at: separator, omittingEmpty: omittingEmpty)
    }

    private func cut<Bytes: Collection>(
        _ bytes: Bytes, at separator: UInt8, omittingEmpty: Bool
    ) -> [Bytes.SubSequence]? where Bytes.Element == UInt8 {
        let members = bytes.split(separator: separator, maxSplits: limit, omittingEmptySubsequences: omittingEmpty)
        return members.count <= limit ? members : nil
    }
}
