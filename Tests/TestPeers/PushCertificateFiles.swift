// SPDX-License-Identifier: Apache-2.0
import Foundation
package import Signing

/// Certificates for pushes in files, like those in the field: issued by an authority of the test's own, and packed by Debian's
/// openssl(1).
package struct PushCertificateFiles: Sendable {
    package static let topic = "com.example.app"
    package let folder: String
    /// The authority that a server of the test trusts.
    package let authority: CertificateAuthority

    package init() throws {
        folder = try TestFolder.make()
        authority = try CertificateAuthority(
            name: "Test WWDR", validity: .days(3650, from: Int64(Date.now.timeIntervalSince1970)))
    }

    package static var now: Int64 { Int64(Date.now.timeIntervalSince1970) }

    /// Like Apple's for one app: its topic is in the subject and, three times, in the extension.
    package func issue(
        topics: [String] = [topic], worlds: Set<APNsWorld> = [.production, .sandbox],
        validity: CertificateValidity = .days(365, from: now)
    ) throws -> IssuedCertificate {
        let list = topics.flatMap { topic in
            [(name: topic, use: "app"), (topic + ".voip", "voip"), (topic + ".complication", "complication")]
        }
        return try authority.issue(
            pushCertificate: "Apple Push Services: \(topics.first ?? "")", userID: topics.first,
            worlds: worlds, topics: list, validity: validity)
    }

    package func read(_ issued: IssuedCertificate) throws -> PushCertificate {
        try PushCertificate(certificate: issued.chain, key: issued.privateKey, password: nil)
    }

    @discardableResult
    package func write(_ bytes: [UInt8], to name: String) throws -> String {
        let path = "\(folder)/\(name)"
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    package func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    /// - Parameters:
    ///   - isLegacy: with RC2 and a MAC of SHA-1, as Keychain Access writes it.
    ///   - isKeyLeftOut: as if only the certificate was selected.
    package func p12(
        _ issued: IssuedCertificate, password: String, isLegacy: Bool = false, isKeyLeftOut: Bool = false,
        name: String = UUID().uuidString
    ) throws -> String {
        let chain = try write(issued.chain, to: "\(name).chain.pem")
        let key = try write(issued.privateKey, to: "\(name).key.pem")
        let file = "\(folder)/\(name).p12"
        try openssl(
            ["pkcs12", "-export", "-in", chain, "-out", file, "-passout", "pass:\(password)"]
                + (isKeyLeftOut ? ["-nokeys"] : ["-inkey", key]) + (isLegacy ? ["-legacy"] : []))
        return file
    }

    /// - Returns: its output.
    @discardableResult
    package func openssl(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = arguments
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw PeerError("openssl \(arguments.joined(separator: " ")): \(text)")
        }
        return text
    }
}
