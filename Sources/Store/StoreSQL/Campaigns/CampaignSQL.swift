// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements

/// The part of a campaign's course that each driver does itself: how many rows are read and written at once.
package protocol CampaignSQL: SQLStore {
    /// Runs a long read, for which no writer waits.
    ///
    /// - Parameter isSnapshot: whether all of its statements see the same state.
    func lookLong<R: Sendable>(_ doing: String, isSnapshot: Bool, _ body: (Connection) throws -> R) throws -> R

    /// Runs one transaction of long work.
    func writeLong<R: Sendable>(_ doing: String, lock: WriteLock, _ body: (Connection) throws -> R) throws -> R

    // MARK: Cutting an audience

    /// Cuts an audience that goes out in waves; the wave of each device is drawn.
    func plan(
        _ app: Int64, shardSize: Int, in waves: WavePlan, draw: WaveDraw, _ connection: Connection
    ) throws -> AudiencePlan

    /// Writes the shards of a plan.
    func insert(_ plan: AudiencePlan, of campaign: CampaignKey, _ connection: Connection) throws

    /// Adds rows without attempts for moved devices, with their users and, where there is a next attempt, their
    /// environments.
    func insert(_ devices: [Int64], _ line: MovedDevices.Line, at now: Timestamp, _ connection: Connection) throws

    /// Empties `planned_environment` of devices.
    func forgetMoves(of devices: [Int64], _ connection: Connection) throws

    // MARK: Putting devices in line again

    /// Devices with one outcome in a campaign's ledger, ascending behind an id.
    func recorded(
        as state: DeliveryState, in campaign: CampaignKey, after device: Int64, limit: Int, _ connection: Connection
    ) throws -> [RoundTable.Device]

    /// Registered devices with a row for an accepted push, ascending behind an id.
    func accepted(
        in campaign: CampaignKey, after device: Int64, limit: Int, _ connection: Connection
    ) throws -> DeviceRows

    /// Registered devices among some ids, ascending.
    func registered(_ devices: [Int64], of campaign: CampaignKey, _ connection: Connection) throws -> DeviceRows

    /// Makes rows due now if they still have one of a round's outcomes.
    ///
    /// - Parameter devices: ascending.
    /// - Returns: the outcomes that they had.
    func putInLine(
        _ devices: [RoundTable.Device], _ again: RequeueReasons, in round: RoundTable.Open,
        of campaign: CampaignKey, at now: Timestamp, _ connection: Connection
    ) throws -> [(state: DeliveryState, reason: String?)]
}
