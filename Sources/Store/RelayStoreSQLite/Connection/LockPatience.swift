// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// How long a write waits for the write lock while another program holds it. Pure: time is passed in.
///
/// Writes wait for it one after the other, and the time that a write waits for its turn counts as waiting for the lock.
/// After a refusal, the next writes only check whether the lock is free, so that each is refused within `most`, however
/// many there are.
struct LockPatience {
    /// Short enough that clients are answered within three seconds.
    private static let most = Duration.seconds(2)
    private static let least = Duration.milliseconds(10)

    /// When a write was last refused; nil if a write has got the lock since.
    private var refused: MonotonicTime?

    /// - Parameter asked: when the write asked for its turn.
    func wait(since asked: MonotonicTime, at now: MonotonicTime) -> Duration {
        if let refused, now - refused < Self.most { return .zero }
        return max(Self.least, Self.most - (now - asked))
    }

    mutating func ended(isRefused: Bool, at now: MonotonicTime) { refused = isRefused ? now : nil }
}
