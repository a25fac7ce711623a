// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
package import Requirements
import Signing
import Synchronization
import WireFormat

/// The sessions of people's browsers: a cookie stands for an API token, for a user of the control socket, or beside a proxy's
/// headers for the person whom they name.
package final class Sessions: Sendable {
    /// The life of a session, however much it is used.
    package static let life = Duration.seconds(12 * 3600)
    /// The time without a request after which a session ends. A page in view requests its changes; an open stream alone
    /// does not count as use.
    package static let idle = Duration.seconds(3600)
    /// The life of a link of `upgrade-relay page`.
    package static let linkLife = Duration.seconds(5 * 60)

    /// The most sessions of one API token, of one operator, or of one proxy's person, at a time: beyond that, the oldest ends.
    package static let most = 32
    /// The most sessions of proxies' people that the store could not take.
    private static let mostKeptPeople = 256

    private let store: any RelayStore
    private let clock: @Sendable () -> Timestamp
    private let uses: UseNotes
    /// Links that were not followed yet, by the SHA-256 of their secrets. Only this process has them: a link leads to its address.
    private let links = Mutex<[[UInt8]: Link]>([:])

    /// Sessions of operators and of proxies' people that the store could not take, by the SHA-256 of their secrets: they have
    /// to get in to look after a store that is full or locked. They are valid in this process alone; `most` limits those of
    /// operators together, and `mostKeptPeople` all others, so that these displace no operator.
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
    /// - Returns: the secret for the cookie.
    func begin(for actor: String, token: [UInt8]?) throws -> SessionSecret {
        let (secret, now) = (try SessionSecret.make(), clock())
        try add(
            BrowserSession(actor: actor, token: token, createdAt: now, usedAt: now, expiresAt: now + Self.life), secret)
        return secret
    }

    /// Begins the session of a person whom a proxy signed in.
    func begin(for person: ProxiedPerson, _ secret: SessionSecret) throws {
        let now = clock()
        try add(
            BrowserSession(
                actor: person.actor, token: person.key, scopes: person.scopes, createdAt: now, usedAt: now,
                expiresAt: now + Self.life), secret)
    }

    private func add(_ session: BrowserSession, _ secret: SessionSecret) throws {
        let isPerson = session.scopes != nil
        do {
            try store.addSession(session, hash: secret.hash, most: Self.most)
        } catch let error as StoreError where session.token == nil || isPerson {
            guard error.code.isOfStore else { throw error }
            kept.withLock { kept in
                kept = kept.filter { session.createdAt < $0.value.expiresAt }
                let alike = kept.filter { ($0.value.scopes != nil) == isPerson }
                if alike.count >= (isPerson ? Self.mostKeptPeople : Self.most),
                    let oldest = alike.min(by: { $0.value.createdAt < $1.value.createdAt })
                {
                    kept[oldest.key] = nil
                }
                kept[secret.hash] = session
            }
        }
    }

    /// Returns the session of a cookie and records its use; nil: it is over, or that of a proxy's person, which counts with the
    /// proxy's headers alone.
    func use(_ secret: SessionSecret) throws -> LiveSession? {
        let (hash, now) = (secret.hash, clock())
        guard let live = try find(hash, at: now), live.session.scopes == nil else { return nil }
        uses.note(.session(hash), at: now)
        return live
    }

    /// Whether a cookie's session is this person's with the present rights; records its use. A session of the same person with
    /// other rights ends, and its streams with it.
    func use(_ secret: SessionSecret, by person: ProxiedPerson) throws -> Bool {
        let (hash, now) = (secret.hash, clock())
        guard let live = try find(hash, at: now), person.isNamed(live.session) else { return false }
        guard person.owns(live.session) else {
            try end(secret)
            return false
        }
        uses.note(.session(hash), at: now)
        return true
    }

    /// Whether a stream may go on. This does not count as use: the session of an open page that is not in view becomes idle.
    func isGood(_ secret: SessionSecret) throws -> Bool { try find(secret.hash, at: clock()) != nil }

    private func find(_ hash: [UInt8], at now: Timestamp) throws -> LiveSession? {
        let own = kept.withLock { $0[hash] }.map { LiveSession(session: $0, token: nil) }
        return try (own ?? store.session(hash: hash)).flatMap { good($0, hash, at: now) }
    }

    package func end(_ secret: SessionSecret) throws {
        if kept.withLock({ $0.removeValue(forKey: secret.hash) }) != nil { return }
        try store.endSession(hash: secret.hash)
    }

    /// All sessions that are valid now, with the time of their last use; the newest first.
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

    /// Ends the session with an id from the list; false: there is none.
    package func end(id: String, by signature: Signature) throws -> Bool {
        guard let listed = try all().first(where: { $0.id == id }) else { return false }
        if kept.withLock({ $0.removeValue(forKey: listed.hash) }) != nil { return true }
        return try store.endSession(hash: listed.hash, by: signature)
    }

    /// Returns the session with its last use; nil: it is over, or was idle for too long.
    private func good(_ live: LiveSession, _ hash: [UInt8], at now: Timestamp) -> LiveSession? {
        var live = live
        live.session.usedAt = max(live.session.usedAt, uses.lastUse(of: .session(hash)) ?? live.session.usedAt)
        return now < live.session.expiresAt && now < live.session.usedAt + Self.idle ? live : nil
    }

    /// Whether a link can still be followed. This does not use it up: previewers and proxies fetch links, too.
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

    /// - Returns: the secret for the cookie; nil: the link was followed before, or is too old.
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

/// The secret in a session's cookie.
package struct SessionSecret: Hashable, Sendable {
    package let text: String

    static func make() throws -> SessionSecret { SessionSecret(text: Base64URL.encode(try RandomBytes.make(32))) }

    /// The key of the session in the store.
    var hash: [UInt8] { SHA256.digest(Array(text.utf8)) }

    /// The token that each change by this session must carry: another site can make a browser send the cookie, but cannot
    /// read this token (OWASP, Cross-Site Request Forgery Prevention).
    package var formToken: String {
        Base64URL.encode(HMACSHA256.code(Array("form".utf8), key: Array(text.utf8)))
    }
}

extension ListedSession {
    /// Its name where sessions are listed: a part of a digest, which cannot sign a browser in.
    package var id: String { Hex.encode(Array(hash.prefix(8))) }
}

extension StoreError.Code {
    /// Whether the store is at fault, and not the value that it was asked to keep.
    fileprivate var isOfStore: Bool {
        switch self {
        case .full, .readOnly, .busy, .unreachable, .moved, .fenced, .failed: true
        default: false
        }
    }
}
