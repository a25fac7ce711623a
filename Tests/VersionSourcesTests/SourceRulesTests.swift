// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import UpgradeRules
import WireFormat

@testable import VersionSources

@Suite("Sources, as tables")
struct SourceRulesTests {
    static let start = Timestamp(seconds: 1_000_000)
    static let source = AppStoreSource(trackID: 1_173_193_999, bundleID: "com.imlian.QZJapanese", country: "cn")

    static func read(
        _ text: String,
        of source: AppStoreSource = AppStoreSource(trackID: 1_173_193_999, bundleID: "com.imlian.QZJapanese")
    ) throws(SourceFault) -> AppStoreEntry? {
        try AppStoreAnswer.read(Array(text.utf8), of: source, by: source.keys[0])
    }

    static func entry(_ version: String, bundleID: String = "com.imlian.QZJapanese") throws -> AppStoreEntry {
        AppStoreEntry(
            listing: StoreListing(version: try Version(version)), bundleID: bundleID, trackID: 1_173_193_999)
    }

    @Test("an answer in the shape of the store's own goes through")
    func sample() throws {
        let entry = try #require(try Self.read(LookupSample.body()))
        #expect(entry.listing.version.text == "1.01")
        #expect(entry.bundleID == "com.imlian.QZJapanese")
        #expect(entry.trackID == 1_173_193_999)
        #expect(
            entry.listing.trackViewURL == "https://itunes.apple.com/us/app/%E6%97%A5%E8%AF%AD/id1173193999?mt=8&uo=4")
        #expect(entry.listing.releasedAt == Timestamp(seconds: 1_479_675_827))
        // Numbers where strings were, and the other way round.
        let odd = #"{"results":[{"version":2,"trackId":"7","bundleId":null,"currentVersionReleaseDate":5}]}"#
        let other = try #require(try Self.read(odd, of: AppStoreSource(trackID: 7, bundleID: nil)))
        #expect(other == AppStoreEntry(listing: StoreListing(version: try Version("2")), bundleID: nil, trackID: 7))
        #expect(try Self.read(LookupSample.empty) == nil)
    }

    @Test(
        "what is no answer is a fault",
        arguments: [
            "", "   ", "<!DOCTYPE html><html></html>", "[]", "{}", #"{"results":{}}"#, #"{"results":[1]}"#,
            #"{"results":[{}]}"#, #"{"results":[{"version":"two"}]}"#, #"{"results":[{"version":"1.0"}"#,
        ])
    func lies(_ body: String) {
        #expect(throws: SourceFault.self) { try Self.read(body) }
    }

    @Test("both keys are asked and the newer answer is believed", arguments: [("1.9", "1.10"), ("1.10", "1.9")])
    func newer(_ answers: (String, String)) throws {
        var machine = LookupMachine(source: Self.source, start: Self.start)
        #expect(machine.next(at: Self.start - .seconds(1)) == .wait(until: Self.start))
        #expect(machine.next(at: Self.start) == .ask(.trackID(1_173_193_999)))
        #expect(machine.answered(.success(try Self.entry(answers.0)), known: nil, at: Self.start) == nil)
        #expect(machine.next(at: Self.start) == .ask(.bundleID("com.imlian.QZJapanese")))
        let end = machine.answered(.success(try Self.entry(answers.1)), known: nil, at: Self.start)
        #expect(end == .success(StoreListing(version: try Version("1.10"))))
        #expect(machine.next(at: Self.start) == .wait(until: Self.start + .seconds(900)))
    }

    @Test("one good answer is enough; an older version, another app and an empty list are not")
    func faults() throws {
        func round(
            _ first: Result<AppStoreEntry?, SourceFault>, _ second: Result<AppStoreEntry?, SourceFault>,
            known: String? = nil
        ) throws -> Result<StoreListing?, SourceFault>? {
            var machine = LookupMachine(source: Self.source, start: Self.start)
            let known = try known.map { try Version($0) }
            if let early = machine.answered(first, known: known, at: Self.start) { return early }
            return machine.answered(second, known: known, at: Self.start)
        }
        let good = try Self.entry("2.0")
        let broken = SourceFault("HTML")
        #expect(try round(.failure(broken), .success(good)) == .success(good.listing))
        #expect(try round(.success(good), .success(nil)) == .success(good.listing))
        #expect(try round(.success(nil), .success(nil)) == .success(nil))
        #expect(try round(.failure(broken), .success(nil)) == .failure(broken))
        guard case .failure(let stale)? = try round(.success(good), .success(nil), known: "2.0.1") else {
            throw SourceFault("an older version was believed")
        }
        #expect(stale.reason == "the App Store shows 2.0, older than 2.0.1, which it showed before")
        guard
            case .failure(let other)? = try round(
                .success(Self.entry("9.0", bundleID: "com.other")), .success(nil))
        else { throw SourceFault("another app was believed") }
        #expect(other.reason.contains("com.other"))
        // A store that throttles is not asked by the other key, too.
        let throttled = SourceFault("HTTP 403", isThrottled: true)
        #expect(try round(.failure(throttled), .success(good)) == .failure(throttled))
    }

    @Test("A clock that is set back puts off the next question by no more than was decided")
    func scheduleBehindTheClock() {
        var schedule = PollSchedule(every: .seconds(900), start: Self.start)
        schedule.succeeded(at: Self.start)
        #expect(schedule.due(at: Self.start - .seconds(30)) == Self.start + .seconds(900))
        #expect(schedule.due(at: Self.start - .seconds(7200)) == Self.start - .seconds(7200))
        // A wait that the source itself asked for is kept.
        schedule.failed(SourceFault("HTTP 403", isThrottled: true, retryAfter: .seconds(10_000)), at: Self.start)
        #expect(schedule.due(at: Self.start) == Self.start + .seconds(10_000))
    }

    @Test("when a source is asked again")
    func schedule() {
        let every = Duration.seconds(900)
        func after(_ faults: [SourceFault?]) -> Int64 {
            var schedule = PollSchedule(every: every, start: Self.start)
            for fault in faults {
                if let fault { schedule.failed(fault, at: Self.start) } else { schedule.succeeded(at: Self.start) }
            }
            return (schedule.next - Self.start).components.seconds
        }
        let plain = SourceFault("no")
        let busy = SourceFault("HTTP 429", isThrottled: true)
        let told = SourceFault("HTTP 403", isThrottled: true, retryAfter: .seconds(29))
        let week = SourceFault("HTTP 403", isThrottled: true, retryAfter: .seconds(7 * 86_400))
        #expect(after([nil]) == 900)
        #expect(after([plain]) == 900)
        #expect(after([plain, plain, plain]) == 900)
        #expect(after([SourceFault("HTTP 500", retryAfter: .seconds(3600))]) == 3600)
        #expect(after([told]) == 29)
        #expect(after([told, told]) == 900)
        #expect(after([told, told, told]) == 1800)
        #expect(after([told, nil, told]) == 29)
        #expect(after([busy]) == 1800)
        #expect(after([busy, busy]) == 3600)
        #expect(after(Array(repeating: busy, count: 40)) == 6 * 3600)
        #expect(after([week]) == 86_400)
    }

    @Test("questions are spaced across apps, and a block holds for all of them")
    func pace() {
        var pace = LookupPace(spacing: .seconds(3))
        func take(_ time: Timestamp) -> Timestamp? { pace.take(at: time) }
        #expect(take(Self.start) == nil)
        #expect(take(Self.start + .seconds(1)) == Self.start + .seconds(3))
        #expect(take(Self.start + .seconds(3)) == nil)
        pace.block(until: Self.start + .seconds(100))
        #expect(take(Self.start + .seconds(50)) == Self.start + .seconds(100))
        #expect(take(Self.start + .seconds(100)) == nil)
        // The clock was set back by an hour.
        #expect(take(Self.start - .seconds(3600)) == nil)
    }

    @Test("a file that is missing for a moment is no fault")
    func settling() {
        var machine = FileWatchMachine(start: Self.start)
        func isReported(_ time: Timestamp) -> Bool { machine.bad(at: time) }
        #expect(machine.next == Self.start)
        #expect(!isReported(Self.start))
        #expect(machine.next == Self.start + .seconds(1))
        machine.changed(at: Self.start + .milliseconds(500))
        #expect(machine.next == Self.start + .milliseconds(500))
        #expect(!isReported(Self.start + .milliseconds(500)))
        #expect(machine.next == Self.start + .seconds(1))
        machine.good(at: Self.start + .milliseconds(700))
        #expect(!isReported(Self.start + .seconds(10)))
        #expect(isReported(Self.start + .seconds(11)))
        #expect(machine.next == Self.start + .seconds(71))
        // Many events, one read for every fiftieth of a second.
        machine.changed(at: Self.start + .seconds(11) + .milliseconds(10))
        #expect(machine.next == Self.start + .seconds(11) + .milliseconds(50))
    }

    @Test("a LaunchGate file is read as the phones read it")
    func launchGate() throws {
        func read(_ text: String) throws -> LaunchGateReading { try LaunchGateReading(Array(text.utf8)) }
        let whole = try read(
            """
            {"ios": {"requiredUpdate": {"minimumVersion": "1.1", "message": "Now."},
                     "optionalUpdate": {"optionalVersion": "1.2", "message": "Soon.", "unknown": 1},
                     "alert": {"message": "Tonight.", "blocking": true}},
             "android": {"requiredUpdate": {"minimumVersion": "9", "message": "…"}}}
            """)
        #expect(
            whole == LaunchGateReading(required: try Version("1.1"), message: "Now.", latest: try Version("1.2")))
        #expect(try read(#"{"ios":{}}"#) == LaunchGateReading())
        // Its message goes into pushes, and onto terminals.
        for bad in [#"\u001b[2J"#, #"\u202e"#] {
            let text = #"{"ios":{"requiredUpdate":{"minimumVersion":"1.1","message":"Now\#(bad)"}}}"#
            #expect(throws: SourceFault.self, "\(bad)") { try read(text) }
        }
        #expect(try read(#"{"ios":{"requiredUpdate":{"minimumVersion":"","message":"m"}}}"#) == LaunchGateReading())
        #expect(try read(SourceBench.document(required: "2.0", latest: "1.0")).latest == nil)
        for wrong in [
            "{}", #"{"android":{}}"#, #"{"ios":[]}"#, #"{"ios":{"requiredUpdate":{"minimumVersion":"1"}}}"#,
            #"{"ios":{"requiredUpdate":{"minimumVersion":1,"message":"m"}}}"#,
            #"{"ios":{"optionalUpdate":{"optionalVersion":"1.x","message":"m"}}}"#,
            #"{"ios":{"alert":{"message":"m"}}}"#, "<html>", "",
        ] {
            #expect(throws: SourceFault.self, "\(wrong)") { try read(wrong) }
        }
    }

    @Test(
        "what may be shown of an address",
        arguments: [
            ("https://cdn.example/a.json", "https://cdn.example/a.json", "https://cdn.example"),
            ("https://cdn.example/a.json?signature=s#f", "https://cdn.example/a.json?…", "https://cdn.example"),
            ("https://cdn.example?signature=a@b", "https://…", "https://cdn.example"),
            ("https://cdn.example/app@2/a.json", "https://…@2/a.json", "https://cdn.example"),
            ("https://u:p@cdn.example:8443/a", "https://…@cdn.example:8443/a", "https://cdn.example:8443"),
            ("https://u:p?q@cdn.example/a", "https://…", "https://u:p"),
            ("//u:p@cdn.example/a?b", "//…@cdn.example/a?…", ""), ("/a?b=//c/d", "/a?…", ""),
            ("https://cdn.example/a?\u{301}b", "https://cdn.example/a?…", "https://cdn.example"),
            ("/elsewhere?signature=s", "/elsewhere?…", ""),
            ("u:p@h", "…@h", "h"), ("http://[::1]:80?x", "http://[::1]:80?…", "http://[::1]:80"), ("", "", ""),
        ])
    func shown(address: String, whole: String, origin: String) {
        #expect(ShownAddress.withoutSecrets(address) == whole)
        #expect(ShownAddress.origin(address) == origin)
    }
}
