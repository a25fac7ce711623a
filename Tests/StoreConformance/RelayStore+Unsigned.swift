// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements

/// The store's own methods, for tests in which the actor does not matter.
extension RelayStore {
    package func addToken(_ token: AccessToken, hash: [UInt8]) throws {
        try addToken(token, hash: hash, by: .tester)
    }

    package func revokeToken(name: String, at now: Timestamp) throws -> Bool {
        try revokeToken(name: name, by: Signature(by: .tester, at: now))
    }

    package func setAlert(_ alert: AlertRecord) throws { try setAlert(alert, by: .tester) }

    package func clearAlert(of app: AppKey, at now: Timestamp) throws -> Bool {
        try clearAlert(of: app, by: Signature(by: .tester, at: now))
    }

    package func removeDevice(_ app: AppKey, token: String) throws -> Bool {
        try removeDevice(app, token: token, by: Signature(by: .tester, at: Timestamp(seconds: 1_700_000_000)))
    }

    package func eraseUser(_ telephone: String, where isMeant: (AppKey) -> Bool) throws -> UserErasure {
        try eraseUser(
            telephone, by: Signature(by: .tester, at: Timestamp(seconds: 1_700_000_000)), where: isMeant)
    }

    package func reopen(_ campaign: CampaignKey, for draft: RoundDraft, at now: Timestamp) throws -> Reopening {
        try reopen(campaign, for: draft, by: Signature(by: .tester, at: now))
    }

    package func releaseWave(_ campaign: CampaignKey, at now: Timestamp) throws -> Bool {
        try releaseWave(campaign, isUrgent: false, by: Signature(by: .tester, at: now))
    }
}

extension Principal {
    package static let tester = Principal.operator("tester")
}
