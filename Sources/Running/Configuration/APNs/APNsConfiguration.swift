// SPDX-License-Identifier: Apache-2.0
package import Signing
package import WireFormat

/// The settings for APNs of one app.
package struct APNsConfiguration: Sendable, Equatable {
    package var credentials: APNsCredentials
    /// The bundle id. Default the app's name; with a certificate nil, which means the certificate's only topic.
    package var topic: String?
    /// Default https://api.push.apple.com.
    package var server = ServerAddress(host: "api.push.apple.com", port: 443)
    /// Default https://api.sandbox.push.apple.com, or `server` where that is the owner's own.
    package var sandboxServer = ServerAddress(host: "api.sandbox.push.apple.com", port: 443)
    /// Whether a token that its environment rejects as bad is tried once in the other environment. Default no.
    package var triesOtherEnvironment = false
    /// The egress settings for the servers. Default the common ones.
    package var egress = EgressConfiguration()
    /// Whether the owner's own server also serves as the sandbox, because no sandbox server is named.
    package var sandboxFollowsServer = false
    /// The most connections for each lane and server. Default 16.
    package var connections = 16
}

/// The credentials for pushes.
package enum APNsCredentials: Sendable, Equatable {
    /// - Parameters:
    ///   - teamID: the ten characters of the developer team that both keys belong to.
    ///   - sandbox: nil: one key serves both environments.
    case keys(teamID: String, APNsKey, sandbox: APNsKey?)
    case certificate(APNsCertificateFiles)

    /// Whether a reload gets an old version of one of them, so that a restart is needed (`SecretSource`).
    package var needRestart: Bool {
        switch self {
        case .keys(_, let key, let sandbox): key.file.needsRestart || sandbox?.file.needsRestart ?? false
        case .certificate(let files): files.places.contains { $0.place.needsRestart }
        }
    }
}

/// A key that signs provider tokens.
package struct APNsKey: Sendable, Hashable {
    /// The ten characters of the signing key.
    package var keyID: String
    /// The .p8 file from Apple.
    package var file: SecretSource
}

/// The places of a certificate for pushes.
package struct APNsCertificateFiles: Sendable, Hashable {
    /// PEM, DER or PKCS#12.
    package var certificate: SecretSource
    /// PEM. nil: the key is in the certificate's file.
    package var key: SecretSource?
    /// The password of the key, or of the PKCS#12 file.
    package var password: SecretSource?

    /// Reads all parts and checks that they belong together, but not that the certificate is valid at this moment.
    ///
    /// - Parameter field: the app's `apns`.
    /// - Throws: `FieldFault` with the field.
    package func read(at field: String, environment: [String: String]) throws(FieldFault) -> PushCertificate {
        let bytes = try certificate.read(at: "\(field).certificate", environment: environment, isText: false)
        let keyText = try key?.read(at: "\(field).key", environment: environment)
        let passwordText = try password?.read(at: "\(field).password", environment: environment)
        do throws(CertificateFault) {
            return try PushCertificate(certificate: bytes, key: keyText, password: passwordText)
        } catch {
            let place =
                switch error.part {
                case .certificate: certificate.place
                case .key: (key ?? certificate).place
                case .password: (password ?? certificate).place
                }
            // A password may begin and end with any character; the doubt is added only where the password does not open the key.
            let doubt = error.part == .password ? passwordText.flatMap(SecretText.doubt).map { "; it \($0)" } : nil
            throw FieldFault("\(field).\(error.part.rawValue)", "\(place) \(error)\(doubt ?? "")")
        }
    }

    /// Every place, by its key in the configuration.
    var places: [(key: String, place: SecretSource)] {
        var places: [(key: String, place: SecretSource)] = [("certificate", certificate)]
        if let key { places.append(("key", key)) }
        if let password { places.append(("password", password)) }
        return places
    }
}

extension APNsConfiguration {
    /// For people: the server, and whether it stands for the sandbox too.
    var servers: String {
        sandboxFollowsServer ? "\(server), for the sandbox too," : "\(server)"
    }

    /// The topic of pushes, which must be one that the certificate names; without a setting, its only one.
    ///
    /// - Throws: `FieldFault` with the field.
    package func topic(of certificate: PushCertificate, at field: String) throws(FieldFault) -> String {
        let topics = certificate.content.alertTopics
        let list = topics.joined(separator: ", ")
        guard let topic else {
            if let only = topics.first, topics.count == 1 { return only }
            throw FieldFault(
                "\(field).topic",
                topics.isEmpty
                    ? "missing; the certificate \(certificate) names none that alerts may be pushed to, only "
                        + certificate.content.topics.map(\.name).joined(separator: ", ")
                    : "missing; the certificate \(certificate) is for \(topics.count) topics, one of which is needed: \(list)"
            )
        }
        guard topics.contains(topic) else {
            throw FieldFault(
                "\(field).topic", "\"\(topic)\" is not a topic of the certificate \(certificate), which is for \(list)")
        }
        return topic
    }
}
