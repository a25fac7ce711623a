// SPDX-License-Identifier: Apache-2.0
package import Requirements
import Synchronization

/// The commits of this process that change an answer of the open paths. The store passes each on, after the commit and
/// before its call returns, so that no caller has to. Commits of other processes are not passed on.
package final class DecisionNotices: Sendable {
    package enum Fact: Sendable {
        /// A decision about an app, and the record since then.
        ///
        /// - Parameter isAwaited: whether a person or a machine is waiting for the answer to its act, and may look for
        ///   the effect at once. No caller waits for the relay's own looks.
        case decided(VersionRecord, isAwaited: Bool)
        /// Something else: an alert, a canary that names one user less.
        case other
    }

    private let listener = Mutex<(@Sendable (Fact) -> Void)?>(nil)

    package init() {}

    /// - Parameter listener: replaces the previous listener. Called on the thread that decides, which waits for it. The
    ///   store keeps it, so it must not keep the store.
    package func hear(_ listener: @escaping @Sendable (Fact) -> Void) { self.listener.withLock { $0 = listener } }

    package func post(_ fact: Fact) { listener.withLock { $0 }?(fact) }
}

extension Decision {
    /// The news of it for the open paths, once it is committed; nil: nothing was ever asked of the app.
    ///
    /// - Parameter isAwaited: as in `DecisionNotices.Fact.decided`.
    package func fact(of app: AppKey, isAwaited: Bool) -> DecisionNotices.Fact? {
        let record = VersionRecord(app, after)
        return record.isEmpty ? nil : .decided(record, isAwaited: isAwaited)
    }
}
