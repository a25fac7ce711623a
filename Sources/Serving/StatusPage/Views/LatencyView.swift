// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import Requirements

/// How long push services took to answer a campaign's requests: a line for each share of the answers, and the same numbers as a
/// table.
extension View {
    func latency(_ html: inout HTML, _ record: CampaignRecord) throws {
        guard let latency = try api.latency(of: record) else { return }
        let lines = LatencyLines(latency.stretches, from: record.begunAt)
        let title = say("How long push services took to answer")
        let chart = LineChart(
            title: title,
            series: CampaignLatency.shares.map { share in
                LineChart.Series(
                    name: say("% of the answers", "\(Int64(share.share * 100)) %"), points: lines.line(of: share.share))
            },
            end: lines.seconds, endLabel: "+\(duration(seconds: Int64(lines.seconds)))", label: { milliseconds($0) })
        chart.draw(&html, id: "chart-latency", self) { html in
            html.table(
                title, [say("From"), say("For")] + [say("Answers")] + CampaignLatency.shares.map(\.name),
                isCaptionShown: true
            ) { html in
                for stretch in latency.stretches.suffix(OutcomeCourse.mostRows) {
                    html.row(
                        { $0.time(stretch.from) },
                        ([duration(seconds: stretch.length.milliseconds / 1000)] + numbers(stretch.latency))
                            .map { text in { $0.text(text) } })
                }
                html.row({ $0.text(say("All")) }, ([""] + numbers(latency.all)).map { text in { $0.text(text) } })
            }
        }
    }

    private func numbers(_ latency: LatencyHistogram) -> [String] {
        [number(Int64(latency.count))]
            + CampaignLatency.shares.map { milliseconds(LatencyLines.milliseconds($0.share, of: latency)) }
    }

    /// "0.8 ms", "1,200 ms".
    private func milliseconds(_ value: Double) -> String {
        let tenths = Int64((value * 10).rounded())
        let text = value >= 10 || tenths % 10 == 0 ? number(Int64(value.rounded())) : "\(tenths / 10).\(tenths % 10)"
        return "\(text) ms"
    }
}

/// The times of answers as lines. Pure.
struct LatencyLines {
    let stretches: [LatencyStretch]
    /// From the beginning to the end of the last stretch.
    let seconds: Double
    private let start: Timestamp

    init(_ stretches: [LatencyStretch], from start: Timestamp) {
        self.stretches = stretches
        // The campaign began within its first stretch.
        let start = stretches.first.map { min($0.from, start) } ?? start
        let end = stretches.last.map { $0.from + $0.length } ?? start
        (self.start, seconds) = (start, max(Double((end - start).milliseconds) / 1000, 1))
    }

    static func milliseconds(_ share: Double, of latency: LatencyHistogram) -> Double {
        Double(latency.quantile(share)?.nanoseconds ?? 0) / 1e6
    }

    /// Milliseconds: a level for each stretch. Where nothing was answered the last level goes on.
    func line(of share: Double) -> [LineChart.Point] {
        stretches.flatMap { stretch -> [LineChart.Point] in
            let x = Double((stretch.from - start).milliseconds) / 1000
            let y = Self.milliseconds(share, of: stretch.latency)
            return [
                LineChart.Point(x: x, y: y),
                LineChart.Point(x: x + Double(stretch.length.milliseconds) / 1000, y: y),
            ]
        }
    }
}
