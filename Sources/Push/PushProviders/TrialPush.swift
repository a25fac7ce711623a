// SPDX-License-Identifier: Apache-2.0

/// A push that tries the configuration and reaches no device, because its token is made up. The service checks the other parts of
/// the configuration before it reports the token.
package struct TrialPush: Sendable {
    /// A token that no device has.
    package var token: String
    /// The reason of a push to it, where all else is right.
    package var refusal: String
    /// The parts of the configuration that such an answer proves right, for people: "account and project".
    package var parts: String
    /// The sandbox's answers to a credential for production alone, which is all that most owners have. Default none.
    package var otherWorld: Set<String> = []
}
