// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import WireFormat

extension RelayConfiguration {
    /// The most receivers: more than one is rare, and each needs a thread.
    private static let mostReceivers = 16

    static func readNotify(_ root: ConfigurationReader, _ egress: EgressConfiguration) -> [NotifyConfiguration] {
        let list = root.list("notify")
        if list.count > mostReceivers {
            root.fault("notify", "names \(list.count) receivers; at most \(mostReceivers)")
        }
        var receivers: [NotifyConfiguration] = []
        for (value, path) in list {
            guard let reader = root.reader(of: value, at: path) else { continue }
            let url = reader.requiredString(
                "url", "where it is posted, such as \"https://ci.example.com/relay\"", shown: .origin
            ) { text in
                let isAddress = (text.hasPrefix("https://") && text.utf8.count > 8) || isLoopback(text)
                let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && text.utf8.count <= 2048
                return isAddress && isPlain && !text.contains("@") && !text.contains("#")
                    ? nil : "is not an https address (http is taken for this machine only)"
            }
            if receivers.contains(where: { $0.url == url }), !url.isEmpty {
                reader.fault("url", "stands there twice; one entry for each receiver")
            }
            var receiver = NotifyConfiguration(url: url)
            receiver.format = reader.choice(
                "format", default: receiver.format, among: NotificationFormat.allCases.map { ($0.rawValue, $0) },
                "a form of notifications")
            receiver.secret =
                receiver.format == .slack && reader.raw("secret") == nil
                ? nil : reader.requiredSecret("secret", "what it is signed with") ?? .file("")
            if reader.raw("events") != nil { receiver.events = readEvents(reader) }
            receiver.egress = reader.egress(over: egress)
            reader.finish()
            receivers.append(receiver)
        }
        return receivers
    }

    private static func readEvents(_ reader: ConfigurationReader) -> Set<EventType> {
        let names = EventType.allCases.map { "\"\($0.rawValue)\"" }
        var events: Set<EventType> = []
        let list = reader.list("events")
        for (value, path) in list {
            if case .string(let text) = value, let event = EventType(rawValue: text) {
                events.insert(event)
            } else {
                reader.fault(
                    at: path, "\(value.held) is not an event; \(ConfigurationReader.alternatives(names))")
            }
        }
        if list.isEmpty, case .array? = reader.raw("events") {
            reader.fault("events", "is empty; leave it out for all of them")
        }
        return events
    }
}
