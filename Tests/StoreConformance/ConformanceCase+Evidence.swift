// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The last answers of the app stores.
extension ConformanceCase {
    static let evidence: [ConformanceCase] = [
        ConformanceCase("what an app store said is kept as it was given, by app and store, and replaced") { subject in
            let store = subject.store
            try same(try store.evidence(), [])
            let android = AppKey(app: subject.app.app, platform: .android)
            let lookup = row(subject, .appStore, said: #"{"version":"„2.0“\n"}"#)
            let exact = row(subject, .appStoreConnect, said: #"{"releases":[]}"#)
            var track = row(subject, .googlePlay, app: android, said: #"{"track":"production","releases":[]}"#)
            for evidence in [exact, lookup, track] { try store.keepEvidence(evidence) }
            try same(try store.evidence(), [track, lookup, exact], "in order")
            track.query = "https://example.com/another track"
            track.askedAt = subject.now + .seconds(1)
            track.said = #"{"track":"beta","releases":[]}"#
            try store.keepEvidence(track)
            try same(try store.evidence(), [track, lookup, exact])
            try same(try present(subject.second ?? store, "a store").evidence(), [track, lookup, exact])
        },
        ConformanceCase("what one app store said is forgotten, and nothing else") { subject in
            let store = subject.store
            let other = AppKey(app: "com.example.other", platform: .ios)
            let rows = [
                row(subject, .appStore), row(subject, .appStoreConnect), row(subject, .appStore, app: other),
            ]
            for evidence in rows { try store.keepEvidence(evidence) }
            try store.forgetEvidence(.init(app: subject.app, kind: .googlePlay))
            try same(try store.evidence(), rows)
            try store.forgetEvidence(rows[0].key)
            try same(try store.evidence(), Array(rows[1...]))
            try store.forgetEvidence(rows[0].key)
        },
        ConformanceCase("what no store keeps of an app store's words is refused, and changes nothing") { subject in
            let long = AppKey(app: String(repeating: "a", count: 1025), platform: .ios)
            let refused = [
                row(subject, .appStore, app: long), row(subject, .appStore, said: "a\u{0}b"),
                row(subject, .appStore, said: ""),
            ]
            for evidence in refused { try fails(.conflict) { try subject.store.keepEvidence(evidence) } }
            try same(try subject.store.evidence(), [])
        },
    ]

    private static func row(
        _ subject: Subject, _ kind: StoreKind, app: AppKey? = nil, said: String = #"{"releases":[]}"#
    ) -> SourceEvidence {
        SourceEvidence(
            key: .init(app: app ?? subject.app, kind: kind), query: "https://example.com/\(kind.rawValue)",
            askedAt: subject.now, said: said)
    }
}
