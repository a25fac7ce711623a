// SPDX-License-Identifier: Apache-2.0

/// Lines side by side, drawn by the server. The same numbers follow in a table.
struct LineChart {
    struct Point: Equatable {
        var x: Double
        var y: Double
    }

    /// A moment of the x axis.
    struct Mark: Equatable {
        var x: Double
        var label: String
    }

    struct Series {
        var name: String
        /// In order of x.
        var points: [Point]
    }

    var title: String
    /// At most `mostSeries` are drawn.
    var series: [Series]
    /// The greatest x; 0 is at the left.
    var end: Double
    /// The words for the end of the x axis.
    var endLabel: String
    /// The words for a value of the y axis.
    var label: (Double) -> String
    /// The value at the upper end; nil: the greatest of the points.
    var top: Double?
    var marks: [Mark] = []

    /// As many as the style sheet distinguishes.
    static let mostSeries = 5
    private static let (width, height): (Double, Double) = (600, 160)
    private static let (left, right, above, below): (Double, Double, Double, Double) = (64, 10, 14, 20)

    private var drawn: [Series] { Array(series.prefix(Self.mostSeries)) }

    private var ceiling: Double {
        let most = top ?? drawn.flatMap { $0.points.map(\.y) }.max() ?? 0
        return most > 0 ? most : 1
    }

    private func x(_ value: Double) -> Int64 {
        Int64(Self.left + min(max(value / max(end, 1e-9), 0), 1) * (Self.width - Self.left - Self.right))
    }

    private func y(_ value: Double) -> Int64 {
        let room = Self.height - Self.above - Self.below
        return Int64(Self.above + room - min(max(value / ceiling, 0), 1) * room)
    }

    /// The points of each line, in units of the drawing.
    var lines: [String] {
        drawn.map { line in line.points.map { "\(x($0.x)),\(y($0.y))" }.joined(separator: " ") }
    }

    /// - Parameters:
    ///   - id: unique in the document.
    ///   - table: writes the same numbers as a table.
    func draw(_ html: inout HTML, id: String, _ view: View, table: (inout HTML) -> Void) {
        html.tag("figure", [.class("chart")]) { html in
            html.tag("figcaption", text: title)
            html.tag(
                "svg",
                [
                    .named("viewBox", "0 0 \(Int64(Self.width)) \(Int64(Self.height))"), .named("role", "img"),
                    .named("aria-labelledby", "\(id)-title"),
                ]
            ) { html in
                html.tag(
                    "title", [.id("\(id)-title")],
                    text: "\(title): \(drawn.map(\.name).joined(separator: ", "))")
                axes(&html)
                for mark in marks {
                    let x = self.x(mark.x)
                    html.tag(
                        "line",
                        [
                            .class("mark"), .named("x1", x), .named("x2", x), .named("y1", Int64(Self.above)),
                            .named("y2", Int64(Self.height - Self.below)),
                        ]
                    ) { $0.tag("title", text: mark.label) }
                }
                for (number, line) in lines.enumerated() {
                    html.tag("polyline", [.class("line n\(number)"), .named("points", line)]) { _ in }
                }
            }
            html.tag("ul", [.class("legend")]) { html in
                for (number, line) in drawn.enumerated() {
                    html.tag("li") { html in
                        html.tag(
                            "svg", [.named("viewBox", "0 0 24 8"), .named("aria-hidden", "true")]
                        ) { html in
                            html.tag("polyline", [.class("line n\(number)"), .named("points", "0,4 24,4")]) { _ in }
                        }
                        html.text(line.name)
                    }
                }
            }
            html.tag("details", [.id("\(id)-numbers")]) { html in
                html.tag("summary", text: view.say("The same as numbers"))
                table(&html)
            }
        }
    }

    private func axes(_ html: inout HTML) {
        for value in [0, ceiling / 2, ceiling] {
            let y = self.y(value)
            html.tag(
                "line",
                [
                    .class("grid"), .named("x1", Int64(Self.left)), .named("x2", Int64(Self.width - Self.right)),
                    .named("y1", y), .named("y2", y),
                ]
            ) { _ in }
            html.tag(
                "text",
                [
                    .named("x", Int64(Self.left - 6)), .named("y", y + 4), .named("text-anchor", "end"),
                    .named("aria-hidden", "true"),
                ], text: label(value))
        }
        html.tag(
            "text",
            [
                .named("x", Int64(Self.width - Self.right)), .named("y", Int64(Self.height - 4)),
                .named("text-anchor", "end"), .named("aria-hidden", "true"),
            ], text: endLabel)
    }
}
