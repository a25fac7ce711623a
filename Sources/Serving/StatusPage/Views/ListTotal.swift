// SPDX-License-Identifier: Apache-2.0
import RelayAPI

/// How long a list is.
enum ListTotal: Hashable {
    case exactly(Int64)
    /// The list was not counted to its end.
    case moreThan(Int64)

    /// A list that has no count of its own is counted up to here.
    static let mostCounted = 500

    /// - Parameter page: reads the list's first items, up to a number of them.
    init<Item>(counting page: (Int) throws -> Page<Item>) rethrows {
        let found = try page(Self.mostCounted)
        self = found.next == nil ? .exactly(Int64(found.items.count)) : .moreThan(Int64(found.items.count))
    }

    /// Whether one page does not show the whole list.
    func exceeds(_ shown: Int) -> Bool {
        switch self {
        case .exactly(let count): count > Int64(shown)
        case .moreThan: true
        }
    }
}

/// A page of a list that is in memory.
struct ListSlice<Item> {
    /// From 1 on.
    let number: Int
    let items: [Item]
    let total: Int
    let pageCount: Int
    /// The place of the first item in the list, from 1 on; 0 where there is none.
    let first: Int

    /// - Parameters:
    ///   - number: from 1 on; one beyond the list shows its last page, nil the first.
    ///   - size: items on one page.
    init(_ all: [Item], page number: Int? = nil, size: Int = 20) {
        total = all.count
        pageCount = max((all.count + size - 1) / size, 1)
        self.number = min(max(number ?? 1, 1), pageCount)
        let start = (self.number - 1) * size
        items = Array(all.dropFirst(start).prefix(size))
        first = items.isEmpty ? 0 : start + 1
    }
}

extension View {
    /// "1,234 in all", above a list.
    func total(_ html: inout HTML, _ total: ListTotal?) {
        guard let total else { return }
        html.tag("p", [.class("total")]) { html in
            switch total {
            case .exactly(let count): html.text(say("% in all", number(count)))
            case .moreThan(let count): html.text(say("More than % in all", number(count)))
            }
        }
    }

    /// The total and the links to the pages beside this one, of a list that is in memory.
    ///
    /// - Parameters:
    ///   - path: the view without its place in this list.
    ///   - parameter: the query parameter for the page's number.
    ///   - place: the id of the list's section, where the links lead.
    func pages<Item>(
        _ html: inout HTML, _ slice: ListSlice<Item>, _ path: PagePath, _ parameter: StaticString,
        at place: StaticString
    ) {
        guard slice.pageCount > 1 else { return total(&html, .exactly(Int64(slice.total))) }
        html.tag("p", [.class("total")]) { html in
            let last = slice.first + slice.items.count - 1
            html.text(say("% to % of %", number(Int64(slice.first)), number(Int64(last)), number(Int64(slice.total))))
            for (other, text, rel) in [
                (slice.number - 1, say("Previous page"), "prev"), (slice.number + 1, say("Next page"), "next"),
            ] where (1...slice.pageCount).contains(other) {
                html.text(" · ")
                html.link(
                    path.with(parameter, String(other)).at(place), text, [.named("rel", rel)])
            }
        }
    }

    /// The page's number in a query; one that is no number is refused.
    static func pageNumber(in query: inout Query, _ name: String) -> Int? {
        guard let text = query.filledText(name) else { return nil }
        guard let number = Int(text), number > 0 else {
            query.refuse(name, "a page's number is needed, from 1 on")
            return nil
        }
        return number
    }
}
