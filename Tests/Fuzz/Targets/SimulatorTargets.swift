// SPDX-License-Identifier: Apache-2.0
import Signing
import WireFormat

@testable import PushSimulator

extension FuzzTarget {
    /// Requests to `simulate-fcm`: the first part is a form for its token endpoint, the rest a message. It takes what FCM
    /// takes, and grants no access without a signature.
    static let messageToFCM = FuzzTarget("fcm-message") { bytes in
        var input = FuzzInput(bytes)
        let form = input.part()
        if let project {
            var tokens = AccessTokens(project, audiences: ["https://localhost:2198/token"])
            let answer = tokens.answer(
                to: form, contentType: Array("application/x-www-form-urlencoded".utf8)[...], now: 1_700_000_000,
                judged: 0,
                isRevoked: false)
            try hold(answer.status == 400 && tokens.given.count == 0, "access without a signature")
        }
        guard let json = try? JSONReader.read(input.remainder()), let message = try? FCMMessage(json) else { return }
        let sent = json["message"]
        let targets = FCMMessage.TargetKind.allCases.filter { sent?[$0.rawValue]?.string != nil }
        try hold(targets == [message.kind] && !message.target.isEmpty, "for \(targets)")
        let data = sent?["data"]?.object ?? []
        try hold(data.allSatisfy { $0.value.string != nil && !FCMMessage.isReserved($0.name) }, "data that FCM refuses")
        let size = data.reduce(0) { $0 + $1.name.utf8.count + ($1.value.string?.utf8.count ?? 0) }
        try hold(size <= FCMMessage.largest, "\(size) bytes of data")
    }

    private static let project = try? FCMProject()
}
