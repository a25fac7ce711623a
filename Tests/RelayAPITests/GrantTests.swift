// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Testing

@testable import RelayAPI

/// The rights of a person whose groups are bound to apps: whatever is asked, each scope of a part holds for each of its apps.
@Suite struct GrantTests {
    private static let viewers: Grant = [.status]
    private static let team = Grant([.status, .campaigns], apps: ["a"])
    private static let support = Grant([.users], apps: ["b"])

    private func same(_ part: Grants.Part, _ scopes: Set<Scope>, _ apps: Set<String>?, line: Int = #line) {
        #expect(part.scopes == scopes && part.apps == apps, "line \(line): \(part)")
    }

    @Test func `A group that is bound to no app has its scopes everywhere`() {
        let grants = Grants([Self.viewers, [.versions]])
        #expect(!grants.areBound && grants.scopes == [.status, .versions])
        same(grants.usual, [.status, .versions], nil)
        same(grants.part(with: .versions), [.status, .versions], nil)
    }

    @Test func `A bound group adds its scopes on its apps alone`() {
        let grants = Grants([Self.viewers, Self.team])
        same(grants.usual, [.status], nil)
        same(grants.part(with: .status), [.status], nil)
        same(grants.part(with: .campaigns), [.status, .campaigns], ["a"])
        same(grants.part(on: "a"), [.status, .campaigns], ["a"])
        same(grants.part(on: "b"), [.status], ["b"])
        same(grants.part(with: .versions), [], [])
    }

    @Test func `A person who is bound by every group sees no other app`() {
        let grants = Grants([Self.team, Self.support])
        same(grants.usual, [.status, .campaigns], ["a"])
        same(grants.part(with: .users), [.users], ["b"])
        same(grants.part(on: "b"), [.users], ["b"])
        same(grants.part(on: "c"), [], [])
        same(Grants([]).usual, [], [])
        same(Grants([[], Grant([.status], apps: [])]).usual, [], [])
    }

    @Test func `The scope that covers another one holds it, too`() {
        let grants = Grants([Grant([.devices], apps: ["a"])])
        same(grants.usual, [.users, .devices], ["a"])
        #expect(grants.hold(.users) && !grants.hold(.status))
    }

    /// For each set of groups and each question.
    @Test func `No part has a scope for an app that no group gives`() {
        let choices: [Grant] = [
            [.status], [.users, .versions], Grant([.status], apps: ["a"]), Grant([.campaigns], apps: ["a", "b"]),
            Grant([.devices], apps: ["b"]), Grant([.versions, .campaigns], apps: ["c"]),
        ]
        for mask in 0..<(1 << choices.count) {
            let given = choices.indices.filter { mask & 1 << $0 != 0 }.map { choices[$0] }
            let grants = Grants(given)
            let parts =
                [grants.usual] + Scope.allCases.map(grants.part(with:)) + ["a", "b", "c", "d"].map(grants.part(on:))
            for part in parts {
                for app in ["a", "b", "c", "d"] where part.apps?.contains(app) ?? true {
                    for scope in part.scopes {
                        let isGiven = given.contains { grant in
                            grant.apps?.contains(app) != false && grant.scopes.contains { $0.covers(scope) }
                        }
                        #expect(isGiven, "\(scope) on \(app) of \(given)")
                    }
                }
            }
            for app in ["a", "b", "c"] {
                let all = Scope.allCases.filter { scope in
                    given.contains { grant in
                        grant.apps?.contains(app) != false && grant.scopes.contains { $0.covers(scope) }
                    }
                }
                #expect(grants.part(on: app).scopes == Set(all), "nothing is lost on \(app) of \(given)")
            }
        }
    }
}
