// SPDX-License-Identifier: Apache-2.0

/// A field of a service's answer or event that shows its subject or its meaning, and is checked against the request. An
/// answer about anything else is no evidence. The guide to sources shows these fields as a table, and behind them those of
/// push services, which are in the folders of the providers.
///
/// The raw value names the answer, and the field in it.
package enum AnswerField: String, CaseIterable, Sendable {
    case lookupWrapper = "App Store lookup: results[].wrapperType"
    case lookupKind = "App Store lookup: results[].kind"
    case lookupTrack = "App Store lookup: results[].trackId"
    case lookupBundle = "App Store lookup: results[].bundleId"
    case lookupStorefront = "App Store lookup: results[].trackViewUrl"
    case connectList = "App Store Connect: links.self"
    case connectNext = "App Store Connect: links.next"
    case connectType = "App Store Connect: data[].type"
    case connectApp = "App Store Connect: data[].relationships.app.data.id"
    case connectPlatform = "App Store Connect: data[].attributes.platform"
    case connectState = "App Store Connect: data[].attributes.appVersionState"
    case connectOlderState = "App Store Connect: data[].attributes.appStoreState"
    case connectPhase = "App Store Connect: data[].relationships.appStoreVersionPhasedRelease.data.id"
    case connectPhaseType = "App Store Connect, phased release: data.type"
    case connectPhaseLink = "App Store Connect, phased release: links.self"
    case playReleaseTrack = "Google Play, releases: releases[].track"
    case playLifecycle = "Google Play, releases: releases[].releaseLifecycleState"
    case playTrack = "Google Play, track: track"
    case playStatus = "Google Play, track: releases[].status"
    case playEdit = "Google Play, edit: id"
    case launchGateSystem = "LaunchGate document: ios"
    case tokenType = "Google's token endpoint: token_type"
    case tokenScope = "Google's token endpoint: scope"
    case tokenLifetime = "Google's token endpoint: expires_in"
    case gitHubEvent = "GitHub event: X-GitHub-Event"
    case gitHubAction = "GitHub event: action"
    case gitHubRepository = "GitHub event: repository.full_name"
    case gitHubDraft = "GitHub event: release.draft"
    case gitHubPrerelease = "GitHub event: release.prerelease"
    case gitHubTag = "GitHub event: release.tag_name"
    case gitLabKind = "GitLab event: object_kind"
    case gitLabAction = "GitLab event: action"
    case gitLabProject = "GitLab event: project.path_with_namespace"
    case gitLabDate = "GitLab event: released_at"
    case gitLabTag = "GitLab event: tag"
    case appleType = "App Store Connect event: data.type"
    case appleState = "App Store Connect event: data.attributes.newValue"
    case appleInstance = "App Store Connect event: data.relationships.instance.data.type"

    /// The edition of these checks, which is stored with an answer that passed them. An answer of another edition may be about
    /// anything, and is requested again.
    package static let edition = "held:1"

    /// The answer that has the field.
    package var answer: String { String(rawValue[..<separator.lowerBound]) }
    /// The field's place in the answer.
    package var field: String { String(rawValue[separator.upperBound...]) }

    private var separator: Range<String.Index> {
        rawValue.firstRange(of: ": ") ?? rawValue.startIndex..<rawValue.startIndex
    }

    /// The check of the field, for the guide.
    package var check: String {
        switch self {
        case .lookupWrapper, .lookupKind: "`software`: neither a Mac's app nor a book; where it is there"
        case .lookupTrack: "`id`, where the source has one; it has to be there in the answer to `id`"
        case .lookupBundle: "`bundleId`, where the source has one; it has to be there in the answer to `bundleId`"
        case .lookupStorefront:
            "its country is `country`, or `us` where the source has none; where it is an address in the App Store"
        case .connectList: "the list of versions of `appId`, at the server that was asked; it has to be there"
        case .connectNext: "another page of the same list, at the same server"
        case .connectType: "`appStoreVersions`, with an id"
        case .connectApp: "`appId`; where it is there"
        case .connectPlatform: "`IOS`; where it is there"
        case .connectState:
            "only `READY_FOR_DISTRIBUTION` (once `READY_FOR_SALE`) is out, and only where it is `downloadable`"
        case .connectOlderState: "where both states are there, both have to say that it is out"
        case .connectPhase: "the id of an included `appStoreVersionPhasedReleases`"
        case .connectPhaseType: "`appStoreVersionPhasedReleases`"
        case .connectPhaseLink: "the version that was asked for; where it is there"
        case .playReleaseTrack, .playTrack: "`track`; where it is there"
        case .playLifecycle: "only `PUBLISHED` is out"
        case .playStatus:
            "`completed`, `inProgress`, `halted` or `draft`; only the first two are out, and the second for a share"
        case .playEdit: "a text that can stand in an address: the track is read in this edit alone"
        case .launchGateSystem: "an object: a document for other systems says nothing"
        case .tokenType: "`Bearer`; where it is there"
        case .tokenScope: "names the scope that was asked for; where it is there"
        case .tokenLifetime: "seconds above 0; where it is there"
        case .gitHubEvent: "`release`; `ping` is answered"
        case .gitHubAction: "`published`, `released`, `prereleased`, or `edited` where more than its words were"
        case .gitHubRepository, .gitLabProject: "`webhooks.repository`, where the app has one"
        case .gitHubDraft: "`false`"
        case .gitHubPrerelease: "`false`, or `webhooks.prereleases` takes them"
        case .gitHubTag, .gitLabTag: "`webhooks.tagPattern`"
        case .gitLabKind: "`release`"
        case .gitLabAction: "`create` or `update`"
        case .gitLabDate: "not in the future"
        case .appleType: "`appStoreVersionAppVersionStateUpdated`; a ping is answered"
        case .appleState:
            "`READY_FOR_DISTRIBUTION` (once `READY_FOR_SALE`); which version that is, the store itself is asked"
        case .appleInstance: "`appStoreVersions`; where it is there"
        }
    }

    /// The reason why an answer does not fit the request; nil: this field fits.
    ///
    /// - Parameters:
    ///   - value: the field's value; nil: it is not there.
    ///   - place: the place shown instead of the field's own: "results[3].kind".
    ///   - wanted: the accepted values.
    ///   - isNeeded: whether it has to be there.
    package func fault(
        _ value: JSONValue?, at place: String? = nil, wanted: [String], isNeeded: Bool = false
    ) -> String? {
        let place = place ?? field
        let right = wanted.map { "\"\($0)\"" }.joined(separator: " or ")
        switch value {
        case nil, .null?: return isNeeded ? "\(place) is missing; \(right) was asked for" : nil
        case .string(let text)?, .number(let text)?: if wanted.contains(text) { return nil }
        default: break
        }
        return "\(place) is \(value?.sight ?? "missing"), not \(right), which was asked for"
    }
}
