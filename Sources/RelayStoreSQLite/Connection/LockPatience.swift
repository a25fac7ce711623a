// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// How long a write waits for the write lock that another program holds. Pure: time is passed in.
///
/// Writes wait for it one after the other: whoever waited for his turn behind others who waited for the lock has waited for it,
/// too. And once one was refused, the next ones only look whether it is free: so that each is refused within `most`, however
/// many there are.
struct LockPatience {
    /// What clients are told within three seconds.
    private static let most = Duration.seconds(2)
    private static let least = Duration.milliseconds(10)

    /// When a write was refused last; nil where one has had the lock since.
    private var refused: MonotonicTime?

    /// - Parameter asked: when the write asked for its turn.
    func wait(since asked: MonotonicTime, at now: MonotonicTime) -> Duration {
        if let refused, now - refused < Self.most { return .zero }
        return max(Self.least, Self.most - (now - asked))
    }

    mutating func ended(isRefused: Bool, at now: MonotonicTime) { refused = isRefused ? now : nil }
}
