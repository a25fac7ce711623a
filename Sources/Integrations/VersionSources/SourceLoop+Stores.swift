// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import UpgradeRules

extension SourceLoop {
    /// The version that a store offers to everybody: with Android's version code, the app's page in the store, and the
    /// oldest OS version that it runs on, where the store shows them.
    private typealias Offer = (version: Version, build: Int64?, page: String?, minimumOS: Version?)

    /// Takes the outcome of the lookup's round; nil: the round goes on.
    mutating func finish(
        _ conclusion: Result<StoreListing?, SourceFault>?, _ source: AppStoreSource, _ watched: Watched
    ) {
        if case .success? = conclusion { crossCheck(watched.source.app) }
        finish(
            conclusion?.flatMap { listing -> Result<Offer?, SourceFault> in
                guard let listing else { return .failure(source.isNotListed) }
                return .success((listing.version, nil, listing.trackViewURL, listing.minimumOS))
            }, from: .appStore, watched)
    }

    mutating func finish(
        _ conclusion: Result<AppStoreConnectEvidence, SourceFault>?, _ source: AppStoreConnectSource, _ watched: Watched
    ) {
        if case .success? = conclusion { crossCheck(watched.source.app) }
        finish(
            conclusion?.map { evidence -> Offer? in evidence.offered.map { ($0.version, nil, source.page, nil) } },
            from: .appStoreConnect, watched)
    }

    func finish(_ conclusion: GooglePlayMachine.Conclusion?, _ source: GooglePlaySource, _ watched: Watched) {
        if case .success(let evidence)? = conclusion {
            let app = watched.source.app
            // Where the countries cannot be read, the gate holds.
            let audience = evidence.hasCountries ? try? runner.store.seenCountries(of: app) : nil
            runner.status.note(.googlePlay(evidence), of: app, asked: source.query, audience: audience)
            takeSystem(evidence, app)
        }
        finish(
            conclusion?.map { evidence -> Offer? in
                evidence.offeredToAll.flatMap { release in
                    release.version.map { ($0, release.build, source.page, release.minimumOS) }
                }
            }, from: .googlePlay, watched)
    }

    /// Sets the required version's minimum OS version where its release names one and the requirement has none. A rollout
    /// counts too, though it raises no version.
    private func takeSystem(_ evidence: GooglePlayEvidence, _ app: AppKey) {
        guard let row = (try? runner.store.version(of: app))?.requirements.takenUp.required, row.minimumOS == nil,
            let minimum = evidence.published(GateQuestion(row.version, build: row.build))?.minimumOS
        else { return }
        var bump = VersionBump(app: app)
        bump.minimumOS = .set(minimum)
        do {
            try callbacks.apply(bump, StoreKind.googlePlay.rawValue)
        } catch {
            runner.log(
                .warning, "what a store says of the systems of a version is not taken",
                [
                    ("app", app.app), ("platform", app.platform.rawValue), ("version", row.version.text),
                    ("minimumOs", minimum.text), ("error", "\(error)"),
                ])
        }
    }

    private func finish(_ conclusion: Result<Offer?, SourceFault>?, from store: StoreKind, _ watched: Watched) {
        guard let conclusion else { return }
        do throws(SourceFault) {
            if let offer = try conclusion.get() { try raiseLatest(offer, watched.source.app, from: store) }
            recovered(watched)
        } catch {
            report(error, watched)
        }
    }

    /// A store raises only `latest`: the force policy or a person decides which version is required.
    private func raiseLatest(_ offer: Offer, _ app: AppKey, from store: StoreKind) throws(SourceFault) {
        let version = offer.version
        do {
            let stored = try runner.store.version(of: app)
            var bump = VersionBump(app: app)
            if stored?.latest.map({ $0 < version }) ?? true { bump.latest = version }
            // The code of an older version is not taken: versions and codes only rise.
            if let build = offer.build, stored?.latest.map({ $0 <= version }) ?? true,
                stored?.requirements.latest?.build.map({ $0 < build }) ?? true
            {
                bump.builds.latest = build
            }
            let isNews = bump != VersionBump(app: app)
            let lacksMinimum = stored?.requirements.rows.contains {
                $0.isAccepted && $0.version == version && $0.minimumOS == nil
            }
            if let minimum = offer.minimumOS, bump.latest != nil || lacksMinimum ?? false {
                (bump.latest, bump.minimumOS) = (version, .set(minimum))
            }
            guard bump != VersionBump(app: app) else { return }
            if isNews, let page = offer.page { bump.downloadURL = try? DownloadURL.judged(page).get() }
            try callbacks.apply(bump, store.rawValue)
        } catch {
            throw SourceFault("\(version) is not taken: \(error)")
        }
    }
}
