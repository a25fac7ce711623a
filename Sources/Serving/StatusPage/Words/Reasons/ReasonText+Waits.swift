// SPDX-License-Identifier: Apache-2.0

extension ReasonText {
    /// Why a campaign or a requirement does not move.
    static let waits = [
        // Waves.
        "wave % of %": "第 % 批（共 % 批）",
        "wave % of % is done; the next begins at %": "第 % 批（共 % 批）已完成；下一批开始于 %",
        "resume begins wave %, which takes it to % percent of the audience": "“恢复”开始第 % 批，累计达到目标设备的 %％",
        "approve begins wave %, which takes it to % percent of the audience": "“批准”开始第 % 批，累计达到目标设备的 %％",
        " and % are tried again": "，另有 % 条在重试",
        "WaveFailed: % of % pushes of % failed%, more than % percent; %":
            "本批失败过多：%3 的 %2 条推送中有 %1 条失败%4，超过 %5％；%6",
        "WaveDone: % is done and the next waits for approval; %": "%已完成，下一批等待批准；%",
        "WaveDone: % is done and the next waits for approval": "%已完成，下一批等待批准",
        "WaveFailed: % of % pushes of % failed%, more than % percent": "本批失败过多：%3 的 %2 条推送中有 %1 条失败%4，超过 %5％",
        // Canary.
        "phone number": "个手机号",
        "the canary of %": "灰度（%）",
        "the canary of % phone number": "灰度（% 个手机号）",
        "the canary of % phone numbers": "灰度（% 个手机号）",
        "% phone number": "% 个手机号",
        "% phone numbers": "% 个手机号",
        "% % of the users": "% % 的用户",
        "sends to %": "发送给%",
        "sends to % % of the users": "发送给 % % 的用户",
        "everybody": "所有人",
        "% is being sent to, and no other user": "正在发送给%，不发送给其他用户",
        ", and none of them is registered": "，其中没有已注册的用户",
        "% is done%; \"campaigns approve %\" %": "%已完成%；“campaigns approve %”将%",
        "the canary of % is done%": "灰度（%）已完成%",
        "% is done%; \"campaigns release %\" %": "%已完成%；“campaigns release %”将%",
        // A person.
        " by %": "（操作人：%）",
        " at %": "，时间：%",
        "paused%%; \"campaigns resume %\" goes on": "已暂停%2；“campaigns resume %3”继续",
        "paused by %; \"campaigns resume %\" goes on": "已由 % 暂停；“campaigns resume %”继续",
        "paused by % at %; \"campaigns resume %\" goes on": "已由 % 于 % 暂停；“campaigns resume %”继续",
        "paused at %; \"campaigns resume %\" goes on": "已于 % 暂停；“campaigns resume %”继续",
        // Hours.
        "%, where it is %": "%，当地时间 %",
        "% to % %, where it is %": "% 至 %（%），当地时间 %",
        ", but the campaign's time to live ends before that": "，但推送活动在此之前已到期",
        ", and the campaign's time to live ends before that": "，而推送活动在此之前已到期",
        "outside the app's hours (%): sending goes on by itself at %%; \"campaigns resume % --now\" sends at once":
            "不在应用的推送时段内（%）：将于 %3%2 自动继续；“campaigns resume %4 --now”立即发送",
        "it comes into force at %, ": "于 % 生效，",
        "%outside the app's hours (%): nothing is pushed before %%; with --now (\"now\": true) pushes go out at once":
            "%不在应用的推送时段内（%）：%4%3 之前不推送；使用 --now（\"now\": true）可立即推送",
        // Retries.
        "1 push is": "1 条推送",
        "% pushes are": "% 条推送",
        "% tried again, by itself: the next at %": "%将自动重试：下一次在 %",
        "noRoute: % has no push service in the configuration; %": "配置中没有 % 的推送服务；%",
        "add % to the app's configuration": "请在应用的配置中添加 %",
        // A requirement.
        "put the version in force by \"version release\"": "用“version release”使该版本生效",
        "announce a newer version": "公布一个更新的版本",
        "the store that it waited for is not in the configuration any more; put the source back, or %":
            "所等待的商店已不在配置中；请把该来源放回配置，或%",
        "it was asked for a moment ago": "刚刚提出",
        "required from %; until then % is announced, users may go on, and no device is pushed to":
            "自 % 起生效；在此之前仅公布 %，用户可继续使用，不推送任何设备",
        "released by hand": "由人工放行",
        "unblocked by %": "由 % 解除封禁",
        "unblocked by %: %": "由 % 解除封禁：%",
        "withdrawn by %": "由 % 撤回",
        "withdrawn by %: %": "由 % 撤回：%",
        "its campaign was cancelled by %": "其推送活动已由 % 取消",
        "% was asked for in its place": "已被 % 取代",
        "% was withdrawn before: a person has to release it": "% 曾被撤回：须由人工放行",
        "% is blocked: unblock it, or ask for a version above it": "% 已被封禁：请解除封禁，或要求更高的版本",
        "% is required, and nothing above it is known: blocked, it would lock everybody out":
            "要求 %，且没有已知的更高版本：若封禁，所有用户都将无法使用",
        // Another program's row.
        "another program's row breaks the rules: %": "另一程序写入的记录违反规则：%",
        "another program's row breaks the rules: %. Set the row right, or ask for the version by \"upgrade-relay version set\"":
            "另一程序写入的记录违反规则：%。请更正该记录，或用“upgrade-relay version set”提出该版本",
        "%%%. Set the row right, or ask for the version by \"upgrade-relay version set\"":
            "%3。请更正该记录，或用“upgrade-relay version set”提出该版本",
        "a text of another program is not said: %": "另一程序写入的文本未被采用：%",
        "%; % wrote it": "%；写入者：%",
        "; and % more": "；另有 % 项",
        "version release": "version release",
        "version set --latest % --yes": "version set --latest % --yes",
        "%. If it is meant, a person has to say so: \"upgrade-relay %\"": "%。如确属本意，须由人工确认：“upgrade-relay %”",
        " of %": "（%）",
        "% looks like a typing error: no store offers it, nothing announced it, and fewer than % devices, or than one in %, were seen with it or a newer one; the highest version beyond doubt is %":
            "% 疑似输入错误：没有商店提供，没有来源公布，运行它或更新版本的设备不足 % 台，或不足 1/%；可确信的最高版本为 %",
        "none": "无",
        // The acts of a request.
        "raise": "提升",
        "release": "放行",
        "block": "封禁",
        "cancel": "取消",
    ]
}
