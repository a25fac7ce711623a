// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Threading

/// Checks whether the API token or session of an open stream is still good, once a second, on the thread that serves the stream.
final class TokenWatch {
    private static let interval: Int64 = 1000

    private let isGood: () throws -> Bool
    private let clock: () -> Int64
    private var next: Int64

    init(clock: @escaping () -> Int64 = MonotonicClock.milliseconds, isGood: @escaping () throws -> Bool) {
        self.isGood = isGood
        self.clock = clock
        next = clock() + Self.interval
    }

    /// - Throws: a 401 once the token is revoked or the session is over.
    func look() throws {
        let now = clock()
        guard now >= next else { return }
        next = now + Self.interval
        guard try isGood() else {
            throw ProblemDetails(401, "the API token was revoked, or the session ended, while this went on")
        }
    }
}

/// An answer that is sent as it is made, for as long as its token is good.
final class TokenBoundSource: ByteSource {
    private let source: any ByteSource
    private let watch: TokenWatch

    init(_ source: any ByteSource, _ watch: TokenWatch) {
        self.source = source
        self.watch = watch
    }

    func next() throws -> BodyPiece {
        try watch.look()
        return try source.next()
    }
}

/// A body that is taken in as it comes, for as long as its token is good; the part that was stored until then stays. The
/// answer is passed to `note`.
final class TokenBoundConsumer: BodyConsumer {
    private let consumer: any BodyConsumer
    /// nil where no token is needed.
    private let watch: TokenWatch?
    private let explain: (any Error) -> Response
    private let note: (Response) -> Void
    private var refusal: Response?

    init(
        _ consumer: any BodyConsumer, _ watch: TokenWatch?, explain: @escaping (any Error) -> Response,
        note: @escaping (Response) -> Void
    ) {
        self.consumer = consumer
        self.watch = watch
        self.explain = explain
        self.note = note
    }

    func consume(_ bytes: [UInt8]) {
        guard refusal == nil else { return }
        do {
            try watch?.look()
            consumer.consume(bytes)
        } catch {
            refusal = explain(error)
        }
    }

    func finish() -> Response {
        let response = refusal ?? consumer.finish()
        note(response)
        return response
    }
}
