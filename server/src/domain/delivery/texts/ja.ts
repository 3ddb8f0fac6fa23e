import { type Texts, timeIn } from '../wording.ts';

const time = (at: string) => timeIn('ja', at);

export const ja: Texts = {
  'sign-in-code': ({ app, code, minutes }) => ({
    subject: `${code} は ${app} のサインインコードです`,
    before: [`${app} にサインインするためのコード:`],
    after: [
      `コードの有効期限は ${minutes} 分です。コードをリクエストしたページで入力してください。`,
      'お心当たりがない場合は、このメッセージを無視してください。コードがなければ誰もサインインできません。コードは誰にも教えないでください。',
    ],
  }),
  'factor-code': ({ app, code, minutes }) => ({
    subject: `${code} は ${app} の 2 段階認証コードです`,
    before: [`${app} へのサインインの 2 段階目で使うコード:`],
    after: [
      `コードの有効期限は ${minutes} 分です。`,
      'いまサインインしていない場合は、ほかの誰かがあなたのアカウントでサインインしようとしています。コードは誰にも教えないでください。',
    ],
  }),
  'phone-code': ({ app, code, minutes }) => ({
    subject: `${code} は ${app} でこの電話番号を確認するためのコードです`,
    before: [`${app} でこの電話番号を確認するためのコード:`],
    after: [`コードの有効期限は ${minutes} 分です。`, 'お心当たりがない場合は、このメッセージを無視してください。'],
  }),
  'phone-changed': ({ app, ending, at }) => ({
    subject: `${app} の電話番号が変更されました`,
    before: [
      `${app} のアカウントの電話番号が変更されました。新しい番号の末尾は ${ending} です。`,
      `日時: ${time(at)}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡してください。`,
    ],
    after: [],
  }),
  'login-changed': ({ app, change, at }) => ({
    subject: `${app} のサインイン情報が変更されました`,
    before: [
      {
        email: `${app} の管理者が、アカウントのメールアドレスを変更しました。今後、コードは新しいアドレスに届きます。`,
        phone: `${app} の管理者が、アカウントの電話番号を変更しました。`,
        both: `${app} の管理者が、アカウントのメールアドレスと電話番号を変更しました。今後、コードは新しい宛先に届きます。`,
      }[change],
      `日時: ${time(at)}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡してください。`,
    ],
    after: [],
  }),
  'new-device': ({ app, device, at }) => ({
    subject: `${app} に新しいデバイスが登録されました`,
    before: [
      `新しいデバイスから、あなたのアカウントで ${app} にサインインできるようになりました。`,
      `デバイス: ${device}`,
      `日時: ${time(at)}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡し、ほかの人がメールを読める状態になっていないか確認してください。`,
    ],
    after: [],
  }),
  'passkey-changed': ({ app, change, passkey, at }) => ({
    subject: `${app} のパスキーが変更されました`,
    before: [
      change === 'added'
        ? `${app} のアカウントにパスキーが追加されました。このパスキーを使うと、コードなしであなたとしてサインインできます。`
        : `${app} のアカウントからパスキーが削除されました。今後は使用できません。`,
      `パスキー: ${passkey}`,
      `日時: ${time(at)}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡してください。`,
    ],
    after: [],
  }),
  'factor-changed': ({ app, change, method, at }) => ({
    subject: `${app} の 2 段階認証が変更されました`,
    before: [
      {
        added: `${app} へのサインインに 2 段階認証が追加されました。`,
        replaced: `${app} へのサインインの 2 段階認証方法が置き換えられました。`,
        removed: `${app} へのサインインから 2 段階認証が削除されました。`,
      }[change],
      `確認方法: ${{ email: 'メールのコード', sms: 'SMS のコード', totp: '認証アプリ' }[method]}`,
      `日時: ${time(at)}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡してください。`,
    ],
    after: [],
  }),
  'recovery-code-used': ({ app, left, at }) => ({
    subject: `${app} でリカバリーコードが使用されました`,
    before: [
      `${app} へのサインインにリカバリーコードが 1 つ使用されました。`,
      `日時: ${time(at)}`,
      `残りのコード: ${left}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡してください。`,
    ],
    after: [],
  }),
  'recovery-codes-renewed': ({ app, at }) => ({
    subject: `${app} の新しいリカバリーコード`,
    before: [
      `${app} へのサインイン用に、新しいリカバリーコードが 10 個作成されました。以前のコードは使えません。`,
      `日時: ${time(at)}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡してください。`,
    ],
    after: [],
  }),
  'recovery-granted': ({ app, from, until, cancelUrl }) => ({
    subject: `${app} のアカウント復旧が開始されました`,
    before: [
      `${app} の管理者が、パスキーや 2 段階認証なしでの 1 回のサインインを許可しました。`,
      `${time(from)} から ${time(until)} まで、メールで届くコードと管理者から受け取るコードで使用できます。`,
      'ご自身で依頼した場合は、上記の開始時刻までお待ちください。',
      `お心当たりがない場合は、こちらから取り消してください: ${cancelUrl}`,
    ],
    after: [],
  }),
  'recovery-used': ({ app, at }) => ({
    subject: `${app} のアカウント復旧が使用されました`,
    before: [
      `${app} のアカウントに、パスキーや 2 段階認証なしで、メールのコードと管理者のコードによるサインインがありました。`,
      `日時: ${time(at)}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡し、ほかの人がメールを読める状態になっていないか確認してください。`,
    ],
    after: [],
  }),
  invitation: ({ app, url }) => ({
    subject: `${app} への招待`,
    before: [
      `${app} の管理者があなたのアカウントを作成しました。`,
      `こちらからサインインしてください: ${url}`,
      '新しいデバイスでサインインするたびに、このアドレスにコードが届きます。パスワードはありません。',
      `${app} に心当たりがない場合は、このメッセージを無視してください。`,
    ],
    after: [],
  }),
  'admin-invitation': ({ app, role, url }) => ({
    subject: `管理コンソールで ${app} にアクセスできます`,
    before: [
      {
        owner: `${app} のオーナーになりました。すべてのプロジェクトを管理できます。`,
        project_admin: `プロジェクト ${app} の管理者になりました。`,
        project_viewer: `プロジェクト ${app} を閲覧できるようになりました。`,
      }[role],
      `このアドレスでコンソールにサインインしてください: ${url}`,
      'お心当たりがない場合は、このメッセージを無視してください。',
    ],
    after: [],
  }),
  'scim-token-expiring': ({ app, token, days, at }) => ({
    subject: `${app} のディレクトリトークン ${token} はあと ${days} 日で期限切れになります`,
    before: [
      `${app} の SCIM トークン ${token} はまもなく期限切れになります。その後、ディレクトリはユーザーの作成、変更、無効化ができなくなります。`,
      `有効期限: ${time(at)}`,
      '更新するには、コンソールの「ディレクトリ同期」で新しいトークンを発行し、ディレクトリに設定してから、古いトークンを失効させてください。',
    ],
    after: [],
  }),
  'webhook-disabled': ({ app, webhook, since, at }) => ({
    subject: `${app} の Webhook ${webhook} が無効になりました`,
    before: [
      `Latchkey は ${app} の ${webhook} への Webhook を無効にしました。${time(since)} 以降、イベントを受け付けていません。`,
      `日時: ${time(at)}`,
      '受信側を修正し、コンソールの「Webhook」で有効にしてから、失敗した配信を再送してください。',
    ],
    after: [],
  }),
  'test-message': ({ app, at }) => ({
    subject: `${app} からのテストメッセージ`,
    before: [
      `これは ${app} からのテストメッセージです。メッセージは届いています。`,
      `何もする必要はありません。日時: ${time(at)}`,
    ],
    after: [],
  }),
};
