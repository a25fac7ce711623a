// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The shards that an audience is cut into.
package struct AudiencePlan: Sendable {
    /// The devices of one wave and one channel among the ids behind `after` and up to `last`.
    package struct PlannedShard: Hashable, Sendable {
        package var after: Int64
        package var last: Int64
        package var devices: Int64
        package var wave: Int
        package var channel: Channel

        package init(
            after: Int64, last: Int64, devices: Int64, wave: Int = 0, channel: Channel = .production
        ) {
            self.after = after
            self.last = last
            self.devices = devices
            self.wave = wave
            self.channel = channel
        }
    }

    /// In the order of their numbers: wave by wave, channel by channel, by ascending ids.
    package private(set) var shards: [PlannedShard] = []
    /// The channel whose plain outcomes are packed: the one with the most devices; nil with waves. Batches of a campaign must not
    /// overlap, but shards of channels do, and so do those of waves.
    package private(set) var packed: Channel?

    /// Plans an audience without waves.
    ///
    /// - Parameters:
    ///   - size: devices in a shard, at most.
    ///   - all: shards over the devices of all channels together, with `size` devices in each but the last.
    ///   - others: shards of each channel but `production`, cut likewise, channel by channel.
    ///   - othersWithin: how many devices of those channels are within a shard of `all`.
    package init(
        size: Int, all: [PlannedShard], others: [PlannedShard], othersWithin: (PlannedShard) throws -> Int64
    ) rethrows {
        var production: [PlannedShard] = []
        for var shard in all {
            if !others.isEmpty { shard.devices -= try othersWithin(shard) }
            guard shard.devices > 0 else { continue }
            if let before = production.last, before.devices + shard.devices <= size {
                shard.after = before.after
                shard.devices += before.devices
                production.removeLast()
            }
            production.append(shard)
        }
        shards = production + others
        let devices = shards.reduce(into: [Channel: Int64]()) { $0[$1.channel, default: 0] += $1.devices }
        packed = devices.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? .production
    }

    package typealias Member = (device: Int64, wave: Int, channel: Channel)

    /// Plans an audience with waves.
    ///
    /// - Parameters:
    ///   - size: devices in a shard of the whole audience; a wave's shards have its share of that, but at least 20.
    ///   - next: the next device, ascending; nil at the end.
    package init(
        size: Int, in waves: WavePlan,
        next: () throws -> Member?
    ) rethrows {
        let sizes = (0..<waves.count).map { Int64(max(Int(Double(size) * waves.share(of: $0)), min(size, 20))) }
        // A place for each channel of each wave.
        let channels = Channel.allCases
        var open = (0..<channels.count * waves.count).map {
            PlannedShard(
                after: 0, last: 0, devices: 0, wave: $0 / channels.count, channel: channels[$0 % channels.count])
        }
        var ends = [Int64](repeating: 0, count: channels.count)
        while let (device, wave, channel) = try next() {
            let channel = Int(channel.rawValue)
            let place = channels.count * wave + channel
            ends[channel] = device
            open[place].last = device
            open[place].devices += 1
            guard open[place].devices == sizes[wave] else { continue }
            shards.append(open[place])
            open[place].after = device
            open[place].devices = 0
        }
        // A device whose user changed may have been in none of the waves at their turns. The last wave takes it, so the
        // shards of the last wave cover all devices.
        for place in open.indices.suffix(channels.count) where ends[place % channels.count] > open[place].after {
            open[place].last = ends[place % channels.count]
        }
        shards += open.filter { $0.last > $0.after && ($0.devices > 0 || $0.wave == waves.count - 1) }
        shards.sort {
            ($0.wave, $0.channel.rawValue, $0.after) < ($1.wave, $1.channel.rawValue, $1.after)
        }
    }

    /// Subtracts a device that already has its outcome from the count of its shard.
    package mutating func leaveOut(_ device: Int64, wave: Int, _ channel: Channel) {
        let place = shards.firstIndex {
            $0.wave == wave && $0.channel == channel && $0.after < device && device <= $0.last
        }
        if let place, shards[place].devices > 0 { shards[place].devices -= 1 }
    }
}
