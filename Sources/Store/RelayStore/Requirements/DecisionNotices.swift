// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The commits of this process that change an answer of the open paths. The store passes each on, after the commit and before its call returns,
/// so that no caller has to. Another process's commits are no part of it.
package final class DecisionNotices: Sendable {
    package enum Fact: Sendable {
        /// A decision about an app, and the record since then.
        ///
        /// - Parameter isAwaited: whether an act of a person or a machine is answered next, so that its effect may be
        ///   looked for at once. The relay's own looks come one after another, and are not answered.
        case decided(VersionRecord, isAwaited: Bool)
        /// Something else: an alert, a canary that names one user less.
        case other
    }

    private let listener = Mutex<(@Sendable (Fact) -> Void)?>(nil)

    package init() {}

    /// - Parameter listener: replaces the one before. Called on the thread that decides, which waits for it. The store keeps it: it must not
    ///   hold the store.
    package func hear(_ listener: @escaping @Sendable (Fact) -> Void) { self.listener.withLock { $0 = listener } }

    package func tell(_ fact: Fact) { listener.withLock { $0 }?(fact) }
}

extension Decision {
    /// The news of it for the open paths, once it is committed; nil: nothing was ever asked of the app.
    ///
    /// - Parameter isAwaited: whether an act is answered next.
    package func fact(of app: AppKey, isAwaited: Bool) -> DecisionNotices.Fact? {
        let record = VersionRecord(app, after)
        return record.isEmpty ? nil : .decided(record, isAwaited: isAwaited)
    }
}
