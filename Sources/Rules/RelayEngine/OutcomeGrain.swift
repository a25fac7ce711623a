// SPDX-License-Identifier: Apache-2.0

/// The stretches of time over which a campaign's outcomes are counted for a picture: short enough to see its course, and no
/// more than can be seen. Pure.
package enum OutcomeGrain {
    /// The most stretches of a picture.
    package static let most: Int64 = 120

    private static let seconds: [Int64] = [1, 2, 5, 10, 30, 60, 120, 300, 900, 1800, 3600, 7200, 21_600]

    /// - Parameter span: from the campaign's first push to its last, or until now.
    package static func of(_ span: Duration) -> Duration {
        let needed = (max(span.milliseconds, 0) + most * 1000 - 1) / (most * 1000)
        return .seconds(seconds.first { $0 >= needed } ?? (needed + 86_399) / 86_400 * 86_400)
    }
}
