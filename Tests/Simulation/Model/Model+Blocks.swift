// SPDX-License-Identifier: Apache-2.0

/// A version that people want to be left, as the model remembers it.
struct Block {
    let app: Int
    let version: Int
    let askedAt: Int64
    /// When a person let it be used again.
    var endedAt: Int64?
    /// Whether its app's store has to offer a way out first.
    var isGated = false
    /// Whether that has ever said so, or a person that it does not matter.
    var isOffered = false
    /// Its campaign, and whether a person has cancelled that.
    var campaign: String
    var isCancelled = false
    /// How often it may push again to who has it already.
    var reminders = 0
    /// Since when a person wants it sent whatever the hour.
    var urgentAt: Int64?
    /// How often each device has had an answer that was recorded.
    var settled: [String: Int] = [:]
    /// Devices whose push was taken.
    var taken: Set<String> = []

    /// A phone's device has another token: what it had, it has still.
    mutating func moved(from old: String, to new: String) {
        if taken.remove(old) != nil { taken.insert(new) }
        if let count = settled.removeValue(forKey: old) { settled[new] = count }
    }
}

/// Single versions that must be left.
extension Model {
    /// The one of a version that counts; nil where it may be used.
    func block(_ app: Int, _ version: Int) -> Block? {
        blocks.last { $0.app == app && $0.version == version && $0.endedAt == nil }
    }

    /// A store has answered.
    ///
    /// - Parameter isOpen: whether it offers something above a version.
    mutating func offersWayOut(_ app: Int, _ isOpen: (_ version: Int) -> Bool) {
        for place in blocks.indices where blocks[place].app == app && isOpen(blocks[place].version) {
            blocks[place].isOffered = true
        }
    }

    func block(of campaign: String) -> Int? { blocks.firstIndex { $0.campaign == campaign } }

    /// Since when a person wants a campaign sent whatever the hour, a floor's or a block's; nil: it waits for its hours.
    func urgentAt(of campaign: String) -> Int64? {
        campaigns[campaign]?.urgentAt ?? block(of: campaign).flatMap { blocks[$0].urgentAt }
    }

    /// A push of a block leaves.
    mutating func leaves(block place: Int, token: String, user: Int?) {
        let block = blocks[place]
        judgeDevice(
            block.app, token, user, "push.block", "version \(World.text(version: block.version)), which is blocked"
        ) {
            $0.version == block.version
        }
        let what = "\(token) of app \(block.app) for the block of \(World.text(version: block.version))"
        if block.isGated, !block.isOffered {
            broke("block.gate", "\(what), whose store has never offered anything above it")
        }
        if let end = block.endedAt, now - end > Self.wayGrace {
            broke("push.withdrawn", "\(what), which was unblocked \(ago(end))")
        }
        if block.settled[token, default: 0] > block.reminders {
            broke("push.twice", "\(what) had its push, and its answer was recorded")
        }
    }

    /// The login check says to somebody who runs a version that was ever blocked whether he must leave it.
    ///
    /// - Parameters:
    ///   - isForced: whether he must upgrade, for whatever reason.
    ///   - isByBlock: whether he must because it is blocked.
    ///   - isSettled: whether the relay has had the time, and the disk, to show what was decided last.
    mutating func says(block app: Int, _ version: Int, isForced: Bool, isByBlock: Bool, isSettled: Bool) {
        let what = "the login check of app \(app) for \(World.text(version: version))"
        let block = block(app, version)
        if isByBlock, block == nil {
            broke("inForce.block", "\(what): must be left, and nobody wants that (any more)")
        }
        if isByBlock, let block, block.isGated, !block.isOffered {
            broke("block.gate", "\(what): must be left, and its store has never offered anything above it")
        }
        if isSettled, !isForced, let block, !block.isGated {
            broke("inForce.block", "\(what): may be used, and people have blocked it")
        }
    }
}
