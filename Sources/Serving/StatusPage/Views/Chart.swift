// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// A line over time, drawn by the server, with its numbers in a table below.
struct Chart {
    struct Mark {
        var at: Timestamp
        var label: String
    }

    var title: String
    /// In order of time. The number is 0 before the first point, and holds from each point to the next.
    var points: [AdoptionPoint]
    var from: Timestamp
    var to: Timestamp
    /// The number that stands for 100 %; 0: the number of the last point.
    var top: Int64
    var marks: [Mark] = []

    /// Units of the drawing.
    private static let (width, height): (Int64, Int64) = (600, 160)
    private static let (left, right, above, below): (Int64, Int64, Int64, Int64) = (64, 10, 14, 20)
    /// The most points that are drawn: more could not be seen.
    private static let mostPoints = 200

    private var ceiling: Int64 { max(top, points.last?.upgraded ?? 0, 1) }

    private func x(_ at: Timestamp) -> Int64 {
        let span = max(to.milliseconds - from.milliseconds, 1)
        let offset = min(max(at.milliseconds - from.milliseconds, 0), span)
        return Self.left + offset * (Self.width - Self.left - Self.right) / span
    }

    private func y(_ value: Int64) -> Int64 {
        let room = Self.height - Self.above - Self.below
        return Self.above + room - Int64(Double(value) / Double(ceiling) * Double(room))
    }

    /// As many points as can be seen, with the last among them.
    private var drawn: [AdoptionPoint] {
        let step = max((points.count + Self.mostPoints - 1) / Self.mostPoints, 1)
        return points.enumerated().filter { $0.offset % step == 0 || $0.offset == points.count - 1 }.map(\.element)
    }

    private var line: String {
        var (text, last) = ("\(x(from)),\(y(0))", Int64(0))
        for point in drawn {
            text += " \(x(point.at)),\(y(last)) \(x(point.at)),\(y(point.upgraded))"
            last = point.upgraded
        }
        return text + " \(x(to)),\(y(last))"
    }

    func draw(_ html: inout HTML, id: String, _ view: View) {
        html.tag("figure", [.class("chart")]) { html in
            html.tag("figcaption", text: title)
            html.tag(
                "svg",
                [
                    .named("viewBox", "0 0 \(Self.width) \(Self.height)"), .named("role", "img"),
                    .named("aria-labelledby", "\(id)-title \(id)-text"),
                ]
            ) { html in
                html.tag("title", [.id("\(id)-title")], text: title)
                html.tag("desc", [.id("\(id)-text")], text: summary(view))
                axes(&html, view)
                for mark in marks {
                    let x = String(self.x(mark.at))
                    html.tag(
                        "line",
                        [
                            .class("mark"), .named("x1", x), .named("x2", x), .named("y1", Self.above),
                            .named("y2", Self.height - Self.below),
                        ]
                    ) { $0.tag("title", text: mark.label) }
                }
                html.tag("polyline", [.class("line"), .named("points", line)]) { _ in }
            }
            figures(&html, id, view)
        }
    }

    private func summary(_ view: View) -> String {
        let value = points.last?.upgraded ?? 0
        return view.say("% of %", view.number(value), view.number(top)) + ", " + view.percent(value, of: top)
    }

    private func axes(_ html: inout HTML, _ view: View) {
        for value in [0, ceiling / 2, ceiling] {
            let y = self.y(value)
            html.tag(
                "line",
                [
                    .class("grid"), .named("x1", Self.left), .named("x2", Self.width - Self.right), .named("y1", y),
                    .named("y2", y),
                ]
            ) { _ in }
            html.tag(
                "text",
                [
                    .named("x", Self.left - 6), .named("y", y + 4), .named("text-anchor", "end"),
                    .named("aria-hidden", "true"),
                ],
                text: view.number(value))
        }
        let span = (to.milliseconds - from.milliseconds) / 1000
        html.tag(
            "text",
            [
                .named("x", Self.width - Self.right), .named("y", Self.height - 4), .named("text-anchor", "end"),
                .named("aria-hidden", "true"),
            ], text: "+\(view.duration(seconds: span))")
    }

    private func figures(_ html: inout HTML, _ id: String, _ view: View) {
        html.tag("details", [.id("\(id)-numbers")]) { html in
            html.tag("summary", text: view.say("The same as numbers"))
            html.table(title, [view.say("When"), view.say("Devices"), view.say("What")]) { html in
                for mark in marks { html.row({ $0.time(mark.at) }, [{ $0.text("") }, { $0.text(mark.label) }]) }
                for point in drawn.suffix(50) {
                    html.row(
                        { $0.time(point.at) },
                        [{ $0.text(view.number(point.upgraded)) }, { $0.text(view.percent(point.upgraded, of: top)) }])
                }
            }
        }
    }
}
