// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import UpgradeRules

extension SourceLoop {
    /// What the App Store's lookup said.
    mutating func take(
        _ answer: Result<AppStoreEntry?, SourceFault>, _ source: AppStoreSource, _ machine: inout LookupMachine,
        _ watched: Watched
    ) {
        let app = watched.source.app
        runner.blockIfThrottled(answer, source)
        let known = runner.status.lookup(of: app)?.version
        switch machine.answered(answer, known: known, at: runner.clock()) {
        case nil: break
        case .fault(let fault): report(fault, watched)
        case .notListed:
            runner.status.note(nil, of: app, at: runner.clock())
            crossCheck(app)
            report(
                SourceFault(
                    "the App Store lists no such app"
                        + (source.country.map { " in \"\($0)\"" } ?? " in the United States; say which `country`")),
                watched)
        case .listing(let listing):
            runner.status.note(listing, of: app, at: runner.clock())
            crossCheck(app)
            do throws(SourceFault) {
                try raiseLatest(listing.version, page: listing.trackViewURL, app, from: .appStore)
                recovered(watched)
            } catch {
                report(error, watched)
            }
        }
    }

    /// A store raises `latest` and nothing else: what is required is for the force policy or a person to say.
    ///
    /// - Parameters:
    ///   - build: Android's version code of it.
    ///   - page: where people get the app, where the store says so.
    func raiseLatest(
        _ version: Version, build: Int64? = nil, page: String?, _ app: AppKey, from store: StoreKind
    ) throws(SourceFault) {
        do {
            let stored = try runner.store.version(of: app)
            var bump = VersionBump(app: app)
            if stored?.latest.map({ $0 < version }) ?? true { bump.latest = version }
            // Not the code of an older version: both only rise.
            if let build, stored?.latest.map({ $0 <= version }) ?? true,
                stored?.builds.latest.map({ $0 < build }) ?? true
            {
                bump.builds.latest = build
            }
            guard bump != VersionBump(app: app) else { return }
            if let page, DownloadURL.fault(in: page) == nil {
                bump.downloadURL = page
            }
            try callbacks.apply(bump, store.rawValue)
        } catch {
            throw SourceFault("\(version) is not taken: \(error)")
        }
    }
}
