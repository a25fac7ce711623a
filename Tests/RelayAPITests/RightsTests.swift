// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Signing
import Testing

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
            return (error as? Problem)?.status ?? 0
        }
    }

    @Test("every route with a token of every single scope", arguments: Scope.allCases)
    func scopes(scope: Scope) {
        for entry in RouterTests.table {
            let expected =
                switch entry.right {
                case .nothing, .signature: 200
                case .scope(let needed): needed == scope ? 200 : 403
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
}
