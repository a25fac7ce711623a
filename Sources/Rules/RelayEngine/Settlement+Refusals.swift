// SPDX-License-Identifier: Apache-2.0

/// The consequences of the breaker's verdict for refused pushes, and for their campaign.
extension Settlement {
    package enum RefusalAction: Sendable, Equatable {
        /// Pushes of this batch that were refused for one of these reasons are tried again, from `at` on.
        case retry(reasons: [String], at: Timestamp)
        /// No token of this batch is retired.
        case keepTokens
        /// Pushes of this batch that were refused for one of these reasons may have to be tried again.
        case remember(reasons: [String])
        /// The remembered pushes are refused for good.
        case forgetRemembered
        /// The remembered pushes are tried again.
        case recallRemembered
        /// The campaign cannot go on with this service.
        case stop(SuspensionCause, SendingFault, reason: String, CredentialBreaker.Trip)
    }

    /// - Parameters:
    ///   - isSending: whether the campaign is still sending, not halted.
    ///   - triesOtherEnvironment: whether tokens that this environment calls bad are tried in the other.
    ///   - deniedUntil: until when a pause, or the app's hours, keep this batch's bad tokens from being tried there; nil:
    ///     nothing does.
    ///   - remembered: the refusals of the remembered pushes.
    package func weigh(
        _ trust: ServiceMachine.Trust, isSending: Bool, triesOtherEnvironment: Bool, deniedUntil: Timestamp?,
        remembered: Refusals
    ) -> [RefusalAction] {
        var actions: [RefusalAction] = []
        // A push that may be good in the other environment, and was not tried there, is not refused for good. Neither is one
        // that failed because of a credential that may have been repaired since.
        if !isSending {
            let reasons = triesOtherEnvironment ? refusals.reasons(recalledBy: .refused) : faults.keys.sorted()
            actions.append(.retry(reasons: reasons, at: now))
        }
        if let deniedUntil, deniedUntil < expiresAt {
            actions.append(.retry(reasons: badTokenReasons.sorted(), at: deniedUntil))
        }
        switch trust {
        case .trusted:
            actions.append(.forgetRemembered)
        case .watching:
            actions.append(.remember(reasons: refusals.reasons(recalledBy: .refused)))
        case .doubting:
            actions.append(.remember(reasons: faults.keys.sorted()))
        case .tripped(let trip, let isNew):
            actions.append(.retry(reasons: refusals.reasons(recalledBy: trip.cause), at: now))
            if trip.cause == .unregistered { actions.append(.keepTokens) }
            guard isNew else { break }
            var all = remembered
            all.add(refusals)
            let reason = all.main(trip.cause) ?? ""
            let (cause, fault): (SuspensionCause, SendingFault) =
                switch trip.cause {
                case .refused: (.topic, .mostlyRefused)
                case .unregistered: (.deadTokens, .mostlyUnregistered)
                case .fault: (.credential, faults[reason] ?? .unknown)
                }
            actions += [.recallRemembered, .stop(cause, fault, reason: reason, trip)]
        }
        return actions
    }
}
