// SPDX-License-Identifier: Apache-2.0
import ClientCommands
import PushSimulator
import WireFormat

/// A push service in the demo: its simulator, with a new account, and what the relay and the checks must know of it. Each is in
/// the service's own folder.
protocol DemoService: Sendable {
    /// The name of its object in a platform's configuration.
    static var field: String { get }
    /// The seconds of `retry-after` where a token is busy; nil: none is sent.
    static var busyRetryAfter: Int? { get }
    /// The name of the check that counts the accepted pushes by their id.
    static var idCheck: String { get }

    /// A device token in the service's form.
    static func token(_ random: inout SplitMix64) -> String
    /// The checks of the service's refusals.
    ///
    /// - Parameter mayRepeat: whether pushes may have been sent twice.
    static func checks(
        _ campaign: CampaignText, _ figures: SimulatorFigures, _ expectation: DemoLedger.Expectation, mayRepeat: Bool
    ) -> [DemoLedger.Check]

    /// Makes a new account.
    init() throws
    /// The service that takes this account.
    var simulated: SimulatedService { get }
    /// Writes the file of the account's credential into a directory.
    ///
    /// - Returns: the members of its object in a platform's configuration, without the simulator's address.
    func furnish(_ directory: String, for simulator: PushSimulator) throws -> [JSONMember]
}
