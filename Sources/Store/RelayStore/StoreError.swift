// SPDX-License-Identifier: Apache-2.0
package import Requirements
package import UpgradeRules
package import WireFormat

/// The error that a store throws.
package struct StoreError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// A bump would lower `field` ("latest" or "required").
        case versionWouldFall(field: String, current: Version, proposed: Version)
        /// A requirement without a download URL cannot be announced.
        case noDownloadURL
        /// The request is not possible in the present state; the context gives the reason.
        case refused
        /// A bump, or another program's row, breaks the rules.
        case breaksRules([FieldFault])
        /// The bump would lock people out as far as the relay knows. A caller that intends it confirms the doubt by
        /// name.
        case doubtful(Doubt)
        /// An access token of that name exists.
        case nameTaken
        /// Another relay of that name works on the store.
        case nameInUse
        /// A webhook came with the id of an older one and another body.
        case webhookDiffers
        /// The disk is full.
        case full
        /// The database, or the file system that it is on, is read-only.
        case readOnly
        /// Another process holds the write lock for longer than the driver waits.
        case busy
        /// The database cannot be reached, or the connection to it broke. Whether a change was made may be unknown; the
        /// context then states this.
        case unreachable
        /// A file of the store was moved, replaced or removed while it was open.
        case moved
        /// Other relays took this one for dead, and have its work. It joins them again by itself.
        case fenced
        /// The store does not hold what this relay saw in it (`StoreMemory`).
        case wentBack
        /// The store was written by a newer release.
        case tooNew
        /// The data contradicts the store: something that it refers to is gone, or a rule of the schema forbids it.
        /// Every further try would fail alike.
        case conflict
        /// Any other error of the database.
        case failed
    }

    /// Whether every other request would meet the same error.
    package var isOfWholeStore: Bool {
        switch code {
        case .full, .readOnly, .busy, .unreachable, .moved, .fenced, .wentBack, .tooNew: true
        default: false
        }
    }

    package var code: Code
    /// The operation, and the database's message. No bound values: they may be telephones.
    package var context: String
    /// The remedy for an operator.
    package var hint: String?

    package init(_ code: Code, context: String, hint: String? = nil) {
        self.code = code
        self.context = context
        self.hint = hint
    }

    package var description: String {
        hint.map { "\(context). \($0)" } ?? context
    }
}
