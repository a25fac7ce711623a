// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

extension ConformanceCase {
    static let sessions: [ConformanceCase] = [
        ConformanceCase("of the sessions of one API token, or of one operator, the oldest end") { subject in
            let store = subject.store
            let tokens = [[UInt8](repeating: 7, count: 32), [UInt8](repeating: 8, count: 32)]
            for (name, hash) in zip(["ci", "other"], tokens) {
                try store.addToken(
                    AccessToken(name: name, scopes: [.status], createdAt: subject.now, revokedAt: nil), hash: hash)
            }
            func session(_ actor: String, _ token: [UInt8]?, _ second: Int64) -> BrowserSession {
                let at = subject.now + .seconds(second)
                return BrowserSession(
                    actor: actor, token: token, createdAt: at, usedAt: at, expiresAt: at + .seconds(100))
            }
            func hash(_ number: Int) -> [UInt8] { [UInt8](repeating: 0, count: 31) + [UInt8(number)] }
            // All at one moment, too: the session that begins stays.
            for number in 0..<8 {
                try store.addSession(session("ci", tokens[0], number < 6 ? 0 : 1), hash: hash(number), most: 3)
                try check(try store.session(hash: hash(number)) != nil, "the one that begins")
            }
            for number in 10..<14 {
                try store.addSession(session("root", nil, Int64(number)), hash: hash(number), most: 3)
            }
            try store.addSession(session("admin", nil, 9), hash: hash(20), most: 3)
            try store.addSession(session("other", tokens[1], 8), hash: hash(30), most: 3)
            let all = try store.sessions(at: subject.now + .seconds(20))
            try same(all.count { $0.live.session.token == tokens[0] }, 3)
            try check(all.contains { $0.hash == hash(6) } && all.contains { $0.hash == hash(7) }, "the newest")
            try same(all.filter { $0.live.session.actor == "root" }.map(\.hash), [hash(13), hash(12), hash(11)])
            try same(all.map(\.live.session.createdAt), all.map(\.live.session.createdAt).sorted(by: >))
            try same(all.first { $0.hash == hash(30) }?.live.token?.name, "other")
            try check(all.contains { $0.hash == hash(20) && $0.live.token == nil }, "an operator's")
            try same(try store.session(hash: hash(13))?.session, all.first { $0.hash == hash(13) }?.live.session)
            // A session that is over, or whose token was revoked, is not listed.
            try same(try store.sessions(at: subject.now + .seconds(500)), [])
            try check(try store.revokeToken(name: "other", at: subject.now), "revoked")
            try check(!(try store.sessions(at: subject.now + .seconds(20)).contains { $0.hash == hash(30) }), "revoked")
        },
        ConformanceCase("the session of a proxy's person has its own rights, and counts for that person") { subject in
            let store = subject.store
            func session(_ actor: String, _ key: UInt8, _ scopes: Set<Scope>?, _ second: Int64) -> BrowserSession {
                let at = subject.now + .seconds(second)
                return BrowserSession(
                    actor: actor, token: [UInt8](repeating: key, count: 32), scopes: scopes, createdAt: at, usedAt: at,
                    expiresAt: at + .seconds(100))
            }
            func hash(_ number: Int) -> [UInt8] { [UInt8](repeating: 3, count: 31) + [UInt8(number)] }
            for number in 0..<4 {
                let one = session("proxy:ada", 40, [.status, .campaigns], Int64(number))
                try store.addSession(one, hash: hash(number), most: 3)
            }
            try store.addSession(session("proxy:bob", 41, [], 5), hash: hash(5), most: 3)
            let found = try store.session(hash: hash(3))
            try same(found?.session, session("proxy:ada", 40, [.status, .campaigns], 3))
            try same(found?.holder, .person([.status, .campaigns]))
            try same(try store.session(hash: hash(5))?.holder, .person([]))
            try same(try store.session(hash: hash(0)), nil)
            try same(try store.sessions(at: subject.now + .seconds(10)).count, 4)
            // A digest that is no API token's gives no right by itself.
            try store.addSession(session("ada", 42, nil, 6), hash: hash(6), most: 3)
            try same(try store.session(hash: hash(6)), nil)
        },
        ConformanceCase("who ends somebody's session stands in the audit trail") { subject in
            let store = subject.store
            let hash = [UInt8](repeating: 9, count: 32)
            let session = BrowserSession(
                actor: "root (uid 0)", token: nil, createdAt: subject.now, usedAt: subject.now,
                expiresAt: subject.now + .seconds(60))
            try store.addSession(session, hash: hash, most: 32)
            let signature = Signature(by: .tester, at: subject.now)
            try check(!(try store.endSession(hash: [UInt8](repeating: 1, count: 32), by: signature)), "there is none")
            try check(try store.endSession(hash: hash, by: signature), "ended")
            try check(!(try store.endSession(hash: hash, by: signature)), "ended already")
            try same(try store.session(hash: hash), nil)
            let trail = try store.audit(AuditFilter(), before: nil, limit: 9)
            try same(trail.map(\.action), ["session.end"])
            try same(trail.first?.object, "root (uid 0)")
            try same(trail.first?.actor, .tester)
            // Signing out leaves no record.
            try store.addSession(session, hash: hash, most: 32)
            try check(try store.endSession(hash: hash), "signed out")
            try same(try store.audit(AuditFilter(), before: nil, limit: 9).count, 1)
        },
    ]
}
