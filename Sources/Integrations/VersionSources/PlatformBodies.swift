// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules
package import WireFormat

/// The body of one release for several platforms: the members of a bump (`BumpBody`), `platforms`, and by a platform's name
/// the members that this platform alone has, such as its lowest system. Pure.
package struct PlatformBodies {
    /// One platform's bump, as `BumpBody` reads it.
    package struct Part {
        package var platform: Platform
        package var body: [UInt8]
    }

    /// The member that lists the platforms.
    package static let member = "platforms"

    /// One for each platform, in the order of `Platform`.
    package private(set) var parts: [Part] = []
    /// Text of the member `app`, which a webhook's body has; nil where it has none.
    package private(set) var app: String?

    /// Whether this is a webhook's body for several platforms: it has `platforms` in the place of `platform`.
    package static func isMeant(by body: [UInt8]) -> Bool {
        guard let value = try? JSONReader.read(body, within: .jsonValues), let members = value.object else {
            return false
        }
        return members.contains { $0.name == member } && !members.contains { $0.name == "platform" }
    }

    /// - Parameters:
    ///   - usual: the platforms where the body lists none; nil: it must list them.
    ///   - isWebhook: whether the body names its app; each part then has the app and its platform.
    /// - Throws: `BodyError` where the body is no object, or its platforms are wrong.
    package init(_ bytes: [UInt8], usual: [Platform]? = nil, isWebhook: Bool = false) throws(BodyError) {
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONReader.read(bytes, within: .jsonValues)
        } catch {
            throw .notJSON(error)
        }
        guard let members = value.object else {
            throw .fields([FieldFault("body", "an object is needed; got \(value.sight)")])
        }
        if isWebhook { app = members.first { $0.name == "app" }?.value.string }
        let platforms = try Self.platforms(value[Self.member], usual)
        let names = Set(Platform.allCases.map(\.rawValue))
        let shared = members.filter { !names.contains($0.name) && $0.name != Self.member }
        var faults: [FieldFault] = []
        for platform in Platform.allCases {
            let own = value[platform.rawValue] ?? .null
            guard platforms.contains(platform) else {
                if own != .null {
                    faults.append(FieldFault(platform.rawValue, "is not among the \(Self.member) of this body"))
                }
                continue
            }
            guard own == .null || own.object != nil else {
                faults.append(
                    FieldFault(
                        platform.rawValue, "an object with this platform's own members is needed; got \(own.sight)"))
                continue
            }
            let its = own.object ?? []
            if let name = its.first(where: { ["app", "platform", Self.member].contains($0.name) })?.name {
                faults.append(
                    FieldFault("\(platform.rawValue).\(name)", "belongs beside \(platform.rawValue), not in it"))
                continue
            }
            let replaced = Set(its.map(\.name))
            let named = isWebhook ? [JSONMember(name: "platform", value: .string(platform.rawValue))] : []
            let whole = shared.filter { !replaced.contains($0.name) } + its + named
            parts.append(Part(platform: platform, body: JSONValue.object(whole).bytes()))
        }
        guard faults.isEmpty else { throw .fields(faults) }
    }

    private static func platforms(_ value: JSONValue?, _ usual: [Platform]?) throws(BodyError) -> [Platform] {
        let words = Platform.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        guard let value, value != .null else {
            if let usual { return usual }
            throw .fields([FieldFault(member, "is missing; an array of platforms is needed, such as [\(words)]")])
        }
        let found = (value.array ?? []).map { $0.string.flatMap(Platform.init(rawValue:)) }
        let platforms = found.compactMap(\.self)
        guard !found.isEmpty, platforms.count == found.count, platforms.count <= 8 else {
            throw .fields([
                FieldFault(member, "an array of platforms is needed, such as [\(words)]; got \(value.sight)")
            ])
        }
        return platforms
    }
}
