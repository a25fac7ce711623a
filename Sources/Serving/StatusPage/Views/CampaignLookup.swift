// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayStore
import Requirements

/// A campaign by the first characters of its id, as commands take it.
extension View {
    /// The id of the only campaign that the reader may see whose id begins so; the text itself where there is none, for the API to refuse.
    ///
    /// - Throws: a 404 where several campaigns begin so.
    func wholeID(_ text: String) throws -> String {
        guard (1..<12).contains(text.utf8.count), text.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
            return text
        }
        var found: [String] = []
        var last: CampaignKey?
        repeat {
            let records = try api.store.campaigns(before: last, limit: 500)
            found += records.filter { maySee($0.app) && $0.id.hasPrefix(text) }.map(\.id)
            last = records.count == 500 ? records.last?.key : nil
        } while last != nil && found.count < 2
        guard found.count < 2 else {
            throw ProblemDetails(404, "several campaigns begin with \(text): give more of the id")
        }
        return found.first ?? text
    }
}
