// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements

/// A message that every user of an app gets at launch, until it ends or is cleared (SEEDS S5).
package struct AlertRecord: Hashable, Sendable {
    package var app: AppKey
    package var message: String
    /// Locks the app for a maintenance window. Such an alert must have an end.
    package var isBlocking: Bool
    /// From this moment on the alert is gone; nil: it stays until it is cleared.
    package var endsAt: Timestamp?
    package var createdAt: Timestamp
    /// The author, as the history of versions names people.
    package var createdBy: String

    package init(
        app: AppKey, message: String, isBlocking: Bool, endsAt: Timestamp?, createdAt: Timestamp, createdBy: String
    ) {
        self.app = app
        self.message = message
        self.isBlocking = isBlocking
        self.endsAt = endsAt
        self.createdAt = createdAt
        self.createdBy = createdBy
    }

    package func hasEnded(at now: Timestamp) -> Bool { endsAt.map { $0 <= now } ?? false }
}

/// One alert for each app and platform.
package protocol AlertStore: Sendable {
    /// nil when there is none, or when it has ended.
    func alert(of app: AppKey, at now: Timestamp) throws -> AlertRecord?

    /// Every alert that has not ended, ordered by app and platform.
    func alerts(at now: Timestamp) throws -> [AlertRecord]

    /// Replaces the app's alert, and deletes every alert that has ended.
    ///
    /// - Throws: `StoreError.failed` when a blocking alert has no end: the database refuses it too.
    func setAlert(_ alert: AlertRecord, by actor: Principal) throws

    /// Removes the app's alert; false when there was none, or when it had ended.
    func clearAlert(of app: AppKey, by actor: Signature) throws -> Bool
}
