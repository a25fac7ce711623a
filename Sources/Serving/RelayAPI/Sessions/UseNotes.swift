// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayEngine
import RelayStore
import Synchronization

/// The last use of API tokens and sessions, to the minute. Written on a queue of its own: a request that only reads does
/// not wait for the store's writer, and still works while the store takes no writes.
final class UseNotes: Sendable {
    enum Credential: Hashable, Sendable {
        case token([UInt8])
        case session([UInt8])
    }

    private static let interval = Duration.seconds(60)
    /// Credentials whose use is remembered; beyond that, all are forgotten, and so written once more.
    private static let most = 4096

    private let store: any RelayStore
    private let queue = DispatchQueue(label: "uses")
    private let noted = Mutex<[Credential: Timestamp]>([:])

    init(store: any RelayStore) {
        self.store = store
    }

    func note(_ credential: Credential, at now: Timestamp) {
        let isNews = noted.withLock { noted in
            if let last = noted[credential], last <= now, now < last + Self.interval { return false }
            if noted.count >= Self.most { noted = [:] }
            noted[credential] = now
            return true
        }
        guard isNews else { return }
        queue.async { [store] in
            switch credential {
            case .token(let hash): try? store.noteUse(ofToken: hash, at: now)
            case .session(let hash): try? store.noteUse(ofSession: hash, at: now)
            }
        }
    }

    /// The last use that this process has noted, which the store may not have yet.
    func lastUse(of credential: Credential) -> Timestamp? { noted.withLock { $0[credential] } }

    /// Returns when everything that was noted before is written.
    func finish() { queue.sync {} }
}
