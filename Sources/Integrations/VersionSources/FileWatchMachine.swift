// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// Decides when a watched file is read, and when a fault in it is reported. Pure.
///
/// Editors move the file away, write a new one and rename it, so for a moment it is missing or half written. A fault counts
/// only if it is still there after the settling time.
package struct FileWatchMachine: Hashable, Sendable {
    /// How long a file may be missing or half written. Default 1 s.
    package static let settling = Duration.seconds(1)
    /// How often the file is read without an event: a network file system sends none. Default 1 min.
    package static let polling = Duration.seconds(60)
    /// The shortest time between two reads: other files that change in the directory must not keep the reader busy.
    package static let spacing = Duration.milliseconds(50)

    /// When the file is read next.
    package private(set) var next: Timestamp
    private var lastRead: Timestamp?
    private var badSince: Timestamp?

    package init(start: Timestamp) {
        next = start
    }

    package func due(at now: Timestamp) -> Timestamp { next.due(at: now, putOffAtMost: Self.polling) }

    /// Takes an event in the file's directory.
    package mutating func changed(at now: Timestamp) {
        next = lastRead.map { min(max(now, $0 + Self.spacing), now + Self.spacing) } ?? now
    }

    /// The file was read and is right.
    package mutating func good(at now: Timestamp) {
        (lastRead, badSince, next) = (now, nil, now + Self.polling)
    }

    /// The file cannot be read, or has no usable contents.
    ///
    /// - Returns: whether the fault must be reported.
    package mutating func bad(at now: Timestamp) -> Bool {
        lastRead = now
        let since = min(badSince ?? now, now)
        badSince = since
        guard now >= since + Self.settling else {
            next = since + Self.settling
            return false
        }
        next = now + Self.polling
        return true
    }
}
