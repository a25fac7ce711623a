// SPDX-License-Identifier: Apache-2.0

/// A blocked version, which users must leave, as the model remembers it.
struct Block {
    let app: Int
    let version: Int
    let askedAt: Int64
    /// When a person unblocked it.
    var endedAt: Int64?
    /// Whether it waits until its app's store offers a way out.
    var isGated = false
    /// Whether the store has ever offered a way out, or a person has released the block without one.
    var isOffered = false
    /// Its campaign, and whether a person has cancelled that campaign.
    var campaign: String
    var isCancelled = false
    /// How often it may push again to devices that already have its push.
    var reminders = 0
    /// Since when a person has wanted it sent outside its hours.
    var urgentAt: Int64?
    /// The number of recorded answers, by device.
    var settled: [String: Int] = [:]
    /// Devices whose push was taken.
    var taken: Set<String> = []

    /// A device has a new token and keeps its state.
    mutating func moved(from old: String, to new: String) {
        if taken.remove(old) != nil { taken.insert(new) }
        if let count = settled.removeValue(forKey: old) { settled[new] = count }
    }
}

/// Blocked versions.
extension Model {
    /// The block of a version that counts; nil: the version may be used.
    func block(_ app: Int, _ version: Int) -> Block? {
        blocks.last { $0.app == app && $0.version == version && $0.endedAt == nil }
    }

    /// Handles a store's answer.
    ///
    /// - Parameter isOpen: whether the store offers something above a version.
    mutating func offersWayOut(_ app: Int, _ isOpen: (_ version: Int) -> Bool) {
        for place in blocks.indices where blocks[place].app == app && isOpen(blocks[place].version) {
            blocks[place].isOffered = true
        }
    }

    func block(of campaign: String) -> Int? { blocks.firstIndex { $0.campaign == campaign } }

    /// Since when a person has wanted a campaign, of a floor or a block, sent outside its hours; nil: it waits for its hours.
    func urgentAt(of campaign: String) -> Int64? {
        campaigns[campaign]?.urgentAt ?? block(of: campaign).flatMap { blocks[$0].urgentAt }
    }

    /// Judges a block's push as it leaves.
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

    /// Judges the login check's answer to a user whose version was ever blocked.
    ///
    /// - Parameters:
    ///   - isForced: whether the user must upgrade, for any reason.
    ///   - isByBlock: whether the user must upgrade because of the block.
    ///   - isSettled: whether the relay has had the time, and the disk, to show the last decision.
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
