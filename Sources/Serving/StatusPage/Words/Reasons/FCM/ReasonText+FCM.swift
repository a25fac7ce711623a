// SPDX-License-Identifier: Apache-2.0

extension ReasonText {
    /// The texts of FCM about an account, a project or a token.
    static let googleService = [
        "%.serviceAccount (%), and this machine's clock, which says %": " %.serviceAccount（%），以及本机时钟，目前为 %",
        "FCM does not accept the access tokens of %, not even a new one": "FCM 不接受 % 的访问令牌，新的也不接受",
        "%.serviceAccount (%): the account must not be disabled; %.server and %.proxy: nothing on the way to % may take the token out; and this machine's clock, which says %":
            " %.serviceAccount（%）：账号不得停用；%.server 与 %.proxy：通往 % 的途中不得去除令牌；以及本机时钟，目前为 %",
        "the project % of % is not one that FCM knows, or not the account's": "FCM 不认识 %2 的项目 %1，或它不属于该账号",
        "%.project: the project id of the app's Firebase project, not its number or name":
            " %.project：应用的 Firebase 项目的项目 ID，而非其编号或名称",
        "FCM finds the pushes of % malformed": "FCM 认为 % 的推送格式错误",
        "%.push, %.packageName and %.notification": " %.push、%.packageName 与 %.notification",
        "what answers for % at % is not FCM, or does not know the project %": "在 %2 为 %1 应答的并非 FCM，或它不认识项目 %3",
        "%.server, %.proxy and %.project": " %.server、%.proxy 与 %.project",
        "%.project (%) and %.server": " %.project（%）与 %.server",
        "the APNs authentication key in the Firebase console of %, Project settings, Cloud Messaging: key, key id and team id; FCM can use it some minutes later":
            "% 的 Firebase 控制台中 Project settings、Cloud Messaging 的 APNs 认证密钥：密钥、key id 与 team id；FCM 在数分钟后可以使用它",
        "FCM refuses the pushes of %": "FCM 拒绝 % 的推送",
        "%: serviceAccount (%) and project (%); Google's page \"FCM error codes\" explains the reason":
            " %：serviceAccount（%）与 project（%）；Google 的页面“FCM error codes”说明该原因",
        "the FCM API is not enabled in the project % of %": "%2 的项目 %1 未启用 FCM API",
        "a policy of the organisation that owns the project % forbids this": "项目 % 所属组织的政策禁止此操作",
        "Google has suspended the project % of %": "Google 已停用 %2 的项目 %1",
        "FCM forbids the account of % to push to the project %": "FCM 不允许 % 的账号向项目 % 推送",
        "in Google Cloud, APIs & Services, that \"Firebase Cloud Messaging API\" is enabled for %; a change takes some minutes":
            " Google Cloud 的 APIs & Services 中 % 是否已启用“Firebase Cloud Messaging API”；更改在数分钟后生效",
        "the organisation's policies in Google Cloud (VPC Service Controls, service account keys) with their administrator":
            "组织在 Google Cloud 中的政策（VPC Service Controls、服务账号密钥），请与其管理员核对",
        "the project's billing and messages in Google Cloud": "项目在 Google Cloud 中的结算与通知",
        "%.project, and in Google Cloud, IAM, that % has cloudmessaging.messages.create there (role \"Firebase Cloud Messaging API Admin\"), that the API is enabled and that no policy of the organisation forbids it":
            " %.project，以及在 Google Cloud 的 IAM 中 % 是否具有 cloudmessaging.messages.create（角色“Firebase Cloud Messaging API Admin”）、API 是否已启用、组织的政策是否允许",
        "%: these tokens are of another Firebase project than %": "%：这些令牌属于另一 Firebase 项目，而非 %",
        "%.project and %.serviceAccount, and under which app the devices were registered; no token was given up":
            " %.project 与 %.serviceAccount，以及设备注册在哪个应用之下；没有放弃任何令牌",
        "%: these are no tokens of FCM": "%：这些不是 FCM 的令牌",
        "what your service registers as token (the app's registration token, whole); no token was given up":
            "您的服务以何作为令牌注册（应为应用完整的注册令牌）；没有放弃任何令牌",
        "%: these tokens are of iPhones or browsers, and FCM's own key for those is wrong":
            "%：这些令牌属于 iPhone 或浏览器，而 FCM 用于它们的密钥有误",
        "the keys in the Firebase console, Cloud Messaging; iPhones are better reached by apns; no token was given up":
            " Firebase 控制台 Cloud Messaging 中的密钥；iPhone 最好通过 apns 推送；没有放弃任何令牌",
    ]
}
