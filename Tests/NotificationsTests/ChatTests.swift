// SPDX-License-Identifier: Apache-2.0
import Foundation
import HookReceiver
import Notifications
import OwnThread
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import TestStores
import Testing
import UpgradeRules

/// The texts for people: in chat systems, and about the relay itself.
@Suite(.ownThread) struct ChatTests {
    private func text(_ body: [UInt8]) throws -> String {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        #expect(Array(object.keys) == ["text"])
        return try #require(object["text"] as? String)
    }

    @Test func `A text has the facts and the remedy, and mentions nobody`() throws {
        let bench = try NotifierLiveTests.Bench()
        let key = try bench.announce("2.0.0")
        var campaign = try #require(try bench.store.campaign(key))
        func text(_ type: EventType) throws -> String {
            try self.text(
                NotificationDocument.slack(
                    of: RelayEvent(id: "1", type: type, at: bench.now, subject: .campaign(campaign))))
        }
        (campaign.facts.state, campaign.facts.reason) = (.suspended, "<!channel> 403 & <https://evil.example|here>")
        #expect(
            try text(.suspended) == """
                *com.example.app ios 2.0.0* campaign \(campaign.id) stands still: &lt;!channel&gt; 403 &amp; \
                &lt;https://evil.example|here&gt;
                `upgrade-relay campaigns show \(campaign.id)` says more
                `upgrade-relay campaigns resume \(campaign.id)` goes on
                """)
        (campaign.facts.state, campaign.requirement.canary, campaign.figures.counts.accepted) = (
            .running, ["1", "2"], 3
        )
        (campaign.figures.counts.rejected, campaign.facts.reason) = (1, nil)
        #expect(
            try text(.canaryDone) == """
                *com.example.app ios 2.0.0* the canary, 2 phone numbers, is done: 3 accepted, 1 rejected
                `upgrade-relay campaigns approve \(campaign.id)` sends to everybody
                `upgrade-relay campaigns cancel \(campaign.id)` takes it back
                """)
        for type in EventType.allCases where type.rawValue.hasPrefix("campaign.") {
            #expect(try !text(type).contains("Optional"), "\(type)")
        }
        let part = RelayEvent(id: "1", type: .degraded, at: bench.now, subject: .part("store", reason: "full > 99 %"))
        #expect(
            try self.text(NotificationDocument.slack(of: part)).hasPrefix(
                "*store* does not do its work: full &gt; 99 %"))
    }

    @Test
    func
        `A part in trouble is told although the store refuses, to whom wants it, without a signature where there is no secret`()
        throws
    {
        let bench = try NotifierLiveTests.Bench()
        let chat = try HookReceiver()
        let other = try HookReceiver()
        defer {
            chat.stop()
            other.stop()
        }
        let notifier = bench.notifier()
        defer { notifier.stop() }
        var target = try bench.target(chat.url, events: [.degraded])
        (target.secret, target.format) = (nil, .slack)
        func event(_ type: EventType) -> RelayEvent {
            RelayEvent(id: "\(type)", type: type, at: bench.now, subject: .part("store", reason: "it is full"))
        }
        // An event from before the start is not lost.
        notifier.notify(event(.degraded))
        try notifier.start([target, try bench.target(other.url, events: [.recovered])])
        #expect(chat.wait { $0.count == 1 })
        bench.store.close()
        notifier.notify(event(.recovered))
        #expect(other.wait { $0.count == 1 })
        #expect(chat.deliveries.count == 1 && other.deliveries.count == 1)
        #expect(chat.deliveries.first?.headers["webhook-signature"] == nil)
        #expect(other.deliveries.first?.isVerified == true)
        #expect(other.deliveries.first?.data["part"] as? String == "store")
    }

    @Test func `Receivers that a store does not know hear that it went back, and are its receivers later`() throws {
        let bench = try NotifierLiveTests.Bench()
        let receiver = try HookReceiver()
        defer { receiver.stop() }
        let notifier = bench.notifier()
        defer { notifier.stop() }
        let memory = bench.store.membership.memory
        memory.fell(to: nil)
        try notifier.start([bench.target(receiver.url, events: EventType.usual)])
        notifier.notify(
            RelayEvent(
                id: "1", type: .wentBack, at: bench.now, subject: .part("past", reason: "the store went back in time")))
        #expect(receiver.wait { $0.count == 1 })
        #expect(receiver.deliveries.first?.data["reason"] as? String == "the store went back in time")
        let line = try #require(bench.line(with: "notified "))
        #expect(line.contains("part=past type=store.wentBack") && line.contains("attempt=1"), "\(line)")
        #expect(notifier.figures.attempts.values.contains { $0[.delivered] == 1 })
        try bench.store.lookBack()
        let deadline = ContinuousClock.now + .seconds(60)
        while try bench.store.inspect("SELECT count(*) FROM receiver") != [["1"]] {
            try #require(ContinuousClock.now < deadline, "it is not adopted within a minute")
        }
    }
}
