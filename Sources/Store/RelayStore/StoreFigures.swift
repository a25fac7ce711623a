// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements

/// Figures about a store since it was opened, for metrics.
package struct StoreFigures: Sendable {
    /// Transactions that wrote, from their beginning until they were on the disk.
    package var commits = LatencyHistogram()
    /// Calls that were refused, by `StoreError.Code.label`.
    package var errors: [String: Int] = [:]
    /// Bytes; nil where unknown.
    package var databaseBytes: Int64?
    package var logBytes: Int64?
    /// The bytes that are free for an ordinary user on the store's file system.
    package var freeBytes: Int64?

    package init() {}
}

/// How much a store holds, for metrics. Read from the store, so it should not be read too often.
package struct StoreCensus: Sendable {
    package struct Campaigns: Sendable, Hashable {
        package var app: AppKey
        package var state: CampaignState

        package init(app: AppKey, state: CampaignState) {
            self.app = app
            self.state = state
        }
    }

    /// A receiver of notifications.
    package struct Receiver: Sendable, Hashable {
        package var url: String
        package var pending: Int64
        /// When the oldest pending notification was made; nil where none is.
        package var oldest: Timestamp?
        /// Whether it answered 410, and is no longer notified.
        package var isGone: Bool

        package init(url: String, pending: Int64, oldest: Timestamp?, isGone: Bool) {
            self.url = url
            self.pending = pending
            self.oldest = oldest
            self.isGone = isGone
        }
    }

    package var devices: [AppKey: Int64] = [:]
    package var campaigns: [Campaigns: Int64] = [:]
    /// Devices that campaigns of such an app and state have left out.
    package var cancelled: [Campaigns: Int64] = [:]
    package var receivers: [Receiver] = []

    package init() {}
}

extension StoreError.Code {
    /// The name of an error that an operator has to see to; nil for an answer that only concerns the caller.
    package var label: String? {
        switch self {
        case .versionWouldFall, .noDownloadURL, .breaksRules, .refused, .doubtful: nil
        case .nameTaken, .nameInUse, .webhookDiffers: nil
        case .full: "full"
        case .readOnly: "readOnly"
        case .busy: "busy"
        case .unreachable: "unreachable"
        case .moved: "moved"
        case .fenced: "fenced"
        case .wentBack: "wentBack"
        case .tooNew: "tooNew"
        case .conflict: "conflict"
        case .failed: "failed"
        }
    }

    package static let labels = [
        "full", "readOnly", "busy", "unreachable", "moved", "fenced", "wentBack", "tooNew", "conflict", "failed",
    ]
}
