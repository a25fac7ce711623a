// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The answers of one channel's push service to a campaign's pushes, counted since the store has recorded them. They
/// only grow: a push that is sent again, such as a reminder, counts again.
package struct ChannelAnswers: Hashable, Sendable {
    /// The outcomes that follow from a service's answer.
    package static let states: [DeliveryState] = [.accepted, .rejected, .unregistered]

    private var devices: [DeliveryState: Int64] = [:]

    package init() {}

    package subscript(_ state: DeliveryState) -> Int64 {
        get { devices[state, default: 0] }
        set { devices[state] = newValue }
    }

    /// Whether an answer shows that the channel's credential is good.
    package var proveCredential: Bool { Self.states.contains { $0.provesCredential && self[$0] > 0 } }

    /// The name under which the store keeps a number: "2 accepted".
    package static func name(_ channel: Channel, _ state: DeliveryState) -> String {
        "\(channel.rawValue) \(state.name)"
    }

    /// Reads the channel and the state from such a name.
    package static func read(_ name: String) -> (channel: Channel, state: DeliveryState)? {
        for channel in Channel.allCases {
            for state in states where Self.name(channel, state) == name { return (channel, state) }
        }
        return nil
    }
}

extension CampaignFigures {
    /// The answers of each channel, the platform's own first; empty where all answers are from one channel.
    package var answersOfChannels: [(channel: Channel, answers: ChannelAnswers)] {
        channels.count < 2 ? [] : channels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
