// SPDX-License-Identifier: Apache-2.0

/// "Did you mean": the nearest of a few known names.
package enum Suggestion {
    /// The candidate with the fewest edits from `text`, if these are few enough to be a slip: at most a third of its length,
    /// but one is always allowed.
    package static func nearest(to text: String, among candidates: some Sequence<String>) -> String? {
        let limit = max(1, text.count / 3)
        var best: (distance: Int, name: String)?
        for candidate in candidates {
            let distance = editDistance(Array(text.lowercased()), Array(candidate.lowercased()))
            if distance <= limit, distance < best?.distance ?? .max { best = (distance, candidate) }
        }
        return best?.name
    }

    /// Optimal string alignment: insertions, deletions, substitutions, and swaps of neighbours count one each.
    package static func editDistance(_ left: [Character], _ right: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let substitution = last[column] + (left[row] == right[column] ? 0 : 1)
                var cost = min(last[column + 1] + 1, current[column] + 1, substitution)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
