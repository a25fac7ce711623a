// SPDX-License-Identifier: Apache-2.0
package import RelayStore

/// Scopes that hold for some apps, or for all of them: the right of a group of `listen.page.identity.rights`, as an API
/// token has one.
package struct Grant: Hashable, Sendable, ExpressibleByArrayLiteral {
    package var scopes: Set<Scope>
    /// The names of the apps, on every platform; nil: all apps.
    package var apps: Set<String>?

    package init(_ scopes: Set<Scope>, apps: Set<String>? = nil) { (self.scopes, self.apps) = (scopes, apps) }

    /// The scopes of a group that is bound to no app.
    package init(arrayLiteral scopes: Scope...) { self.init(Set(scopes)) }
}

/// The grants of one person, of which some may be bound to apps. A caller has one set of scopes for one set of apps, so each
/// request is judged by a part of them in which every scope holds for every app. Pure.
struct Grants: Hashable, Sendable {
    /// One set of scopes for one set of apps; nil: all apps.
    typealias Part = (scopes: Set<Scope>, apps: Set<String>?)

    let all: [Grant]

    init(_ all: [Grant]) { self.all = all.filter { !$0.scopes.isEmpty && $0.apps?.isEmpty != true } }

    /// The scopes, each of which holds for one app at least.
    var scopes: Set<Scope> { all.reduce(into: []) { $0.formUnion($1.scopes) } }

    var areBound: Bool { all.contains { $0.apps != nil } }

    func hold(_ scope: Scope) -> Bool { all.contains { $0.holds(scope) } }

    /// The part for the apps in which a scope holds.
    func part(with scope: Scope) -> Part { part(for: apps(with: scope)) }

    /// The part for one app.
    func part(on app: String) -> Part { part(for: [app]) }

    /// The part for a request that names neither app nor scope, such as the page's first screen.
    var usual: Part {
        let scope = [Scope.status, .users].first(where: hold) ?? Scope.allCases.first(where: hold)
        return scope.map(part(with:)) ?? ([], [])
    }

    private func part(for apps: Set<String>?) -> Part {
        let scopes = Set(Scope.allCases.filter { hold($0) && Self.contains(self.apps(with: $0), apps) })
        return scopes.isEmpty || apps?.isEmpty == true ? ([], []) : (scopes, apps)
    }

    /// nil: all apps.
    private func apps(with scope: Scope) -> Set<String>? {
        var apps: Set<String> = []
        for grant in all where grant.holds(scope) {
            guard let some = grant.apps else { return nil }
            apps.formUnion(some)
        }
        return apps
    }

    private static func contains(_ apps: Set<String>?, _ others: Set<String>?) -> Bool {
        guard let apps else { return true }
        return others?.isSubset(of: apps) ?? false
    }
}

extension Grant {
    fileprivate func holds(_ scope: Scope) -> Bool { scopes.contains { $0.covers(scope) } }
}

extension Caller {
    /// The caller's rights on one app; the same caller where it is bound to no app.
    package func on(_ app: String) -> Caller { part { $0.part(on: app) } }

    /// The caller's rights on the apps in which a scope holds.
    package func with(_ scope: Scope) -> Caller { part { $0.part(with: scope) } }

    /// Whether it may do something with one app.
    package func may(_ scope: Scope, on app: String) -> Bool {
        let there = on(app)
        return there.may(scope) && there.maySee(app)
    }

    private func part(_ part: (Grants) -> Grants.Part) -> Caller {
        guard let grants = person?.grants, grants.areBound else { return self }
        var caller = self
        (caller.scopes, caller.apps) = part(grants)
        return caller
    }
}
