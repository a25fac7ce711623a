// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import RelayStore
import Requirements
import StoreConformance
import Synchronization
import Telemetry
import TestStores
import Testing
import UpgradeRules
import VersionSources

/// A runner over a real store in a folder of its own; tests wait for a condition on what it did.
final class SourceBench: Sendable {
    static let app = AppKey(app: "com.imlian.QZJapanese", platform: .ios)

    struct Seen: Sendable {
        var bumps: [VersionBump] = []
        var sources: [String] = []
        var log: [String] = []
        var released = 0
    }

    let folder: URL
    let store: any TestStore
    let runner: SourceRunner
    let seen: Box

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "sources-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try openStore(folder.appending(path: "relay.db").path)
        let seen = Box()
        self.seen = seen
        let log = Log(minimum: .debug) { _, message, fields in
            seen.change { $0.log.append("\(message)" + fields.map { " \($0.name)=\($0.value)" }.joined()) }
        }
        runner = try SourceRunner(store: store, log: log, clock: Self.now)
    }

    @Sendable static func now() -> Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }

    func start(_ kinds: [VersionSource.Kind], hold: Duration = .zero) throws {
        try start(
            .init(sources: kinds.map { VersionSource(app: Self.app, kind: $0) }, rules: [Self.app: .init(hold: hold)]))
    }

    func start(_ plan: SourceRunner.Plan) throws {
        let (seen, store) = (seen, store)
        try runner.start(
            plan,
            callbacks: .init(
                apply: { bump, source in
                    _ = try store.apply(
                        bump, actor: source, source: source, at: Self.now(), draft: nil, receipt: nil
                    ) { _ in StoredAnswer(status: 200, body: []) }
                    seen.change {
                        $0.bumps.append(bump)
                        $0.sources.append(source)
                    }
                },
                inForceChanged: { seen.change { $0.released += 1 } }))
    }

    func stop() {
        runner.stop()
        store.close()
        try? FileManager.default.removeItem(at: folder)
    }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    /// Waits for the condition, which is checked again after each act and each log line of the runner.
    func wait(_ comment: Comment, until condition: @escaping (Seen) -> Bool) {
        #expect(seen.wait(for: .seconds(60), until: condition), comment)
    }

    var part: String { "source:\(Self.app.app)/ios:" }

    /// The runner's acts, with a signal for the thread that waits.
    final class Box: Sendable {
        private let seen = Mutex(Seen())
        private let news = NSCondition()

        var now: Seen { seen.withLock { $0 } }

        func change(_ body: (inout Seen) -> Void) {
            news.lock()
            seen.withLock { body(&$0) }
            news.broadcast()
            news.unlock()
        }

        func wait(for deadline: Duration, until condition: (Seen) -> Bool) -> Bool {
            let end = Date(timeIntervalSinceNow: Double(deadline.components.seconds))
            news.lock()
            defer { news.unlock() }
            while !condition(now) {
                if !news.wait(until: end) { return condition(now) }
            }
            return true
        }
    }

    /// A LaunchGate file.
    static func document(required: String? = nil, latest: String? = nil) -> String {
        let objects = [
            required.map { #""requiredUpdate": {"minimumVersion": "\#($0)", "message": "Upgrade."}"# },
            latest.map { #""optionalUpdate": {"optionalVersion": "\#($0)", "message": "There is more."}"# },
        ]
        return "{\"ios\": {\(objects.compactMap { $0 }.joined(separator: ","))}}"
    }
}

/// The App Store's answer of SEEDS S4, as the store sends it.
enum LookupSample {
    static func body(
        version: String = "1.01", released: String = "2016-11-20T21:03:47Z", storefront: String = "us"
    ) -> String {
        #"""



        {
         "resultCount":1,
         "results": [
        {"screenshotUrls":["http://a3.mzstatic.com/us/r30/Purple71/v4/screen696x696.jpeg"], "ipadScreenshotUrls":[], "appletvScreenshotUrls":[], "artworkUrl512":"http://is4.mzstatic.com/image/thumb/512x512bb.jpg", "artistViewUrl":"https://itunes.apple.com/us/developer/id1173193998?uo=4", "kind":"software", "features":[], "supportedDevices":["iPhone5", "iPadMini"], "advisories":[], "isGameCenterEnabled":false, "trackCensoredName":"\u65e5\u8bed", "languageCodesISO2A":["EN", "ZH"], "fileSizeBytes":"24063488", "contentAdvisoryRating":"4+", "trackViewUrl":"https://itunes.apple.com/\#(storefront)/app/%E6%97%A5%E8%AF%AD/id1173193999?mt=8&uo=4", "trackContentRating":"4+", "averageUserRating":4.5, "price":0.00, "version":"\#(version)", "bundleId":"com.imlian.QZJapanese", "trackId":1173193999, "artistId":1173193998, "releaseNotes":"1. Erste Zeile\n2. Zweite \"Zeile\"\n3. \ud83d\ude80", "minimumOsVersion":"8.0", "currentVersionReleaseDate":"\#(released)", "releaseDate":"2016-11-10T02:29:11Z", "genreIds":["6017"], "isVppDeviceBasedLicensingEnabled":true, "formattedPrice":"Free"}]
        }



        """#
    }

    static let empty = "\n\n\n{\n \"resultCount\":0,\n \"results\": []\n}\n\n\n"
}
