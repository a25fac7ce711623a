// SPDX-License-Identifier: Apache-2.0
import Configuration
import Terminal

extension CommandEntry {
    static let versionSet = request(
        ["version", "set"], "Raises the required or the latest version of an app",
        discussion: """
            When the required version rises, a campaign starts that tells every device below it. Versions only rise: a \
            lower one is refused. Here --url is where users get the new version; the daemon's own address goes before \
            the command, or into --api.
            """,
        positionals: AppArguments.positionals, options: BumpArguments.options,
        examples: ["upgrade-relay version set com.example.app ios --required 2.0.0 --latest 2.1.0"],
        urlIsDownload: true,
        request: { try APIRequest("PUT", AppArguments.path($0, "version"), json: BumpArguments.body($0)) },
        text: { arguments, reply in
            let version = reply.tree["version"] ?? .null
            var lines = [
                "\(try AppArguments.name(arguments)): required \(version.shownOrDash("required")), "
                    + "latest \(version.shownOrDash("latest"))"
            ]
            if let campaign = reply.tree["campaign"], !campaign.isNull {
                let id = campaign.string.map { DisplayWidth.sanitised($0) } ?? campaign.shown("id")
                lines.append("campaign \(id) started; \"upgrade-relay campaigns watch \(id)\" shows how it goes")
            } else {
                lines.append("the required version did not rise: nothing is pushed")
            }
            return (lines + WarningText.lines(reply.tree)).map { "\($0)\n" }.joined()
        })

    static let plan = request(
        ["plan"], "Shows what a new required version would do, without doing it",
        discussion:
            "Counts who would be pushed and who not, with the reason, and shows one push as a phone would get it.",
        positionals: AppArguments.positionals, options: BumpArguments.options,
        examples: ["upgrade-relay plan com.example.app ios --required 2.0.0"],
        urlIsDownload: true,
        request: { try APIRequest("POST", AppArguments.path($0, "plan"), json: BumpArguments.body($0)) },
        text: { _, reply in try PlanText.text(reply.read()) })
}
