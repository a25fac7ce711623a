// SPDX-License-Identifier: Apache-2.0

/// The rule that derives the required version from a new latest one: the numbers whose rise forces an upgrade.
///
/// The rule of SEEDS S4: under `minor`, a rise of the first or the second number forces and one of the third does not
/// (1.0.0 to 1.0.1 no, to 1.1.0 yes, to 2.0.0 yes). Numbers are compared as numbers, and only the first one that differs
/// counts: numbers after it are never looked at.
public enum ForcePolicy: String, Sendable, Hashable, CaseIterable, Codable {
    /// Nothing is derived: `required` rises only by a bump that names it.
    case manual
    /// A rise of the first number forces.
    case major
    /// A rise of the first or the second number forces.
    case minor
    /// A rise of the first, the second or the third number forces; one of a later number does not.
    case patch
    /// A rise of any number forces.
    case every

    /// The number of leading numbers whose rise forces.
    private var forcingSegments: Int {
        switch self {
        case .manual: 0
        case .major: 1
        case .minor: 2
        case .patch: 3
        case .every: .max
        }
    }

    /// Whether going from `old` to `new` is a forced upgrade. A step to an equal or an older version never is.
    public func forces(from old: Version, to new: Version) -> Bool {
        let length = max(old.segments.count, new.segments.count)
        for index in 0..<length {
            let (before, after) = (old.number(at: index), new.number(at: index))
            if before != after { return after > before && index < forcingSegments }
        }
        return false
    }

    /// The required version that a new latest one implies; nil where the requirement does not change.
    ///
    /// Nil also where neither version was known before: the first version that is ever stored forces no user.
    ///
    /// - Parameters:
    ///   - latest: the new latest version.
    ///   - previousLatest: the latest one until now.
    ///   - previousRequired: the required one until now; that version is known to exist, so the newer of both counts.
    public func required(latest: Version, previousLatest: Version?, previousRequired: Version?) -> Version? {
        guard let previous = [previousLatest, previousRequired].compactMap({ $0 }).max() else { return nil }
        return forces(from: previous, to: latest) ? latest : nil
    }
}

extension Version {
    /// The number at an index from 0; missing ones are 0.
    fileprivate func number(at index: Int) -> UInt64 {
        index < segments.count ? segments[index] : 0
    }
}
