// SPDX-License-Identifier: Apache-2.0

extension FaultScript: Decodable {
    private struct AnyKey: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package init(from decoder: any Decoder) throws {
        for key in try decoder.container(keyedBy: AnyKey.self).allKeys
        where CodingKeys(rawValue: key.stringValue) == nil {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: [key],
                    debugDescription: "there is no fault \"\(key.stringValue)\"; there are "
                        + CodingKeys.allCases.map(\.rawValue).joined(separator: ", ")))
        }
        self.init()
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys, into value: inout Value) throws {
            value = try values.decodeIfPresent(Value.self, forKey: key) ?? value
        }
        try read(.deadShare, into: &deadShare)
        try read(.badShare, into: &badShare)
        try read(.busyShare, into: &busyShare)
        try read(.cutBy, into: &cutBy)
        try read(.busyTries, into: &busyTries)
        try read(.deadTokens, into: &deadTokens)
        try read(.badTokens, into: &badTokens)
        try read(.busyTokens, into: &busyTokens)
        try read(.otherTopicTokens, into: &otherTopicTokens)
        deadSince = try values.decodeIfPresent(Int64.self, forKey: .deadSince)
        try read(.deadWithoutTimestamp, into: &deadWithoutTimestamp)
        try read(.clockAhead, into: &clockAhead)
        refusals = try values.decodeIfPresent(Refusals.self, forKey: .refusals)
        revokedKey = try values.decodeIfPresent(RevokedKey.self, forKey: .revokedKey)
        serviceErrors = try values.decodeIfPresent(ServiceErrorBurst.self, forKey: .serviceErrors)
        goAwayAfter = try values.decodeIfPresent(Int.self, forKey: .goAwayAfter)
        goAwayTimes = try values.decodeIfPresent(Int.self, forKey: .goAwayTimes)
        try read(.goAwayReason, into: &goAwayReason)
        cutAfter = try values.decodeIfPresent(Int.self, forKey: .cutAfter)
        cutTimes = try values.decodeIfPresent(Int.self, forKey: .cutTimes)
        silentAfter = try values.decodeIfPresent(Int.self, forKey: .silentAfter)
        silentTimes = try values.decodeIfPresent(Int.self, forKey: .silentTimes)
        shrinkSettings = try values.decodeIfPresent(SettingsChange.self, forKey: .shrinkSettings)
        refuseEvery = try values.decodeIfPresent(Int.self, forKey: .refuseEvery)
        try read(.latencyMs, into: &latencyMs)
        try read(.shares, into: &shares)
        try read(.sharesSeed, into: &sharesSeed)
        sharedRetryAfter = try values.decodeIfPresent(Int.self, forKey: .sharedRetryAfter)
        try read(.delayMs, into: &delayMs)
        try read(.sharedStreams, into: &sharedStreams)
        busyRetryAfter = try values.decodeIfPresent(Int.self, forKey: .busyRetryAfter)
        try read(.tokenReasons, into: &tokenReasons)
        accessRevokedAfter = try values.decodeIfPresent(Int.self, forKey: .accessRevokedAfter)
        tokenEndpoint = try values.decodeIfPresent(TokenEndpointFault.self, forKey: .tokenEndpoint)
        quota = try values.decodeIfPresent(Quota.self, forKey: .quota)
        try read(.retryAfterDate, into: &retryAfterDate)
    }

    /// The first fault of the script itself, as field and reason; nil if it makes sense for this service.
    package func problem(for service: SimulatedService.Name = .apns) -> (field: String, reason: String)? {
        for (field, share) in [("deadShare", deadShare), ("badShare", badShare), ("busyShare", busyShare)]
        where !(0...1).contains(share) {
            return (field, "is \(share); it has to be from 0 to 1")
        }
        if deadShare + badShare + busyShare > 1 {
            return ("deadShare, badShare, busyShare", "add up to more than 1")
        }
        for (field, count) in [
            ("goAwayAfter", goAwayAfter), ("cutAfter", cutAfter), ("silentAfter", silentAfter),
            ("refuseEvery", refuseEvery),
        ] {
            if let count, count < 1 { return (field, "is \(count); it has to be at least 1") }
        }
        if let burst = serviceErrors, burst.status != 500 && burst.status != 503 {
            return ("serviceErrors.status", "is \(burst.status); it has to be 500 or 503")
        }
        let known = RejectionReason.all(of: service)
        func unknown(_ reason: String) -> String {
            "is \"\(reason)\"; \(service.rawValue) has " + known.map(\.rawValue).joined(separator: ", ")
        }
        if let refusals, !known.contains(where: { $0.rawValue == refusals.reason }) {
            return ("refusals.reason", unknown(refusals.reason))
        }
        for (token, reason) in tokenReasons where reason.service != service {
            return ("tokenReasons.\(token)", unknown(reason.rawValue))
        }
        if let problem = problemOfAccess(service) { return problem }
        if let change = shrinkSettings, !(1...100_000).contains(change.to) {
            return ("shrinkSettings.to", "is \(change.to); it has to be from 1 to 100000")
        }
        for case (.rejection(let reason), _) in shares where reason.service != service {
            return ("shares.\(reason.rawValue)", unknown(reason.rawValue))
        }
        for (fault, share) in shares where !(0...1).contains(share) {
            return ("shares.\(fault.rawValue)", "is \(share); it has to be from 0 to 1")
        }
        if shares.values.reduce(0, +) > 1 { return ("shares", "add up to more than 1") }
        if sharesSeed == 0 { return ("sharesSeed", "is 0; it has to be at least 1") }
        if delayMs < 0 { return ("delayMs", "is \(delayMs); it cannot be negative") }
        if !(1...100_000).contains(sharedStreams) {
            return ("sharedStreams", "is \(sharedStreams); it has to be from 1 to 100000")
        }
        if latencyMs < 0 { return ("latencyMs", "is \(latencyMs); it cannot be negative") }
        return nil
    }

    private func problemOfAccess(_ service: SimulatedService.Name) -> (field: String, reason: String)? {
        if service == .apns, tokenEndpoint != nil { return ("tokenEndpoint", "is FCM's; APNs has none") }
        if service == .apns, accessRevokedAfter != nil { return ("accessRevokedAfter", "is FCM's; take revokedKey") }
        if let status = tokenEndpoint?.status, !(400...599).contains(status) {
            return ("tokenEndpoint.status", "is \(status); it has to be from 400 to 599")
        }
        if let tokenEndpoint, tokenEndpoint.afterN < 0 {
            return ("tokenEndpoint.afterN", "is \(tokenEndpoint.afterN); it cannot be negative")
        }
        if let quota, quota.requests < 0 { return ("quota.requests", "is \(quota.requests); it cannot be negative") }
        if let quota, !(1...86_400).contains(quota.seconds) {
            return ("quota.seconds", "is \(quota.seconds); it has to be from 1 to 86400")
        }
        return nil
    }
}
