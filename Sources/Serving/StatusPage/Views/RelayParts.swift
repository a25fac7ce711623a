// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore

/// The relays of the store, where there are several.
extension View {
    func relays(_ html: inout HTML, _ nodes: [NodeStatus]) {
        guard nodes.count > 1 else { return }
        html.tag("h2", [.id("relays-title")], text: say("Relays"))
        html.table(say("Relays"), [say("Name"), say("State"), say("Sends"), say("Remarks")]) { html in
            for node in nodes {
                html.row(
                    { $0.foreign(node.record.description.name) },
                    [
                        { $0.text(word(node.record.state)) }, { sends(&$0, node.record.campaigns) },
                        { $0.text(remarks(node).isEmpty ? "–" : remarks(node).joined(separator: say(", "))) },
                    ])
            }
        }
    }

    private func sends(_ html: inout HTML, _ campaigns: [String]) {
        if campaigns.isEmpty { return html.text("–") }
        for campaign in campaigns {
            html.link(PagePath("page", "campaigns", campaign), campaign)
            html.text(" ")
        }
    }

    private func word(_ state: NodeRecord.State) -> String {
        switch state {
        case .alive: say("works")
        case .lapsed: say("not heard of")
        case .fenced: say("given up")
        case .stopped: say("stopped")
        }
    }

    private func remarks(_ node: NodeStatus) -> [String] {
        var remarks: [String] = []
        if node.record.leads { remarks.append(say("leads")) }
        if node.differs { remarks.append(say("its configuration differs")) }
        // Where the database's clock is ahead, the relay's own is behind.
        let ahead = node.record.clockAhead
        let seconds = String(Double(ahead.milliseconds.magnitude / 100) / 10)
        if ahead > NodeRecord.clockTolerance { remarks.append(say("its clock is % s behind", seconds)) }
        if ahead < .zero - NodeRecord.clockTolerance { remarks.append(say("its clock is % s ahead", seconds)) }
        return remarks
    }
}
