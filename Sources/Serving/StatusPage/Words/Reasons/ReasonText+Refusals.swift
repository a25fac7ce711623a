// SPDX-License-Identifier: Apache-2.0

extension ReasonText {
    /// Why an act or a bump was refused, and what to do.
    static let refusals = [
        "the campaign is % and cannot be %": "推送活动的状态为“%”，不能执行该操作（%）",
        "the campaign is % and cannot be %. only a campaign that is % can":
            "推送活动的状态为“%”，不能执行该操作（%）。只有状态为“%”的推送活动可以",
        "only a campaign that is % can": "只有状态为“%”的推送活动可以",
        "the campaign is %": "推送活动的状态为“%”",
        "there is no campaign %": "没有推送活动 %",
        "several campaigns begin with %: give more of the id": "有多个推送活动以 % 开头：请输入更多位",
        "waiting": "等待中", "running": "进行中", "paused": "已暂停", "suspended": "已中止", "completed": "已完成",
        "cancelled": "已取消", "superseded": "已被取代", "resumed": "恢复", "retried": "重发", "approved": "批准",
        "nothing of % waits to come into force": "% 没有等待生效的版本",
        "\"upgrade-relay version show\" shows what is required and what is in force":
            "“upgrade-relay version show”显示所要求的与已生效的版本",
        "\"upgrade-relay version show\" shows what is required; it may have been withdrawn before":
            "“upgrade-relay version show”显示所要求的版本；它可能此前已被撤回",
        "\"upgrade-relay version show\" shows what is": "“upgrade-relay version show”显示已封禁的版本",
        "% of % is blocked, and cannot be released": "%2 的 %1 已被封禁，不能放行",
        "\"upgrade-relay version unblock %\", or withdraw what is required":
            "“upgrade-relay version unblock %”，或撤回所要求的版本",
        "% of % was unblocked, and only a person blocks it again": "%2 的 %1 已被解除封禁，只能由人工再次封禁",
        "\"upgrade-relay version block %\"": "“upgrade-relay version block %”",
        "% of % was withdrawn, and only a person asks for it again": "%2 的 %1 已被撤回，只能由人工再次提出",
        "\"upgrade-relay version set %\"": "“upgrade-relay version set %”",
        "\"upgrade-relay version set %\" takes it, if it is meant": "如确属本意，“upgrade-relay version set %”可接受它",
        "a requirement needs a downloadUrl: the app ignores a push without one": "要求版本需要下载地址（downloadUrl）：没有它应用会忽略推送",
        "send %, or set it in the app's configuration": "请提供 %，或写入应用的配置",
        "% is not what % requires: that is %": "%2 要求的不是 %1，而是 %3",
        "nothing": "无",
        "no required version is given, none is stored and no force policy derives one": "没有给出必须版本，没有已存的，也没有强制策略可推导",
        "send `required`, or in `blocked` the versions that must be left": "请填写必须版本，或在封禁的版本中填写必须离开的版本",
        "% is not configured for %": "% 未为 % 配置",
        "the configuration knows %": "配置中有 %",
        "% has no push service on %": "% 在 % 上没有推送服务",
        "% of % is %; % is older": "%2 的 %1 为 %3；%4 更旧",
        "Versions only rise: send % or a newer one": "版本只能上升：请填写 % 或更新的版本",
        "% would fall from % to %; versions only rise": "% 将从 % 降到 %；版本只能上升",
        "% requires % but has no download URL": "% 要求 %，但没有下载地址",
        "Send downloadUrl with the version, or set it in the app's configuration": "请随版本填写下载地址，或写入应用的配置",
        "% of % is blocked: no user may be sent to it": "%2 的 %1 已被封禁：不得让用户升级到它",
        "Require a version above it, or unblock it first (\"upgrade-relay version unblock\")":
            "请要求更高的版本，或先解除封禁（“upgrade-relay version unblock”）",
        "% of % is not blocked": "%2 的 %1 未被封禁",
        "% of % would be required and blocked at once: no user could use the app any more":
            "%2 的 %1 将同时被要求和封禁：所有用户都将无法使用",
        "Require or announce a version above it that is not blocked, or withdraw it; nothing confirms this":
            "请要求或公布一个更高且未封禁的版本，或撤回它；此操作无法通过确认执行",
        "no version of % above % is known that is not blocked: its users would find no other version":
            "没有已知的高于 %2 且未封禁的 %1 版本：其用户将无版本可用",
        "Announce the version to come first (`latest`), or confirm the block if the store offers one":
            "请先公布即将发布的版本（最新版本）；若商店已提供，请确认封禁",
        "% of % is not for named users (any more)": "%2 的 %1 并非（或不再）只针对名单中的用户",
        "Leave the telephones out, or raise a newer version for them": "请去掉手机号，或为他们要求更新的版本",
        "% of % is in force already: it cannot come into force later": "%2 的 %1 已经生效：不能改为以后生效",
        "Withdraw it first, and ask for it again with its moment": "请先撤回，再带上生效时刻重新提出",
        "% of % is %, which is over: it is %": "%2 的生效时刻 %3 已过：现在是 %4",
        "Send a moment to come, or leave it out to require the version at once": "请填写将来的时刻；留空则立即要求该版本",
        "% of % is %; the latest moment is %": "%2 的生效时刻为 %3；最晚可为 %4",
        "Ask for the version when its moment is less than 366 days ahead": "请在生效时刻不足 366 天时再提出该版本",
        "% of % was % by a person": "%2 的 %1 已由人工%3",
        "unblocked": "解除封禁", "withdrawn": "撤回", "released": "放行", "blocks it": "封禁它", "asks for it": "提出它",
        "Only a person % again": "只能由人工再次%",
        "must not be below %; got %": "不得低于 %；填写的是 %",
        "leaps over %, the highest version beyond doubt; got %": "远高于可确信的最高版本 %；填写的是 %",
        "%: %. Nothing was changed. If it is meant, send it again with \"confirm\": true (on the command line: --yes)":
            "%：%。未做任何更改。如确属本意，请勾选确认后再次提交",
        "a requirement is announced with a download URL: send downloadUrl, or configure one for the app":
            "要求版本须有下载地址：请填写下载地址，或为应用配置",
        "has at most % versions; it had %": "最多 % 个版本；现有 % 个",
        "has at most % languages; it had %": "最多 % 种语言；现有 % 种",
        "has at most % numbers; it had %": "最多 % 个号码；现有 % 个",
        "an iOS app": "iOS 应用",
        "a version of % has at most % numbers, such as %; % has %": "% 的版本最多有 % 段数字，例如 %；而 % 有 % 段",
        "is empty; leave it out to mean everyone": "为空；留空表示所有人",
        "is what a program prints for no value; send the number itself": "是程序对空值的输出；请填写号码本身",
        "a version code is needed, a whole number from 1 to %; got %": "需要版本代码，即 1 到 % 的整数；填写的是 %",
        "a moment with its offset is needed, such as % or \"%\"; got %": "需要一个时刻，例如 %；填写的是 %3",
        "must not be empty": "不能为空",
        "the body is not JSON: %": "正文不是 JSON：%",
        "the request's target is not a path in percent-encoded UTF-8": "请求的路径不是百分号编码的 UTF-8",
        "there is nothing at this path": "此路径下没有内容",
        "the request has more than the % parameters that are taken": "请求的参数超过 % 个",
        "a token of that name exists already, or did before it was revoked": "该名称的令牌已存在，或曾存在但已吊销",
        "this id came before, with another body; give each event an id of its own": "此 id 曾以不同的正文到达；请为每个事件使用各自的 id",
    ]
}
