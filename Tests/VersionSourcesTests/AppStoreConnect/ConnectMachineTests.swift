// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import StorePeers
import Testing
import UpgradeRules

@testable import VersionSources

@Suite("App Store Connect, as a machine")
struct ConnectMachineTests {
    static let start = Timestamp(seconds: 1_784_000_000)
    static let first = PollStep<AppStoreConnectMachine.Question>.ask(.page(nil))

    private static func link(_ cursor: Int) -> String {
        "https://api.appstoreconnect.apple.com/v1/apps/6446998023/appStoreVersions?cursor=\(cursor)"
    }

    private static func page(_ versions: [ConnectSample.Listed], next: Int? = nil) throws
        -> Result<AppStoreConnectMachine.Answer, SourceFault>
    {
        .success(.page(try ConnectSample.read(ConnectSample.page(versions, next: next.map(link)))))
    }

    private static func evidence(_ versions: String...) throws -> AppStoreConnectEvidence {
        AppStoreConnectEvidence(
            askedAt: start - .seconds(300),
            releases: try versions.map { .init(version: try Version($0), state: AppStoreConnectEvidence.Release.live) })
    }

    /// One round of one answer.
    private static func round(
        _ versions: [ConnectSample.Listed], before: AppStoreConnectEvidence? = nil
    ) throws -> Result<AppStoreConnectEvidence, SourceFault>? {
        var machine = AppStoreConnectMachine(source: ConnectSample.source(), start: start)
        return machine.answered(try page(versions), rate: nil, before: before, at: start)
    }

    @Test("a round: pages until there is no next, the phased release where no page tells it, then a wait")
    func round() throws {
        var machine = AppStoreConnectMachine(source: ConnectSample.source(), start: Self.start)
        #expect(machine.next(at: Self.start - .seconds(1)) == .wait(until: Self.start))
        #expect(machine.next(at: Self.start) == Self.first)
        let two = ConnectSample.Listed(version: "2.0", isIncluded: false)
        #expect(
            machine.answered(
                try Self.page([.init(version: "2.1", state: "IN_REVIEW"), two], next: 1), rate: nil, before: nil,
                at: Self.start) == nil)
        #expect(machine.next(at: Self.start) == .ask(.page(Self.link(1))))
        #expect(
            machine.answered(
                try Self.page([.init(version: "1.10", state: "REPLACED_WITH_NEW_VERSION")]), rate: nil, before: nil,
                at: Self.start) == nil)
        #expect(machine.next(at: Self.start) == .ask(.phase(versionID: two.id)))
        let end = machine.answered(.success(.phase(.paused)), rate: nil, before: nil, at: Self.start + .seconds(2))
        guard case .success(let evidence)? = end else { throw SourceFault("\(String(describing: end))") }
        #expect(evidence.askedAt == Self.start + .seconds(2))
        // Releases that are older than the live one are left out.
        #expect(evidence.releases.map(\.version.text) == ["2.1", "2.0"])
        #expect(evidence.offered?.phase == .paused)
        #expect(machine.next(at: Self.start + .seconds(2)) == .wait(until: Self.start + .seconds(302)))
        #expect(machine.next(at: Self.start + .seconds(302)) == Self.first)
    }

    @Test("no phased release, told by 404 or by null, is none")
    func noPhase() throws {
        var machine = AppStoreConnectMachine(source: ConnectSample.source(), start: Self.start)
        _ = machine.answered(
            try Self.page([.init(version: "2.0", isIncluded: false)]), rate: nil, before: nil, at: Self.start)
        guard
            case .success(let none)? = machine.answered(.success(.phase(nil)), rate: nil, before: nil, at: Self.start)
        else { throw SourceFault("no evidence") }
        #expect(none.offered?.phase == nil && none.offered?.version.text == "2.0")
        guard case .success(let null)? = try Self.round([.init(version: "2.0")]) else {
            throw SourceFault("no evidence")
        }
        #expect(null == none)
    }

    @Test("what was live can only be replaced by something newer")
    func never() throws {
        let before = try Self.evidence("2.0", "1.9")
        func fault(_ versions: [ConnectSample.Listed]) throws -> String? {
            if case .failure(let fault)? = try Self.round(versions, before: before) { fault.reason } else { nil }
        }
        #expect(
            try fault([]) == "App Store Connect shows no version that is live; 2.0, which was, is not in the list")
        #expect(
            try fault([.init(version: "2.0", state: "DEVELOPER_REJECTED")])
                == "App Store Connect shows no version that is live; 2.0, which was, is DEVELOPER_REJECTED now")
        #expect(
            try fault([.init(version: "1.9")])
                == "App Store Connect shows 1.9 as the newest that is live, older than 2.0, which was before")
        #expect(try fault([.init(version: "2.0.0", phase: "PAUSED")]) == nil)
        #expect(try fault([.init(version: "2.0.1")]) == nil)
        // An app that never had a release.
        #expect(try Self.round([]) == .success(AppStoreConnectEvidence(askedAt: Self.start, releases: [])))
    }

    @Test("a list without an end is a fault")
    func endless() throws {
        var machine = AppStoreConnectMachine(source: ConnectSample.source(), start: Self.start)
        var asked = 0
        while true {
            asked += 1
            let end = machine.answered(try Self.page([], next: asked), rate: nil, before: nil, at: Self.start)
            guard let end else { continue }
            guard case .failure(let fault) = end else { throw SourceFault("believed") }
            #expect(fault.reason.contains("has no end"))
            break
        }
        #expect(asked == AppStoreConnectMachine.maximumPages)
        #expect(machine.next(at: Self.start) == .wait(until: Self.start + .seconds(300)))
        var twice = AppStoreConnectMachine(source: ConnectSample.source(), start: Self.start)
        #expect(twice.answered(try Self.page([], next: 1), rate: nil, before: nil, at: Self.start) == nil)
        guard case .failure? = twice.answered(try Self.page([], next: 1), rate: nil, before: nil, at: Self.start) else {
            throw SourceFault("a page twice was believed")
        }
    }

    @Test("when it is asked again: every, Retry-After, the budget's last tenth, and at once where something happened")
    func schedule() throws {
        func machine() -> AppStoreConnectMachine { .init(source: ConnectSample.source(), start: Self.start) }
        func pause(_ header: String) throws -> PollStep<AppStoreConnectMachine.Question> {
            var machine = machine()
            _ = machine.answered(
                try Self.page([.init(version: "2.0")]), rate: AppStoreConnectRate(header), before: nil, at: Self.start)
            machine.hasten(at: Self.start + .seconds(60))
            return machine.next(at: Self.start + .seconds(60))
        }
        #expect(try pause("user-hour-lim:3500;user-hour-rem:3400;") == Self.first)
        #expect(try pause("user-hour-lim:3500;user-hour-rem:300;") == .wait(until: Self.start + .seconds(900)))
        #expect(try pause("user-hour-lim:3500;user-hour-rem:0;") == .wait(until: Self.start + .seconds(1800)))

        var throttled = machine()
        let often = SourceFault("HTTP 429", isThrottled: true, retryAfter: .seconds(1000))
        #expect(throttled.answered(.failure(often), rate: nil, before: nil, at: Self.start) == .failure(often))
        throttled.hasten(at: Self.start)
        #expect(throttled.next(at: Self.start) == .wait(until: Self.start + .seconds(1000)))

        var broken = machine()
        let fault = SourceFault("HTTP 500")
        #expect(broken.answered(.failure(fault), rate: nil, before: nil, at: Self.start) == .failure(fault))
        #expect(broken.next(at: Self.start) == .wait(until: Self.start + .seconds(300)))
        // Not sooner than half a minute after the last round.
        broken.hasten(at: Self.start + .seconds(1))
        #expect(broken.next(at: Self.start + .seconds(1)) == .wait(until: Self.start + .seconds(30)))
        broken.hasten(at: Self.start + .seconds(90))
        #expect(broken.next(at: Self.start + .seconds(90)) == Self.first)
    }

    @Test(
        "the verdicts that the evidence gives",
        arguments: [
            (nil, true), ("INACTIVE", true), ("ACTIVE", true), ("COMPLETE", true), ("PAUSED", false),
        ] as [(String?, Bool)])
    func verdict(_ phase: String?, _ isOpen: Bool) throws {
        guard case .success(let evidence)? = try Self.round([.init(version: "2.0", phase: phase)]) else {
            throw SourceFault("no evidence")
        }
        let gate = AvailabilityGate(GateQuestion(try Version("2.0")), rules: .init())
        #expect(
            gate.verdict(of: .appStoreConnect, .appStoreConnect(evidence), at: Self.start) { _ in "" }.isOpen == isOpen)
    }
}
