// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayStore
import Requirements
import Testing

@testable import StatusPage

/// Each form that acts carries what its question showed.
@Suite("The forms of the page") struct ActFormTests {
    /// Forms that ask about nothing, each with the reason. One that is not here needs an act.
    private static let showsNothing = [
        "POST /page/session": "it begins something new", "POST /page/session/end": "the caller's own",
        "POST /page/sessions/{id}/end": "it names the session by an id of its own",
        "POST /page/enter/{token}": "it begins something new",
        "POST /page/approvals/{id}/approve": "the request holds what was shown, and is refused where that has changed",
        "POST /page/approvals/{id}/refuse": "it names the request by an id of its own",
    ]

    @Test("Each form is an act, or says why it shows nothing")
    func everyForm() {
        for route in StatusPage.routes where route.method != "GET" {
            #expect((route.act == nil) == (Self.showsNothing[route.pattern] != nil), "\(route.pattern)")
        }
        let page = Set(StatusPage.routes.compactMap(\.act))
        #expect(page.isSuperset(of: [.raise, .release, .withdraw, .unblock, .eraseUser, .revokeToken]))
        #expect(page.isSuperset(of: CampaignAction.allCases.map(\.act)))
    }

    @Test("What a form carries comes back as it was, and a form without all of it carries nothing")
    func roundTrip() throws {
        for act in ActKind.allCases {
            let shown = Shown(
                Dictionary(
                    uniqueKeysWithValues: act.facts.map { fact in
                        (fact, fact.isNumber ? .number(7) : fact == .state ? .nothing : .text(" 138 + é\t"))
                    }))
            var html = HTML()
            html.carries(act, shown)
            let text = String(decoding: html.bytes, as: UTF8.self)
            let inputs = text.matches(of: /name="([^"]*)" value="([^"]*)"/).map { ($0.1, $0.2) }
            #expect(inputs.map { String($0.0) } == act.facts.map(\.rawValue))
            func encoded(_ text: Substring) -> String {
                text.utf8.map { "%" + (String($0, radix: 16).count == 1 ? "0" : "") + String($0, radix: 16) }.joined()
            }
            let pairs = inputs.map { "\(encoded($0.0))=\(encoded($0.1))" }
            #expect(try FormFields(Array(pairs.joined(separator: "&").utf8)).shown(act) == shown, "\(act)")
            for left in pairs.indices {
                let rest = pairs.enumerated().filter { $0.offset != left }.map(\.element)
                #expect(try FormFields(Array(rest.joined(separator: "&").utf8)).shown(act) == nil, "\(act)")
            }
        }
    }
}
