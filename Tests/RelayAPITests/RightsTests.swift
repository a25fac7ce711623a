// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Signing
import Testing
import Threading
import WireFormat

@testable import HTTPServer
@testable import RelayAPI

@Suite("Rights")
struct RightsTests {
    static func status(_ right: Right, door: Door = .network, authorization: String?, scopes: Set<Scope>) -> Int {
        let hash = SHA256.digest(Array("urt_good".utf8))
        do {
            _ = try Rights.caller(for: right, door: door, authorization: authorization) { asked in
                guard asked == hash else { return nil }
                return AccessToken(name: "ci", scopes: scopes, createdAt: Timestamp(seconds: 0), revokedAt: nil)
            }
            return 200
        } catch {
            return (error as? ProblemDetails)?.status ?? 0
        }
    }

    @Test("every route with a token of every single scope", arguments: Scope.allCases)
    func scopes(scope: Scope) {
        for entry in RouterTests.table {
            let expected =
                switch entry.right {
                case .nothing, .signature, .signedIn: 200
                case .scope(let needed): scope.covers(needed) ? 200 : 403
                case .operatorOnly: 403
                }
            #expect(
                Self.status(entry.right, authorization: "Bearer urt_good", scopes: [scope]) == expected,
                "\(entry.method) \(entry.path)")
            #expect(Self.status(entry.right, door: .control, authorization: nil, scopes: []) == 200)
        }
    }

    @Test(
        "who cannot be known is not let in",
        arguments: [nil, "", "Bearer", "Bearer urt_bad", "Basic urt_good", "Bearer urt_good x", "urt_good"])
    func unknown(authorization: String?) {
        #expect(Self.status(.scope(.status), authorization: authorization, scopes: [.status]) == 401)
    }

    @Test("the scheme is case-insensitive")
    func scheme() {
        #expect(Self.status(.scope(.status), authorization: "bearer urt_good", scopes: [.status]) == 200)
    }

    /// FAULTS 2.10: every link of `upgrade-relay page` was "root (uid 0)".
    @Test("root names the person that it acts for, and nobody else does")
    func person() throws {
        func name(user: UInt32?, _ person: ActedFor?, right: Right = .operatorOnly) throws -> String {
            try Rights.caller(
                for: right, door: .control, user: user, authorization: nil, person: { person }, look: { _ in nil }
            ).actor.name
        }
        func refusal(_ body: () throws -> Void) -> ProblemDetails? {
            do {
                try body()
                return nil
            } catch {
                return error as? ProblemDetails
            }
        }
        let (alice, login) = (ActedFor("alice", isLogin: false), ActedFor("bob (uid 1007)", isLogin: true))
        let root = SystemUser.shown(0)
        #expect(try name(user: 0, nil) == root)
        #expect(try name(user: 0, alice) == "\(root) for alice")
        #expect(try name(user: 0, login) == "\(root) for bob (uid 1007)")
        #expect(try name(user: 0, ActedFor("李雷", isLogin: false)) == "\(root) for 李雷")
        // A login is no claim of a person, and is not refused: a process may be root in its own namespace alone.
        #expect(try name(user: 4_000_000, login) == "uid 4000000")
        for user in [4_000_000, nil] as [UInt32?] {
            let refused = refusal { _ = try name(user: user, alice) }
            #expect(refused?.status == 403)
            #expect(refused?.detail.hasPrefix(ActedFor.rootAlone) == true)
        }
        for bad in ["", "a\nb", "a\u{202E}b", String(repeating: "x", count: 65)] {
            #expect(refusal { _ = try name(user: 0, ActedFor(bad, isLogin: false)) }?.status == 400, "\(bad)")
        }
        let onNetwork = refusal {
            _ = try Rights.caller(
                for: .scope(.status), door: .network, user: nil, authorization: "Bearer urt_good", person: { alice },
                look: { _ in nil })
        }
        #expect(onNetwork?.status == 403)
    }

    @Test("the control socket is for root, the daemon's user, and the socket's group")
    func credentials() {
        func peer(_ user: UInt32, _ groups: Set<UInt32> = []) -> PeerCredentials {
            PeerCredentials(user: user, groups: groups, process: 7)
        }
        let alone = ControlAccess(user: 500, group: nil)
        let shared = ControlAccess(user: 500, group: 60)
        for access in [alone, shared] {
            #expect(access.refusal(of: peer(0)) == nil)
            #expect(access.refusal(of: peer(500)) == nil)
            #expect(access.refusal(of: peer(501, [501]))?.user == 501)
            #expect(access.refusal(of: nil)?.problem.status == 403)
        }
        #expect(alone.refusal(of: peer(501, [60])) != nil)
        #expect(shared.refusal(of: peer(501, [501, 60])) == nil)
        // Where every user is let in, a namespace in which all groups have one number must not make members of them.
        let open = ControlAccess(user: 500, group: 65534, isOpenToAll: true)
        #expect(open.refusal(of: peer(65534, [65534]))?.problem.detail.hasSuffix("not for everybody any more") == true)
        #expect(open.refusal(of: peer(0)) == nil && open.refusal(of: peer(500)) == nil)
        #expect(ControlAccess(user: 500, group: 65534).refusal(of: peer(65534, [65534])) == nil)
    }
}
