// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import WireFormat

@testable import HTTP2
@testable import HTTPServer
@testable import PushProviders
@testable import RelayAPI
@testable import VersionSources

extension FuzzTarget {
    /// A push service's answer: a body, and a Retry-After.
    static let pushAnswer = FuzzTarget("push-answer") { bytes in
        var input = FuzzInput(bytes)
        let retryAfter = input.part()
        let status = UInt16(input.byte()) * 4
        let body = input.remainder()
        let read = APNsErrorBody(body)
        if let reason = read.reason {
            try hold((1...64).contains(reason.utf8.count), "a reason of \(reason.utf8.count) bytes")
            try hold(reason.utf8.allSatisfy { (65...90).contains($0 & 0xDF) }, "a reason that is no word")
        }
        let today = Timestamp(seconds: 1_800_000_000)
        try hold(read.timestamp(at: today).map { $0 <= today + .seconds(86_400) } ?? true, "a time that lies ahead")
        // If the body is one that APNs documents, its reason is found.
        if case .object(let members)? = try? JSONReader.read(body), members.count == 1,
            case .string(let reason) = members[0].value, members[0].name == "reason",
            (1...64).contains(reason.utf8.count),
            reason.utf8.allSatisfy({ (65...90).contains($0 & 0xDF) }), !body.contains(UInt8(ascii: "\\")),
            !body.contains(where: { [0x09, 0x0A, 0x0D].contains($0) })
        {
            try hold(read.reason == reason, "\(reason) is read as \(read.reason ?? "nothing")")
        }
        _ = APNsReaction.to(status: status, reason: read.reason)
        try judgeFCM(status: status, body)

        let now: Int64 = 1_700_000_000
        let pause = RetryAfter.seconds(retryAfter, now: now)
        try hold(pause.map { $0 >= 0 } ?? true, "come again in the past")
        let text = String(decoding: retryAfter, as: UTF8.self)
        guard text.utf8.elementsEqual(retryAfter) else { return }
        let seconds = RetryAfter.duration(text, at: Timestamp(seconds: now))?.components.seconds
        try hold(
            seconds == pause.map { min(Int64($0), 366 * 86_400) },
            "\(text): \(String(describing: pause)) and \(String(describing: seconds))")
    }

    /// The same for FCM: a token ends only by a code that a whole reader finds, too.
    private static func judgeFCM(status: UInt16, _ body: [UInt8]) throws {
        let reaction = FCMReaction.to(status: status, FCMErrorBody(body))
        try hold(
            FCMProvider.reasons.contains(reaction.reason) || reaction.reason == "HTTP \(status)" || status == 200,
            "\(reaction.reason) is no reason")
        guard reaction.push == .unregistered, let json = try? JSONReader.read(body) else { return }
        let codes = (json["error"]?["details"]?.array ?? []).compactMap { $0["errorCode"]?.string }
        try hold(
            codes.contains("UNREGISTERED") || json["error"]?["status"]?.string == "UNREGISTERED",
            "a token is given up for \(String(decoding: body, as: UTF8.self))")
    }

    /// RFC 3339 and HTTP dates: a date that is written is read back.
    static let wireTime = FuzzTarget("wire-time") { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let moment = Timestamp(internetTime: text) {
            try hold(Timestamp(internetTime: moment.internetTime) == moment, "\(moment.internetTime) is not read back")
        }
        _ = HTTPDate.secondsSince1970(bytes, now: 0)
        var number: Int64 = 0
        for byte in bytes.prefix(8) { number = number << 8 | Int64(byte) }
        // Up to the year 9999.
        let moment = Timestamp(milliseconds: Int64(number.magnitude % 253_402_300_800_000))
        try hold(Timestamp(internetTime: moment.internetTime) == moment, "\(moment.internetTime) is not read back")
    }

    /// A request's head: target, route, query, cursors, rights, entity tags.
    static let request = FuzzTarget("request") { bytes in
        var input = FuzzInput(bytes)
        let method = input.text()
        let line = input.text()
        let (authorization, ifNoneMatch) = (input.optionalText(), input.optionalText())
        let cursor = input.text()
        if let target = try? RequestTarget(line) {
            for text in target.segments + target.query.flatMap({ [$0.name, $0.value] }) {
                try hold(!text.utf8.contains(0), "a NUL came through")
            }
            if case .route(let route, _) = Router.api.route(method: method, segments: target.segments) {
                try hold(route.pattern.first?.isLetter == true, "a route without a pattern")
                let caller = try? Rights.caller(
                    for: route.right, door: .network, authorization: authorization, look: { _ in nil })
                try hold((caller == nil) == (route.right != .nothing && route.right != .signature), "let in: \(line)")
            }
            var query = Query(target.query)
            try hold((1...1000).contains(query.limit(default: 20)), "a limit out of range")
            _ = query.text("app")
            try hold(query.cursor(.campaigns).map { $0 >= 0 } ?? true, "a cursor before the beginning")
            do {
                try query.finish()
            } catch let problem as ProblemDetails {
                try holdJSON(problem, of: bytes)
            }
        }
        do {
            _ = try Rights.caller(
                for: .scope(.status), door: .network, authorization: authorization, look: { _ in nil })
            throw Violation(description: "let in by \(authorization ?? "nothing")")
        } catch let problem as ProblemDetails {
            try holdJSON(problem, of: bytes)
        }
        _ = EntityTag(of: bytes).isNamed(in: ifNoneMatch)
        for kind in [Cursor.Kind.campaigns, .deliveries] {
            guard let position = Cursor.position(cursor, kind) else { continue }
            try hold(Cursor.position(Cursor.text(kind, position), kind) == position, "a cursor is not read back")
        }
        if let position = Cursor.deliveryPosition(cursor) {
            let again = Cursor.deliveryPosition(Cursor.text(position))
            try hold(again == position, "\(position) is read back as \(String(describing: again))")
        }
    }

    private static func holdJSON(_ problem: ProblemDetails, of bytes: [UInt8]) throws {
        let response = problem.response
        guard case .bytes(let body) = response.body else { throw Violation(description: "a problem that streams") }
        _ = try JSONReader.read(body)
        try hold(body.count <= 2000 + 600 * bytes.count, "\(bytes.count) bytes are answered with \(body.count)")
        for header in response.headers {
            try hold(header.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "\(header.name) breaks its line")
        }
    }
}
