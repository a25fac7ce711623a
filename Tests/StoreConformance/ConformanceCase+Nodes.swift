// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// Several relays that share a store: each has its own campaigns, and a relay that was given up writes nothing more.
extension ConformanceCase {
    static let nodes: [ConformanceCase] = [
        ConformanceCase("a relay that is alone has no place and may do everything") { subject in
            let membership = subject.store.membership
            try check(membership.isAlone && membership.leads && membership.term == 0, "alone")
            try same(try subject.store.nodes(), [])
            try same(try subject.store.campaignsOfOthers(), [])
            try same(try subject.store.lookAtFleet().leader, nil)
        },
        ConformanceCase("of two relays that join one leads; the other follows when it leaves") { subject in
            let (first, second) = try subject.two()
            try check(try first.store.lead(first.node), "the first that asks")
            try check(!(try second.store.lead(second.node)), "there is one already")
            try check(try first.store.lead(first.node), "and goes on")
            let listed = try subject.store.nodes()
            try same(listed.map(\.description.name), ["a", "b"])
            try same(listed.map(\.state), [.alive, .alive])
            try same(listed.map(\.leads), [true, false])
            try first.store.leave(first.node)
            try check(try second.store.lead(second.node), "it left")
            try same(try subject.store.nodes().map(\.state), [.stopped, .alive])
        },
        ConformanceCase("a campaign that one relay sends no other one claims, until it is given back") { subject in
            let (first, second) = try subject.two()
            let campaign = try subject.announce(by: first.store)
            let lease = try present(try first.store.claimRun(campaign.key), "a lease")
            try same(lease.owner, first.node.node)
            try same(try second.store.claimRun(campaign.key), nil)
            try same(try second.store.campaignsOfOthers(), [campaign.key])
            try same(try first.store.campaignsOfOthers(), [])
            // The answer to the first claim may have been lost.
            let again = try present(try first.store.claimRun(campaign.key), "its own, again")
            try check(again.epoch > lease.epoch, "a newer epoch")
            try first.store.releaseRun(lease)
            try same(try second.store.claimRun(campaign.key), nil, "an old lease gives nothing back")
            try first.store.releaseRun(again)
            try check(try second.store.claimRun(campaign.key) != nil, "free")
        },
        ConformanceCase("a campaign that runs is unclaimed while nobody sends it, and only while it runs") { subject in
            let (first, second) = try subject.two()
            try same(try first.store.unclaimedCampaigns(), [])
            let campaign = try subject.announce(by: first.store)
            try same(try second.store.unclaimedCampaigns(), [UnclaimedCampaign(id: campaign.id, app: subject.app)])
            let lease = try present(try first.store.claimRun(campaign.key), "a lease")
            try same(try second.store.unclaimedCampaigns(), [])
            try first.store.releaseRun(lease)
            try same(try second.store.unclaimedCampaigns(), [UnclaimedCampaign(id: campaign.id, app: subject.app)])
            try check(
                try first.store.decide(
                    campaign, .paused, by: Signature(by: "tester", via: "test", at: subject.now)), "it was paused")
            try same(try second.store.unclaimedCampaigns(), [])
        },
        ConformanceCase("campaigns of one project are sent by one relay") { subject in
            let (first, second) = try subject.two()
            let one = try subject.announce(by: first.store)
            let other = try subject.announce(app: AppKey(app: "com.example.other", platform: .android), by: first.store)
            let lease = try present(try first.store.claimRun(one.key, project: "p"), "a lease")
            try same(try second.store.claimRun(other.key, project: "p"), nil)
            try check(try second.store.claimRun(other.key, project: "q") != nil, "another project")
            try subject.releaseAll(of: other, by: second.store)
            try first.store.releaseRun(lease)
            try check(try second.store.claimRun(other.key, project: "p") != nil, "the project's last campaign is over")
        },
        ConformanceCase("a pause of a project's quota outlives the relay that was told of it") { subject in
            let (first, second) = try subject.two()
            let campaign = try subject.announce(by: first.store)
            let lease = try present(try first.store.claimRun(campaign.key, project: "p"), "a lease")
            try same(try second.store.quotaPauses(of: "p"), [:])
            let pauses = ["app production": ProjectQuota.KnownPause(until: subject.now, setbacks: 3)]
            try second.store.keepQuotaPauses(of: "p", pauses)
            try same(try first.store.quotaPauses(of: "p"), [:], "it sends nothing for the project")
            try first.store.keepQuotaPauses(of: "p", pauses)
            try first.store.releaseRun(lease)
            try check(try second.store.claimRun(campaign.key, project: "p") != nil, "it follows")
            try same(try second.store.quotaPauses(of: "p"), pauses)
            try same(try second.store.quotaPauses(of: "q"), [:])
        },
        ConformanceCase("a claim that fails takes no project") { subject in
            let (first, second) = try subject.two()
            let campaign = try subject.announce(by: first.store)
            _ = try first.store.claimRun(campaign.key)
            try same(try second.store.claimRun(campaign.key, project: "p"), nil)
            let other = try subject.announce(app: AppKey(app: "com.example.other", platform: .android), by: first.store)
            try check(try first.store.claimRun(other.key, project: "p") != nil, "nobody has it")
        },
        ConformanceCase("a relay is given up only when its lease has run out, and then all that it has is free") {
            subject in
            let (first, second) = try subject.two(lease: .milliseconds(-1))
            try check(try first.store.lead(first.node), "it leads")
            let campaign = try subject.announce(by: first.store)
            let lease = try present(try first.store.claimRun(campaign.key, project: "p"), "a lease")
            try check(
                try first.store.beat(first.node, for: .seconds(60), configuration: "", clockAhead: .zero) != nil,
                "a beat")
            try check(!(try second.store.fence(first.node)), "its lease was prolonged")
            try check(
                try first.store.beat(first.node, for: .milliseconds(-1), configuration: "", clockAhead: .zero) != nil,
                "a beat that is over at once")
            try same(try second.store.lookAtFleet().lapsed[first.node], "a")
            try check(try second.store.fence(first.node), "given up")
            try check(!(try second.store.fence(first.node)), "once")
            try check(try second.store.lead(second.node), "the duties are free")
            try check(try second.store.claimRun(campaign.key, project: "p") != nil, "campaign and project are")
            try check(
                try first.store.beat(first.node, for: .seconds(60), configuration: "", clockAhead: .zero) == nil,
                "it is told")
            // Its later writes are all refused.
            let error = try failure { try first.store.releaseRun(lease) }
            try same((error as? StoreError)?.code, .fenced)
            let late = try failure { try subject.bump(by: first.store) }
            try same((late as? StoreError)?.code, .fenced)
            try same(try subject.store.version(of: subject.app)?.required, try subject.version("2.0.0"))
        },
        ConformanceCase(
            "a relay that comes again under its name frees what it had, and its earlier self writes nothing"
        ) {
            subject in
            let (first, second) = try subject.two()
            let campaign = try subject.announce(by: first.store)
            let lease = try present(try first.store.claimRun(campaign.key), "a lease")
            let again = try subject.join("a", second.store)
            try same(again.node, first.node.node)
            try same(again.incarnation, first.node.incarnation + 1)
            try same(
                try first.store.beat(first.node, for: .seconds(60), configuration: "", clockAhead: .zero), nil)
            try same((try failure { try first.store.releaseRun(lease) } as? StoreError)?.code, .fenced)
            let new = try present(try second.store.claimRun(campaign.key), "it is free")
            try check(new.epoch > lease.epoch, "a newer epoch")
        },
        ConformanceCase("a commit of who was given up is not recorded") { subject in
            try subject.registerDevices(10)
            let (first, second) = try subject.two(lease: .milliseconds(-1))
            let campaign = try subject.announce(by: first.store)
            try first.store.planShards(campaign.key, shardSize: 10, waves: nil, at: subject.now)
            let lease = try present(try first.store.claimRun(campaign.key), "a lease")
            let shard = try present(
                try first.store.openShards(campaign.key, channel: .production).first, "a shard")
            let batch = try subject.batch(
                Shard(campaign: campaign.key, channel: .production, range: shard), limit: 4)
            try check(try second.store.fence(first.node), "given up")
            let next = try present(try second.store.claimRun(campaign.key), "the next owner")
            try same(
                (try failure { try first.store.commit([batch], of: lease, at: subject.now) } as? StoreError)?.code,
                .fenced)
            try check(try second.store.commit([batch], of: next, at: subject.now), "recorded once")
            try same(try subject.counts(campaign.key).accepted, 4)
            try same(try second.store.check { _ in true }, [], "faults")
        },
        ConformanceCase("relays that are long gone are forgotten, those that have their place are not") { subject in
            let (first, second) = try subject.two()
            try first.store.leave(first.node)
            try second.store.forgetNodes(goneBefore: Timestamp(milliseconds: 0))
            try same(try second.store.nodes().count, 2)
            try second.store.forgetNodes(goneBefore: Timestamp(milliseconds: .max))
            try same(try second.store.nodes().map(\.description.name), ["b"])
        },
        ConformanceCase("relays whose configurations differ are counted") { subject in
            let (first, second) = try subject.two()
            try same(try first.store.lookAtFleet().configurations, 1)
            _ = try second.store.beat(second.node, for: .seconds(60), configuration: "new", clockAhead: .zero)
            try same(try first.store.lookAtFleet().configurations, 2)
        },
    ]
}

/// A relay that has joined.
private struct Joined {
    let store: any RelayStore
    let node: NodeLease
}

extension Subject {
    fileprivate func join(_ name: String, _ store: any RelayStore, lease: Duration = .seconds(60)) throws -> NodeLease {
        store.membership.beginFleet(clock: { MonotonicTime(nanoseconds: 1) })
        let (node, _) = try store.join(NodeDescription(name: name, release: "test"), for: lease)
        store.membership.note(node, trustedUntil: MonotonicTime(nanoseconds: 1 << 60))
        return node
    }

    /// - Parameter lease: the first relay's.
    fileprivate func two(lease: Duration = .seconds(60)) throws -> (Joined, Joined) {
        let other = try present(second, "a second store")
        let first = Joined(store: store, node: try join("a", store, lease: lease))
        return (first, Joined(store: other, node: try join("b", other)))
    }

    fileprivate func announce(app other: AppKey? = nil, by store: any RelayStore) throws -> CampaignRecord {
        let applied = try store.apply(
            VersionBump(app: other ?? app, required: try version("2.0.0")), actor: "tester", source: "test", at: now,
            draft: draft(), waitingReason: nil, receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
        guard case .applied(let outcome, _) = applied else {
            throw ConformanceFailure(description: "a bump was taken for a replay")
        }
        return try present(outcome.campaign, "the campaign")
    }

    fileprivate func bump(by store: any RelayStore) throws {
        _ = try store.apply(
            VersionBump(app: app, required: try version("9.0.0")), actor: "tester", source: "test", at: now,
            draft: draft(), waitingReason: nil, receipt: nil
        ) { _ in StoredAnswer(status: 200, body: []) }
    }

    fileprivate func releaseAll(of campaign: CampaignRecord, by store: any RelayStore) throws {
        if let lease = try store.claimRun(campaign.key, project: "q") { try store.releaseRun(lease) }
    }
}

extension NodeStore {
    fileprivate func beat(
        _ node: NodeLease, for lease: Duration, configuration: String, clockAhead: Duration
    ) throws -> Timestamp? {
        try beat(node, for: lease, configuration: configuration, clockAhead: clockAhead, figures: "")
    }
}

private func failure(_ body: () throws -> Void) throws -> any Error {
    do {
        try body()
    } catch {
        return error
    }
    throw ConformanceFailure(description: "it succeeded")
}

private func failure(_ body: () throws -> Bool) throws -> any Error { try failure { _ = try body() } }
