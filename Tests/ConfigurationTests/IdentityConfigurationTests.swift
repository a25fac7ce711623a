// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayStore
import Terminal
import Testing

@testable import Configuration

@Suite struct IdentityConfigurationTests {
    private static func parse(_ page: String) throws -> ListenConfiguration {
        let text = "{ listen: { page: \(page) }, apps: { a: { ios: { apns: null } } } }"
        return try ConfigurationFile.parse(Array(text.utf8), path: "test").listen
    }

    private static func identity(_ keys: String) throws -> ListenConfiguration {
        try parse(#"{ identity: { from: ["127.0.0.1"], rights: { ops: ["status"] }, \#(keys) } }"#)
    }

    @Test(arguments: [("true", true), ("false", false), ("null", true), ("{}", true), ("{ identity: null }", true)])
    func `Without the object nobody is signed in by a proxy`(page: String, isServed: Bool) throws {
        let listen = try Self.parse(page)
        #expect(listen.identity == nil && listen.page == isServed)
    }

    @Test func `No header is believed by default from anywhere, and the names are oauth2-proxy's`() throws {
        let identity = try #require(try Self.identity("").identity)
        #expect(identity.headers.all == ["X-Forwarded-User", "X-Forwarded-Groups"])
        #expect(identity.address == .forwardedFor)
        #expect(identity.from == [try PeerNetwork("127.0.0.1")] && identity.rights == ["ops": [.status]])
    }

    @Test func `All of it can be set`() throws {
        let identity = try #require(
            try Self.parse(
                """
                { identity: { header: "Remote-User", groupsHeader: "Remote-Groups", addressHeader: "Forwarded",
                  from: ["10.0.0.0/8", "2001:db8::7"],
                  rights: { "relay ops": ["status", "campaigns"], "运维": ["users"], "*": ["status"] } } }
                """
            ).identity)
        #expect(identity.headers.all == ["Remote-User", "Remote-Groups"] && identity.address == .forwarded)
        #expect(identity.from == [try PeerNetwork("10.0.0.0/8"), try PeerNetwork("2001:db8::7")])
        #expect(identity.rights == ["relay ops": [.status, .campaigns], "运维": [.users], "*": [.status]])
    }

    @Test func `A group may be bound to apps`() throws {
        let identity = try #require(
            try Self.parse(
                #"{ identity: { from: ["::1"], rights: { team: { scopes: ["status", "campaigns"], apps: ["a"] }, all: { scopes: ["users"] } } } }"#
            ).identity)
        #expect(identity.rights == ["team": Grant([.status, .campaigns], apps: ["a"]), "all": [.users]])
    }

    @Test(arguments: [
        ("1", #"listen.page: 1 is not true or false, nor an object { … }"#),
        ("{ identity: true }", "listen.page.identity: true is not an object { … }"),
        ("{ identitty: {} }", "listen.page.identitty: unknown key; did you mean identity?"),
        (
            "{ identity: {} }",
            #"listen.page.identity.from: missing; the addresses of the proxies that sign people in, such as ["127.0.0.1"]"#
        ),
        (
            "{ identity: {} }",
            #"listen.page.identity.rights: missing; the scopes of each group, such as { operators: ["status", "campaigns"] }"#
        ),
        ("{ identity: { from: [] } }", "listen.page.identity.from: missing;"),
        (
            #"{ identity: { from: ["localhost"] } }"#,
            #"listen.page.identity.from[0]: "localhost" is not an address; an IP address such as "127.0.0.1", or a network such as "10.0.0.0/8""#
        ),
        (#"{ identity: { from: ["::1", "0.0.0.0/0"] } }"#, #"from[1]: "0.0.0.0/0" trusts far too many addresses"#),
        (#"{ identity: { from: [7] } }"#, "listen.page.identity.from[0]: 7 is not text"),
        (#"{ identity: { rights: {} } }"#, "listen.page.identity.rights: an object names no group; the scopes"),
        (#"{ identity: { rights: ["status"] } }"#, "listen.page.identity.rights: a list names no group; the scopes"),
        (
            #"{ identity: { rights: { ops: "status" } } }"#,
            #"listen.page.identity.rights["ops"]: "status" is not a list of scopes; of "status", "#
        ),
        (
            #"{ identity: { rights: { ops: [] } } }"#,
            #"listen.page.identity.rights["ops"]: a list is not a list of scopes"#
        ),
        (
            #"{ identity: { rights: { ops: ["status", "all"] } } }"#,
            #"listen.page.identity.rights["ops"][1]: "all" is not a scope; "status", "#
        ),
        (
            #"{ identity: { rights: { ops: { apps: ["a"] } } } }"#,
            #"listen.page.identity.rights["ops"].scopes: missing; a list of scopes, such as ["status", "campaigns"]"#
        ),
        (
            #"{ identity: { rights: { ops: { scopes: ["all"] } } } }"#,
            #"listen.page.identity.rights["ops"].scopes[0]: "all" is not a scope; "status", "#
        ),
        (
            #"{ identity: { rights: { ops: { scopes: ["status"], apps: "a" } } } }"#,
            #"listen.page.identity.rights["ops"].apps: "a" is not a list of apps, such as ["com.example.app"]"#
        ),
        (
            #"{ identity: { rights: { ops: { scopes: ["status"], apps: [] } } } }"#,
            #"listen.page.identity.rights["ops"].apps: is empty; leave it out for all apps"#
        ),
        (
            #"{ identity: { rights: { ops: { scopes: ["status"], apps: [7] } } } }"#,
            #"listen.page.identity.rights["ops"].apps[0]: 7 is not an app's name"#
        ),
        (
            #"{ identity: { from: ["::1"], rights: { ops: { scopes: ["status"], apps: ["a", "b"] } } } }"#,
            #"listen.page.identity.rights["ops"].apps: names "b", which is not among the apps"#
        ),
        (
            #"{ identity: { rights: { ops: { scopes: ["status"], platforms: ["ios"] } } } }"#,
            #"listen.page.identity.rights["ops"].platforms: unknown key; a group has scopes, and apps that it is bound to"#
        ),
        (
            #"{ identity: { rights: { "cn=ops,ou=relay": ["status"] } } }"#,
            #"rights["cn=ops,ou=relay"]: a group's name has no comma: the header has commas between its groups"#
        ),
        (
            #"{ identity: { rights: { " ops": ["status"] } } }"#,
            "a group's name is not empty, and has no space around it"
        ),
        (
            #"{ identity: { header: "Authorization" } }"#,
            #"identity.header: "Authorization" says something else in every request"#
        ),
        (#"{ identity: { header: "Cookie" } }"#, #"identity.header: "Cookie" says something else in every request"#),
        (#"{ identity: { header: "X User" } }"#, #"identity.header: "X User" is not the name of a header"#),
        (
            #"{ identity: { groupsHeader: "x-forwarded-USER" } }"#,
            #"identity.groupsHeader: "x-forwarded-USER" is the header of the name already; another one"#
        ),
        (
            #"{ identity: { addressHeader: "X-Real-IP" } }"#,
            #"identity.addressHeader: "X-Real-IP" is not the header with the client's address; "X-Forwarded-For" or "Forwarded""#
        ),
        (#"{ identity: { groups: {} } }"#, "listen.page.identity.groups: unknown key"),
    ])
    func `A fault names the field, its value and what is right`(page: String, fault: String) throws {
        do {
            _ = try Self.parse(page)
            Issue.record("it was taken: \(page)")
        } catch {
            #expect("\(error)".contains(fault), "\(error)")
        }
    }

    @Test func `A reload takes addresses and rights; the names of headers need a restart`() throws {
        let running = try Self.identity("")
        #expect(try !Self.identity(#"addressHeader: "Forwarded""#).needsRestart(from: running))
        let other = #"{ identity: { from: ["10.0.0.0/8"], rights: { "*": ["users"] } } }"#
        #expect(try !Self.parse(other).needsRestart(from: running))
        #expect(try !Self.parse("true").needsRestart(from: running), "nobody is signed in any more")
        #expect(try Self.identity(#"header: "Remote-User""#).needsRestart(from: running))
        #expect(try Self.identity("").needsRestart(from: Self.parse("true")))
        #expect(try Self.parse("false").needsRestart(from: running))
    }
}
