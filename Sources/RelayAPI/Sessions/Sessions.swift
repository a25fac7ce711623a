// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
import Signing
import Synchronization
import WireFormat

/// The sessions of people's browsers: a cookie stands for an API token, or for whoever may open the control socket.
package final class Sessions: Sendable {
    /// However much it is used.
    package static let life = Duration.seconds(12 * 3600)
    /// Without a request. A page that is looked at asks for what has changed; that its stream is open is not enough.
    package static let idle = Duration.seconds(3600)
    /// What a link of `upgrade-relay page` lives.
    package static let linkLife = Duration.seconds(5 * 60)

    /// Those of one API token, or of one operator, that go on at a time: the oldest ends.
    package static let most = 32

    private let store: any RelayStore
    private let clock: @Sendable () -> Timestamp
    private let uses: UseNotes
    /// Links that nobody has followed yet, by the SHA-256 of their secrets. Of this process alone: a link is for its address.
    private let links = Mutex<[[UInt8]: Link]>([:])

    /// Operators' sessions that no store took, by the SHA-256 of their secrets: who looks after a store that is full or locked has to get in.
    /// They are good at this process alone.
    private let kept = Mutex<[[UInt8]: BrowserSession]>([:])

    private struct Link {
        var actor: String
        var until: Timestamp
    }

    init(store: any RelayStore, uses: UseNotes, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.uses = uses
        self.clock = clock
    }

    /// - Parameter token: the SHA-256 of the API token; nil: an operator's session.
    /// - Returns: what the cookie says.
    func begin(for actor: String, token: [UInt8]?) throws -> SessionSecret {
        let (secret, now) = (try SessionSecret.make(), clock())
        let session = BrowserSession(
            actor: actor, token: token, createdAt: now, usedAt: now, expiresAt: now + Self.life)
        do {
            try store.addSession(session, hash: secret.hash, most: Self.most)
        } catch let error as StoreError where token == nil {
            guard error.code.isOfStore else { throw error }
            kept.withLock { kept in
                kept = kept.filter { now < $0.value.expiresAt }
                if kept.count >= Self.most, let oldest = kept.min(by: { $0.value.createdAt < $1.value.createdAt }) {
                    kept[oldest.key] = nil
                }
                kept[secret.hash] = session
            }
        }
        return secret
    }

    /// The session of a cookie; nil: it is over. It is used by that.
    func use(_ secret: SessionSecret) throws -> LiveSession? {
        let (hash, now) = (secret.hash, clock())
        guard let live = try find(hash, at: now) else { return nil }
        uses.note(.session(hash), at: now)
        return live
    }

    /// Whether a stream may go on. That is no use: a page that is open and not looked at idles.
    func isGood(_ secret: SessionSecret) throws -> Bool { try find(secret.hash, at: clock()) != nil }

    private func find(_ hash: [UInt8], at now: Timestamp) throws -> LiveSession? {
        let own = kept.withLock { $0[hash] }.map { LiveSession(session: $0, token: nil) }
        return try (own ?? store.session(hash: hash)).flatMap { good($0, hash, at: now) }
    }

    package func end(_ secret: SessionSecret) throws {
        if kept.withLock({ $0.removeValue(forKey: secret.hash) }) != nil { return }
        try store.endSession(hash: secret.hash)
    }

    /// All that are good at this moment, with the time of their last use; the newest first.
    package func all() throws -> [ListedSession] {
        let now = clock()
        let own = kept.withLock { kept in
            kept.map { ListedSession(hash: $0.key, live: LiveSession(session: $0.value, token: nil)) }
        }
        return (own + (try store.sessions(at: now))).compactMap { listed in
            guard let live = good(listed.live, listed.hash, at: now) else { return nil }
            return ListedSession(hash: listed.hash, live: live)
        }.sorted { ($0.live.session.createdAt, $0.id) > ($1.live.session.createdAt, $1.id) }
    }

    /// Ends somebody's session; false: there is none of that id.
    package func end(id: String, by signature: Signature) throws -> Bool {
        guard let listed = try all().first(where: { $0.id == id }) else { return false }
        if kept.withLock({ $0.removeValue(forKey: listed.hash) }) != nil { return true }
        return try store.endSession(hash: listed.hash, by: signature)
    }

    /// nil: it is over, or was not used for too long.
    private func good(_ live: LiveSession, _ hash: [UInt8], at now: Timestamp) -> LiveSession? {
        var live = live
        live.session.usedAt = max(live.session.usedAt, uses.lastUse(of: .session(hash)) ?? live.session.usedAt)
        return now < live.session.expiresAt && now < live.session.usedAt + Self.idle ? live : nil
    }

    /// Whether a link can still be followed. That is no use of it: previewers and proxies look at links, too.
    package func isGood(link secret: String) -> Bool {
        let now = clock()
        return links.withLock { $0[SHA256.digest(Array(secret.utf8))] }.map { now < $0.until } ?? false
    }

    /// A secret that signs in once.
    func makeLink(for actor: String) throws -> (secret: String, until: Timestamp) {
        let (secret, now) = (Base64URL.encode(try RandomBytes.make(24)), clock())
        let until = now + Self.linkLife
        links.withLock { links in
            links = links.filter { now < $0.value.until }
            links[SHA256.digest(Array(secret.utf8))] = Link(actor: actor, until: until)
        }
        return (secret, until)
    }

    /// - Returns: what the cookie says; nil: the link was followed before, or is too old.
    package func follow(link secret: String) throws -> SessionSecret? {
        let now = clock()
        let link = links.withLock { $0.removeValue(forKey: SHA256.digest(Array(secret.utf8))) }
        guard let link, now < link.until else { return nil }
        return try begin(for: link.actor, token: nil)
    }

    /// Signs in with an API token; nil: there is no such token.
    package func begin(with apiToken: String) throws -> SessionSecret? {
        let hash = SHA256.digest(Array(apiToken.utf8))
        return try store.token(hash: hash).map { try begin(for: $0.name, token: hash) }
    }
}

/// What a session's cookie says.
package struct SessionSecret: Hashable, Sendable {
    package let text: String

    static func make() throws -> SessionSecret { SessionSecret(text: Base64URL.encode(try RandomBytes.make(32))) }

    /// What the store knows it by.
    var hash: [UInt8] { SHA256.digest(Array(text.utf8)) }

    /// What each change by this session has to say: another site can have the cookie sent, and cannot read this (OWASP, Cross-Site Request
    /// Forgery Prevention).
    package var formToken: String {
        Base64URL.encode(HMACSHA256.code(Array("form".utf8), key: Array(text.utf8)))
    }
}

extension ListedSession {
    /// What it is called where sessions are listed: a part of a digest, which signs nobody in.
    package var id: String { Hex.encode(Array(hash.prefix(8))) }
}

extension StoreError.Code {
    /// Whether it is the store that is at fault, and not what it was asked to keep.
    fileprivate var isOfStore: Bool {
        switch self {
        case .full, .readOnly, .busy, .unreachable, .moved, .fenced, .failed: true
        default: false
        }
    }
}
