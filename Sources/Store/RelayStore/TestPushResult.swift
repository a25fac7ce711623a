// SPDX-License-Identifier: Apache-2.0

/// The result of one push outside of any campaign.
package struct TestPushResult: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        case accepted, rejected, unregistered
        /// The service gave no verdict on the token: it was not reached, is busy, or does not take the credential.
        case failed
    }

    package var state: State
    /// The HTTP status of the service's answer; nil where it did not answer.
    package var status: Int?
    /// The service's reason, or the error that kept the push from leaving.
    package var reason: String?
    package var pushID: String
    package var server: String
    /// The remedy; nil where nothing needs to be done.
    package var remedy: String?

    package init(state: State, pushID: String, server: String) {
        (self.state, self.pushID, self.server) = (state, pushID, server)
    }
}
