// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

/// One provider token for a key, whichever relay signs it.
extension ConformanceCase {
    static let providerTokens: [ConformanceCase] = [
        ConformanceCase("a provider token is kept, and replaced by who knows it, after twenty minutes") { subject in
            try same(try subject.store.providerToken(key: "k"), nil)
            let first = ProviderToken(text: "a.b.c", issuedAt: subject.now)
            try same(try subject.mint(first, replacing: nil), first)
            try same(try subject.store.providerToken(key: "k"), first)
            try same(try subject.mint(first, replacing: nil), first, "the answer was lost")
            // Too early, or from a signer that does not know the first.
            let early = ProviderToken(text: "d.e.f", issuedAt: subject.now + .seconds(1_199))
            try same(try subject.mint(early, replacing: first.issuedAt), first)
            let next = ProviderToken(text: "g.h.i", issuedAt: subject.now + .seconds(1_200))
            for known in [nil, subject.now - .seconds(3_000), next.issuedAt] {
                try same(try subject.mint(next, replacing: known), first)
            }
            try same(try subject.mint(next, replacing: first.issuedAt), next)
            try same(try (subject.second ?? subject.store).providerToken(key: "k"), next)
            try same(try subject.store.providerToken(key: "l"), nil)
        },
        ConformanceCase("of many that sign a provider token at once one wins, and all are told of it") { subject in
            let stores = [subject.store, subject.second ?? subject.store]
            var known: Timestamp?
            // At first there is none.
            for round in 0..<3 {
                let now = subject.now + .seconds(round * 3_000)
                let (replaced, winners) = (
                    known,
                    try await many(8) { [known] number in
                        try stores[number % 2].mintProviderToken(
                            ProviderToken(text: "\(round).\(number)", issuedAt: now + .seconds(number % 3)), key: "k",
                            replacing: known, at: now)
                    }
                )
                try same(Set(winners).count, 1, "\(winners)")
                try same(try subject.store.providerToken(key: "k"), winners.first)
                known = winners.first?.issuedAt
                try check(known != replaced, "replaced")
            }
        },
        ConformanceCase("a provider token's pause is never shortened, and is all servers' when a second one wants it") {
            subject in
            let other = subject.second ?? subject.store
            try check(!(try subject.pause(300, by: "a")), "there is none")
            try same(try subject.store.providerToken(key: "k"), nil)
            var token = ProviderToken(text: "a.b.c", issuedAt: subject.now)
            try subject.mint(token, replacing: nil)
            for (seconds, server, end, by) in [
                (300, "a", 300, "a"), (200, "a", 300, "a"), (400, "a", 400, "a"), (100, "b", 400, nil),
                (500, "a", 500, nil),
            ] as [(Int64, String, Int64, String?)] {
                try check(try subject.pause(seconds, by: server), "kept")
                (token.pausedUntil, token.pausedBy) = (subject.now + .seconds(end), by)
                try same(try other.providerToken(key: "k"), token)
            }
            let later = subject.now + .seconds(500)
            try check(
                try subject.store.pauseProviderToken(key: "k", until: later + .seconds(60), by: "b", at: later), "kept")
            try same(try other.providerToken(key: "k")?.pausedBy, "b", "that of before is over")
        },
        ConformanceCase("in a pause no provider token is replaced, and after it the pause is still known") { subject in
            let first = ProviderToken(text: "a.b.c", issuedAt: subject.now)
            try subject.mint(first, replacing: nil)
            let end = subject.now + .seconds(3_600)
            let asked = end - .seconds(600)
            try check(try subject.store.pauseProviderToken(key: "k", until: end, by: nil, at: asked), "kept")
            var kept = first
            kept.pausedUntil = end
            for time in [asked, end - .milliseconds(1)] {
                let next = ProviderToken(text: "d.e.f", issuedAt: time)
                try same(try subject.mint(next, replacing: first.issuedAt, at: time), kept)
            }
            kept.text = "g.h.i"
            kept.issuedAt = end
            try same(
                try subject.mint(ProviderToken(text: "g.h.i", issuedAt: end), replacing: first.issuedAt), kept)
            try same(try subject.store.providerToken(key: "k"), kept)
        },
        ConformanceCase("a pause beside a new provider token loses nothing") { subject in
            let stores = [subject.store, subject.second ?? subject.store]
            var token = ProviderToken(text: "0", issuedAt: subject.now)
            try subject.mint(token, replacing: nil)
            for round in 1...12 {
                let now = subject.now + .seconds(round * 3_000)
                let next = ProviderToken(text: "\(round)", issuedAt: now)
                let replaced = token.issuedAt
                let answers = try await many(2) { number in
                    guard number == round % 2 else {
                        return try stores[number].pauseProviderToken(
                            key: "k", until: now + .seconds(60), by: "s", at: now)
                            ? nil : ProviderToken(text: "", issuedAt: now)
                    }
                    return try stores[number].mintProviderToken(next, key: "k", replacing: replaced, at: now)
                }
                // In either order, the pause is stored, and so is the token that the signer was given.
                let told = try present(answers.compactMap(\.self).first, "the signer's answer")
                token = try present(try subject.store.providerToken(key: "k"), "the token")
                try same(token.pausedUntil, now + .seconds(60))
                try same([token.text, "\(token.issuedAt)"], [told.text, "\(told.issuedAt)"])
            }
        },
    ]
}

extension Subject {
    /// Mints under the key "k".
    ///
    /// - Parameter time: nil: the token's time of issue.
    @discardableResult
    fileprivate func mint(
        _ token: ProviderToken, replacing known: Timestamp?, at time: Timestamp? = nil
    ) throws -> ProviderToken {
        try store.mintProviderToken(token, key: "k", replacing: known, at: time ?? token.issuedAt)
    }

    fileprivate func pause(_ seconds: Int64, by server: String) throws -> Bool {
        try store.pauseProviderToken(key: "k", until: now + .seconds(seconds), by: server, at: now)
    }
}
