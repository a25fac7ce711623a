// SPDX-License-Identifier: Apache-2.0

extension ReasonText {
    /// App stores, and what they show.
    static let stores = [
        "the App Store": "App Store",
        "App Store Connect": "App Store Connect",
        "Google Play": "Google Play",
        "no version": "没有版本",
        "a version above %": "高于 % 的版本",
        ", which is blocked": "（已被封禁）",
        "no store is asked for this app": "此应用没有查询任何商店",
        "waiting until % answers; before the relay started: %, last asked at %":
            "等待 % 应答；中继启动之前：%，上次查询于 %",
        "asking % fails: %": "查询 % 失败：%",
        "% has not answered yet": "% 尚未应答",
        "waiting until % offers %; %": "等待 % 提供 %；%",
        "App Store Connect says that % is %": "App Store Connect 显示 % 的状态为 %",
        "App Store Connect shows % as the newest that is live%": "App Store Connect 显示最新的已上架版本为 %%",
        "waiting until the App Store offers %; %, last asked at %": "等待 App Store 提供 %；%，上次查询于 %",
        "the phased release of % is paused in App Store Connect; waiting until it goes on, last asked at %":
            "% 的分阶段发布已在 App Store Connect 暂停；等待其继续，上次查询于 %",
        "waiting until the App Store offers %; it shows %%, last asked at %":
            "等待 App Store 提供 %；目前显示 %3%2，上次查询于 %4",
        "the App Store offers %": "App Store 已提供 %",
        "first seen": "首次发现",
        "released": "发布",
        "% is in the App Store, % at %; the wait ends at %": "% 已在 App Store 上架（%于 %）；等待将于 % 结束",
        "users of whom no device is registered": "没有注册设备的用户",
        "devices whose % is not known": "所在地未知的设备",
        ", and some whose % is not known": "，以及所在地未知的一些设备",
        "devices in %%": "位于 %2 的设备%1",
        " and % more": " 等（另有 % 个）",
        "some countries": "部分国家或地区",
        " in % alone": "（仅限 %）",
        "last asked at %": "上次查询于 %",
        "Google Play offers % to everybody%": "Google Play 已向所有人提供 %2%1",
        "Google Play offers % to %": "Google Play 向 %2 提供 %1",
        "% of users%; waiting for %, %": "% 的用户%；等待达到 %，%",
        "Google Play offers % to % of users%; waiting for %, %": "Google Play 向 %2 的用户提供 %1%3；等待达到 %4，%5",
        "% of users%, and % could not get it; waiting for % everywhere: add the countries in Play Console, send the devices' %, or set googlePlay.countries to \"ignore\", %":
            "% 的用户%，而%无法获取；等待在各地达到 %：请在 Play Console 中添加国家或地区，上报设备的 %，或把 googlePlay.countries 设为“ignore”，%",
        "the rollout of % is halted in Google Play, at % of users; waiting until it goes on, %":
            "% 的分阶段发布已在 Google Play 停止（% 的用户）；等待其继续，%",
        "% (version code %)": "%（版本代码 %）",
        "version code %": "版本代码 %",
        "waiting until Google Play offers %; it says that % is %, %": "等待 Google Play 提供 %；目前 % 的状态为 %，%",
        "waiting until Google Play offers %; % is older by its name: announce % with its own version code (--required-build) or name the release so, %":
            "等待 Google Play 提供 %；按名称 % 更旧：请为 % 一并给出其版本代码（--required-build），或如此命名该发布，%",
        "no release on the track \"%\" has a name that holds a version: announce it with --required-build":
            "轨道“%”上没有名称含版本号的发布：请用 --required-build 给出版本代码",
        "the track \"%\" has version code %": "轨道“%”上的版本代码为 %",
        "the track \"%\" is empty": "轨道“%”为空",
        "waiting until Google Play offers %; %, %": "等待 Google Play 提供 %；%，%",
        "App Store Connect says that % is live, and for more than a day the App Store's lookup has shown %; App Store Connect decides. Are % of `appStore` right?":
            "App Store Connect 显示 % 已上架，而 App Store 查询一天多来一直显示 %；以 App Store Connect 为准。`appStore` 的 % 正确吗？",
        "for more than a day the App Store's lookup has shown %, and App Store Connect % as the newest that is live; App Store Connect decides. Are `appId` and the lookup's `id` the same app?":
            "一天多来 App Store 查询显示 %，而 App Store Connect 显示最新的已上架版本为 %；以 App Store Connect 为准。`appId` 与查询的 `id` 是同一个应用吗？",
        // The launch document.
        "LaunchGate stops at requiredUpdate: users that are current see the alert only when no device below % is left":
            "LaunchGate 止于 requiredUpdate：只有当没有低于 % 的设备时，已是最新版的用户才会看到提醒",
        "LaunchGate compares versions as texts: a minimum of % would lock out %, although newer; its document says % instead":
            "LaunchGate 按文本比较版本：最低版本 % 会锁定更新的 %；因此文档中写为 %",
        "LaunchGate compares versions as texts: a minimum of % lets % pass, although older than %; these devices are notified at login and by push only":
            "LaunchGate 按文本比较版本：最低版本 % 会放行比 %3 更旧的 %2；这些设备只在登录时和通过推送得到通知",
        "% (the latest)": "%（最新）",
        "% other versions": "另外 % 个版本",
        "Gandalf compares version codes and none is known for %: the launch document requires nothing, and apps that ask it alone are not forced; send builds.required (on the command line: --required-build)":
            "Gandalf 比较版本代码，而 % 的版本代码未知：启动文档不要求任何版本，只读取它的应用不会被强制；请提供 builds.required（命令行：--required-build）",
        "the launch document does not require %, which is in force: no version code of it is known (builds.required; on the command line: --required-build). Apps that go by it alone are not forced":
            "启动文档未要求已生效的 %：其版本代码未知（builds.required；命令行：--required-build）。只读取它的应用不会被强制",
        "the launch document does not require %, which is in force and needs system %: it asks for no device's, and devices have %. Apps that go by it alone are not forced":
            "启动文档未要求已生效且需要系统 %2 的 %1：它不知道设备的系统，而有设备的系统为 %3。只读取它的应用不会被强制",
        "another program asked for it, and a second person has to approve it: \"upgrade-relay version release\"":
            "另一程序提出了该请求，须由第二人批准：“upgrade-relay version release”",
        "another program asked for %, and its row breaks the rules: it waits for a person; \"upgrade-relay version show\" says why":
            "另一程序提出了 %，但其记录违反规则：等待人工处理；“upgrade-relay version show”说明原因",
        "another program changed a text of % to one that breaks the rules; users do not get it. \"upgrade-relay version show\" says why":
            "另一程序把 % 的文本改成了违反规则的内容；用户不会看到它。“upgrade-relay version show”说明原因",
    ]
}
