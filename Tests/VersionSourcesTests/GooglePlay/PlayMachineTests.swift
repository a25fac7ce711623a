// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import StorePeers
import Testing
import UpgradeRules

@testable import VersionSources

@Suite("What Google Play is asked, and when")
struct PlayMachineTests {
    private static let start = Timestamp(seconds: 1_800_000_000)
    private static let every = Duration.seconds(600)

    private static let old = GooglePlaySummary(name: "1.9.0", builds: [190], lifecycle: "PUBLISHED")
    private static let new = GooglePlaySummary(name: "2.0.0", builds: [200], lifecycle: "PUBLISHED")
    private static let pending = GooglePlaySummary(name: "2.0.0", builds: [200], lifecycle: "IN_REVIEW")

    private static func rollout(
        _ build: Int64, _ status: GooglePlayEvidence.Status, _ fraction: Double = 1
    ) -> GooglePlayRollout {
        GooglePlayRollout(
            name: build == 200 ? "200 (2.0.0)" : "1.9.0", builds: [build], status: status, fraction: fraction)
    }

    private static func wanted() throws -> GateQuestion {
        GateQuestion(try Version("2.0.0"), build: 200)
    }

    private static func machine() -> GooglePlayMachine {
        GooglePlayMachine(source: GooglePlaySource(packageName: "com.example.app"), start: start)
    }

    private func evidence(_ conclusion: GooglePlayMachine.Conclusion?) throws -> GooglePlayEvidence {
        guard case .success(let evidence)? = conclusion else { throw SourceFault("\(String(describing: conclusion))") }
        return evidence
    }

    private func fault(_ conclusion: GooglePlayMachine.Conclusion?) throws -> SourceFault {
        guard case .failure(let fault)? = conclusion else { throw SourceFault("\(String(describing: conclusion))") }
        return fault
    }

    @Test("an edit is opened at first, and then only where what is published changed")
    func changes() throws {
        var machine = Self.machine()
        #expect(machine.next(at: Self.start - .seconds(1)) == .wait(until: Self.start))
        #expect(machine.next(at: Self.start) == .ask(.list))
        #expect(machine.listed(.success([Self.old]), wanted: [], at: Self.start) == nil)
        #expect(machine.next(at: Self.start) == .ask(.readTrack))
        let first = try evidence(machine.read(.success([Self.rollout(190, .completed)]), leftover: nil, at: Self.start))
        #expect(first.offeredToAll?.build == 190 && first.offeredToAll?.version?.text == "1.9.0")
        var now = Self.start
        // The list alone shows a release that is in review.
        for list in [[Self.old], [Self.old, Self.pending], [Self.old, Self.pending]] {
            now = now + Self.every
            #expect(machine.next(at: now - .seconds(1)) == .wait(until: now))
            #expect(machine.next(at: now) == .ask(.list))
            let same = try evidence(machine.listed(.success(list), wanted: [Self.wanted()], at: now))
            #expect(same.askedAt == now)
            #expect(same.releases.map(\.lifecycle) == list.map(\.lifecycle))
        }
        now = now + Self.every
        #expect(machine.listed(.success([Self.new, Self.old]), wanted: [], at: now) == nil)
        #expect(machine.next(at: now) == .ask(.readTrack))
    }

    @Test("while the requirement hangs on a rollout, an edit is opened at every third poll")
    func rollouts() throws {
        var machine = Self.machine()
        var (now, edits) = (Self.start, 0)
        func round(_ machine: inout GooglePlayMachine, _ rollout: GooglePlayRollout, hangs: Bool) throws
            -> GooglePlayEvidence
        {
            #expect(machine.next(at: now) == .ask(.list))
            defer { now = now + Self.every }
            let wanted = hangs ? [try Self.wanted()] : []
            if let end = machine.listed(.success([Self.new, Self.old]), wanted: wanted, at: now) {
                return try evidence(end)
            }
            edits += 1
            #expect(machine.next(at: now) == .ask(.readTrack))
            return try evidence(
                machine.read(.success([rollout, Self.rollout(190, .completed)]), leftover: nil, at: now))
        }
        let tenth = Self.rollout(200, .inProgress, 0.1)
        #expect(try round(&machine, tenth, hangs: true).releases.first?.fraction == 0.1)
        for _ in 0..<2 {
            // The rollout's fraction is as old as the last edit.
            #expect(try round(&machine, tenth, hangs: true).askedAt == Self.start)
        }
        #expect(edits == 1)
        #expect(try round(&machine, Self.rollout(200, .halted, 0.1), hangs: true).releases.first?.status == .halted)
        #expect(edits == 2)
        // If no requirement waits for it, the list is enough.
        for _ in 0..<9 { _ = try round(&machine, tenth, hangs: false) }
        #expect(edits == 2)
        #expect(try round(&machine, Self.rollout(200, .completed), hangs: true).offeredToAll?.build == 200)
        #expect(edits == 3)
        for _ in 0..<5 { _ = try round(&machine, Self.rollout(200, .completed), hangs: true) }
        #expect(edits == 3, "what is completed does not grow any more")
        #expect(try round(&machine, Self.rollout(200, .halted), hangs: true).releases.first?.status == .halted)
        #expect(edits == 4, "but it may be halted")
    }

    @Test("a release that is in review is not offered, whatever the edit says of it")
    func review() throws {
        var machine = Self.machine()
        _ = machine.listed(.success([Self.old, Self.pending]), wanted: [], at: Self.start)
        let answer = try evidence(
            machine.read(
                .success([Self.rollout(200, .completed), Self.rollout(190, .completed)]), leftover: nil, at: Self.start)
        )
        #expect(answer.offeredToAll?.build == 190)
        #expect(answer.releases.first { $0.build == 200 }?.lifecycle == "IN_REVIEW")
        // Published in part, and a wider rollout waits for its review: how far the part is, is not known.
        _ = machine.listed(.success([Self.old, Self.new, Self.pending]), wanted: [], at: Self.start + Self.every)
        let change = try evidence(
            machine.read(
                .success([Self.rollout(200, .completed), Self.rollout(190, .completed)]), leftover: nil,
                at: Self.start + Self.every))
        #expect(change.offeredToAll?.build == 190)
    }

    @Test("a track that is not used is empty; one that was used does not become so")
    func empty() throws {
        var machine = Self.machine()
        #expect(try evidence(machine.listed(.success([]), wanted: [], at: Self.start)).releases.isEmpty)
        _ = machine.listed(.success([Self.old]), wanted: [], at: Self.start + Self.every)
        _ = machine.read(.success([Self.rollout(190, .completed)]), leftover: nil, at: Self.start + Self.every)
        let lie = try fault(machine.listed(.success([]), wanted: [], at: Self.start + Self.every * 2))
        #expect(lie.reason.contains("where it listed version code 190 before"))
        #expect(machine.next(at: Self.start + Self.every * 3) == .ask(.list))
    }

    @Test("a fault puts the next question off as the schedule says, and the edit is asked for again")
    func faults() throws {
        var machine = Self.machine()
        let busy = SourceFault("HTTP 429", isThrottled: true, retryAfter: .seconds(3600))
        #expect(machine.listed(.failure(busy), wanted: [], at: Self.start) == .failure(busy))
        #expect(machine.next(at: Self.start) == .wait(until: Self.start + .seconds(3600)))
        var now = Self.start + .seconds(3600)
        _ = machine.listed(.success([Self.old]), wanted: [], at: now)
        let broken = SourceFault("HTTP 500")
        #expect(machine.read(.failure(broken), leftover: nil, at: now) == .failure(broken))
        now = now + Self.every
        #expect(machine.next(at: now) == .ask(.list))
        #expect(machine.listed(.success([Self.old]), wanted: [], at: now) == nil, "not read yet")
        let odd = try fault(machine.read(.success([Self.rollout(200, .completed)]), leftover: nil, at: now))
        #expect(odd.reason.contains("lists version code 190 as published, and its edit does not have it"))
    }

    @Test("an edit that could not be deleted is deleted at the next poll, three times at most")
    func leftovers() throws {
        var machine = Self.machine()
        _ = machine.listed(.success([Self.old]), wanted: [], at: Self.start)
        _ = machine.read(.success([Self.rollout(190, .completed)]), leftover: "7", at: Self.start)
        var now = Self.start
        for _ in 0..<3 {
            #expect(machine.next(at: now) == .wait(until: now + Self.every))
            now = now + Self.every
            #expect(machine.next(at: now) == .ask(.discard(edit: "7")))
            machine.discarded(isGone: false)
            #expect(machine.next(at: now) == .ask(.list), "once at each poll")
            _ = machine.listed(.success([Self.old]), wanted: [], at: now)
        }
        now = now + Self.every
        #expect(machine.next(at: now) == .ask(.list))
        _ = machine.listed(.success([Self.new]), wanted: [], at: now)
        _ = machine.read(.failure(SourceFault("HTTP 500")), leftover: "8", at: now)
        now = now + Self.every
        #expect(machine.next(at: now) == .ask(.discard(edit: "8")))
        machine.discarded(isGone: true)
        _ = machine.listed(.failure(SourceFault("HTTP 500")), wanted: [], at: now)
        #expect(machine.next(at: now + Self.every) == .ask(.list))
    }

    @Test("who knows that something happened is asked for at once, but not in a pause, and once a minute")
    func hastened() throws {
        var machine = Self.machine()
        _ = machine.listed(.success([]), wanted: [], at: Self.start)
        machine.hasten(at: Self.start + .seconds(10))
        #expect(machine.next(at: Self.start + .seconds(10)) == .wait(until: Self.start + .seconds(60)))
        #expect(machine.next(at: Self.start + .seconds(60)) == .ask(.list))
        let now = Self.start + .seconds(200)
        _ = machine.listed(.success([]), wanted: [], at: Self.start + .seconds(60))
        machine.hasten(at: now)
        #expect(machine.next(at: now) == .ask(.list))
        _ = machine.listed(
            .failure(SourceFault("HTTP 429", isThrottled: true, retryAfter: .seconds(3600))), wanted: [], at: now)
        machine.hasten(at: now + .seconds(100))
        #expect(machine.next(at: now + .seconds(100)) == .wait(until: now + .seconds(3600)))
    }

    @Test("versions are read by the pattern of the source")
    func pattern() throws {
        let pattern = try TagPattern(#"^Release (\d+)$"#)
        let source = GooglePlaySource(packageName: "com.example.app", namePattern: pattern)
        var machine = GooglePlayMachine(source: source, start: Self.start)
        let named = GooglePlaySummary(name: "Release 7", builds: [7], lifecycle: "PUBLISHED")
        _ = machine.listed(.success([named]), wanted: [], at: Self.start)
        let rollout = GooglePlayRollout(
            name: "Release 7", builds: [7], status: .completed, fraction: 1)
        #expect(
            try evidence(machine.read(.success([rollout]), leftover: nil, at: Self.start)).offeredToAll?.version?.text
                == "7")
    }

    @Test("a name may say the oldest system, and a track who it is for and how urgent it is")
    func systems() throws {
        let source = GooglePlaySource(
            packageName: "com.example.app", namePattern: try TagPattern(#"^(\d+(?:\.\d+)+)"#),
            minimumOSPattern: try TagPattern(#"API (\d+)"#))
        #expect(source.query.contains(#" API (\d+)"#), "by another pattern the same names are other systems")
        var machine = GooglePlayMachine(source: source, start: Self.start)
        let name = "2.0.0 (API 29)"
        let list = [GooglePlaySummary(name: name, builds: [200], lifecycle: "PUBLISHED"), Self.old]
        _ = machine.listed(.success(list), wanted: [], at: Self.start)
        let rollout = GooglePlayRollout(
            name: name, builds: [200], status: .completed, fraction: 1, countries: ["DE"], priority: 3)
        let read = try evidence(
            machine.read(.success([rollout, Self.rollout(190, .completed)]), leftover: nil, at: Self.start))
        let release = try #require(read.published(GateQuestion(try Version("2.0.0"))))
        #expect(release.minimumOS?.text == "29" && release.countries == ["DE"] && release.priority == 3)
        #expect(read.releases.last?.minimumOS == nil && read.offeredToAll?.build == 190)
        #expect(
            read.hangsOnRollout(GateQuestion(try Version("2.0.0"))), "countries are added without a change in the list")
    }
}
