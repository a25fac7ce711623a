// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
package import Requirements
package import Signing
import UpgradeRules
import WireFormat

extension ConfigurationCheck {
    /// An app's certificate for pushes, and its topic.
    package struct AppCertificate: Sendable {
        package var app: AppKey
        package var certificate: PushCertificate
        package var topic: String
    }
}

extension APNsConfiguration {
    func check(
        at field: String, of app: AppKey, by checker: ConfigurationCheck, _ report: inout ConfigurationCheck.Report
    ) {
        switch credentials {
        case .keys(_, let key, let sandbox):
            checker.checkSigningKey(key.file, "\(field).key", &report)
            if let sandbox { checker.checkSigningKey(sandbox.file, "\(field).sandboxKey.key", &report) }
        case .certificate(let files):
            do throws(FieldFault) {
                let certificate = try files.read(at: field, environment: checker.environment)
                // Where no key is named, the certificate's file holds it.
                for (key, place) in files.places {
                    report.noteRead(place, "\(field).\(key)", isSecret: key != "certificate" || files.key == nil)
                }
                let topic = try self.topic(of: certificate, at: field)
                report.certificates.append(.init(app: app, certificate: certificate, topic: topic))
                if let fault = Self.fault(of: certificate.term, files, field, at: checker.now) {
                    report.outOfTerm.append(fault)
                }
                checker.warnOfEnd(certificate.term, files.certificate.place, "\(field).certificate", &report)
            } catch {
                report.faults.append(error)
            }
        }
        checker.check(egress, field, &report)
        if sandboxFollowsServer, !RelayConfiguration.isLoopback("http://\(Self.name(server))") {
            report.warnings.append(
                FieldFault(
                    "\(field).server",
                    "stands for the sandbox, too: development builds are pushed to at \(server); name a sandboxServer, or "
                        + "use port alone for another port of Apple's"))
        }
    }

    func shown(for app: AppKey, _ report: ConfigurationCheck.Report) -> String {
        let certificate = report.certificates.first { $0.app == app }
        return "\(servers) as \(certificate?.topic ?? topic ?? app.app)"
    }

    private static func name(_ server: ServerAddress) -> String {
        server.host.contains(":") ? "[\(server.host)]" : server.host
    }

    private static func fault(
        of term: CertificateTerm, _ files: APNsCertificateFiles, _ field: String, at now: Timestamp
    ) -> FieldFault? {
        let place = files.certificate.place
        switch term.standing(at: now) {
        case .good, .ending: return nil
        case .notYet:
            return FieldFault(
                "\(field).certificate",
                "\(place) holds a certificate that begins at \(term.notBefore.internetTime) only; is the clock right?")
        case .ended:
            return FieldFault(
                "\(field).certificate",
                "\(place) holds a certificate that ended at \(term.notAfter.internetTime); a new one from developer.apple.com, "
                    + "Certificates, is needed")
        }
    }
}

extension AppConfiguration {
    /// The path of its `apns`.
    package static func apnsField(_ app: AppKey) -> String { "\(field(app)).apns" }
}
