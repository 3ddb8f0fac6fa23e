import type { Locale } from './locale.ts';

/** What a message tells of. Values are plain text; they are escaped where they become HTML. */
export type MessageContent =
  | { template: 'sign-in-code'; app: string; code: string; minutes: number }
  | { template: 'factor-code'; app: string; code: string; minutes: number }
  | { template: 'phone-code'; app: string; code: string; minutes: number }
  | { template: 'phone-changed'; app: string; ending: string; at: string }
  | { template: 'new-device'; app: string; device: string; at: string }
  | { template: 'factor-changed'; app: string; change: FactorChange; method: FactorName; at: string }
  | { template: 'recovery-code-used'; app: string; left: number; at: string }
  | { template: 'recovery-codes-renewed'; app: string; at: string }
  | { template: 'test-message'; app: string; at: string };
export type FactorChange = 'added' | 'replaced' | 'removed';
export type FactorName = 'email' | 'sms' | 'totp';

/** A message in words: its code, if it has one, stands alone after `before`. */
export interface Wording {
  subject: string;
  before: string[];
  after: string[];
}

/** Points in time come as ISO 8601 and are told in UTC. */
function time(locale: Locale, at: string): string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return `${format.format(new Date(at))} UTC`;
}

type Texts = { [T in MessageContent['template']]: (content: Extract<MessageContent, { template: T }>) => Wording };

const en: Texts = {
  'sign-in-code': ({ app, code, minutes }) => ({
    subject: `${code} is your sign-in code for ${app}`,
    before: [`Your code to sign in to ${app}:`],
    after: [
      `It is good for ${minutes} minutes, on the page where you asked for it.`,
      'If you did not ask for it, ignore this message: nobody can sign in without the code. Never tell it to anyone.',
    ],
  }),
  'factor-code': ({ app, code, minutes }) => ({
    subject: `${code} is your second-step code for ${app}`,
    before: [`Your code for the second step of signing in to ${app}:`],
    after: [`It is good for ${minutes} minutes.`, 'If you are not signing in right now, somebody else is trying to.'],
  }),
  'phone-code': ({ app, code, minutes }) => ({
    subject: `${code} is your code to confirm this phone number for ${app}`,
    before: [`Your code to confirm this phone number for ${app}:`],
    after: [`It is good for ${minutes} minutes.`, 'If you did not ask for it, ignore this message.'],
  }),
  'phone-changed': ({ app, ending, at }) => ({
    subject: `Phone number changed for ${app}`,
    before: [
      `The phone number of your account for ${app} was changed. The new one ends in ${ending}.`,
      `Time: ${time('en', at)}`,
      `If this was not you, tell the people who run ${app} at once.`,
    ],
    after: [],
  }),
  'new-device': ({ app, device, at }) => ({
    subject: `New device for ${app}`,
    before: [
      `A new device can now sign in to ${app} as you.`,
      `Device: ${device}`,
      `Time: ${time('en', at)}`,
      `If this was not you, tell the people who run ${app} at once, and check who can read your e-mail.`,
    ],
    after: [],
  }),
  'factor-changed': ({ app, change, method, at }) => ({
    subject: `Second step changed for ${app}`,
    before: [
      {
        added: `A second step was added to your sign-in for ${app}.`,
        replaced: `The second step of your sign-in for ${app} was replaced.`,
        removed: `A second step was removed from your sign-in for ${app}.`,
      }[change],
      `Second step: ${{ email: 'code by e-mail', sms: 'code by text message', totp: 'authenticator app' }[method]}`,
      `Time: ${time('en', at)}`,
      `If this was not you, tell the people who run ${app} at once.`,
    ],
    after: [],
  }),
  'recovery-code-used': ({ app, left, at }) => ({
    subject: `A recovery code was used for ${app}`,
    before: [
      `One of your recovery codes was used to sign in to ${app}.`,
      `Time: ${time('en', at)}`,
      `Recovery codes left: ${left}`,
      `If this was not you, tell the people who run ${app} at once.`,
    ],
    after: [],
  }),
  'recovery-codes-renewed': ({ app, at }) => ({
    subject: `New recovery codes for ${app}`,
    before: [
      `Ten new recovery codes were made for your sign-in for ${app}. Those before no longer work.`,
      `Time: ${time('en', at)}`,
      `If this was not you, tell the people who run ${app} at once.`,
    ],
    after: [],
  }),
  'test-message': ({ app, at }) => ({
    subject: `Test message from ${app}`,
    before: [
      `This is a test message from ${app}. Messages arrive.`,
      `You need not do anything. Time: ${time('en', at)}`,
    ],
    after: [],
  }),
};

const de: Texts = {
  'sign-in-code': ({ app, code, minutes }) => ({
    subject: `${code} ist Ihr Anmeldecode für ${app}`,
    before: [`Ihr Code für die Anmeldung bei ${app}:`],
    after: [
      `Er gilt ${minutes} Minuten lang, auf der Seite, auf der Sie ihn angefordert haben.`,
      'Haben Sie keinen Code angefordert? Dann müssen Sie nichts tun: Ohne den Code kann sich niemand anmelden. Geben Sie ihn niemandem weiter.',
    ],
  }),
  'factor-code': ({ app, code, minutes }) => ({
    subject: `${code} ist Ihr Code für den zweiten Schritt bei ${app}`,
    before: [`Ihr Code für den zweiten Schritt der Anmeldung bei ${app}:`],
    after: [
      `Er gilt ${minutes} Minuten lang.`,
      'Wenn Sie sich gerade nicht anmelden, versucht es jemand anderes in Ihrem Namen.',
    ],
  }),
  'phone-code': ({ app, code, minutes }) => ({
    subject: `${code} ist Ihr Code, um diese Telefonnummer für ${app} zu bestätigen`,
    before: [`Ihr Code, um diese Telefonnummer für ${app} zu bestätigen:`],
    after: [`Er gilt ${minutes} Minuten lang.`, 'Haben Sie keinen Code angefordert? Dann müssen Sie nichts tun.'],
  }),
  'phone-changed': ({ app, ending, at }) => ({
    subject: `Telefonnummer für ${app} geändert`,
    before: [
      `Die Telefonnummer Ihres Kontos für ${app} wurde geändert. Die neue endet auf ${ending}.`,
      `Zeit: ${time('de', at)}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}.`,
    ],
    after: [],
  }),
  'new-device': ({ app, device, at }) => ({
    subject: `Neues Gerät für ${app}`,
    before: [
      `Mit einem neuen Gerät kann man sich jetzt als Sie bei ${app} anmelden.`,
      `Gerät: ${device}`,
      `Zeit: ${time('de', at)}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}, und prüfen Sie, wer Ihre E-Mails lesen kann.`,
    ],
    after: [],
  }),
  'factor-changed': ({ app, change, method, at }) => ({
    subject: `Zweiter Schritt für ${app} geändert`,
    before: [
      {
        added: `Ihre Anmeldung bei ${app} hat jetzt einen zweiten Schritt.`,
        replaced: `Der zweite Schritt Ihrer Anmeldung bei ${app} wurde ersetzt.`,
        removed: `Ein zweiter Schritt Ihrer Anmeldung bei ${app} wurde entfernt.`,
      }[change],
      `Zweiter Schritt: ${{ email: 'Code per E-Mail', sms: 'Code per SMS', totp: 'Authenticator-App' }[method]}`,
      `Zeit: ${time('de', at)}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}.`,
    ],
    after: [],
  }),
  'recovery-code-used': ({ app, left, at }) => ({
    subject: `Wiederherstellungscode für ${app} benutzt`,
    before: [
      `Einer Ihrer Wiederherstellungscodes wurde für die Anmeldung bei ${app} benutzt.`,
      `Zeit: ${time('de', at)}`,
      `Noch übrig: ${left}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}.`,
    ],
    after: [],
  }),
  'recovery-codes-renewed': ({ app, at }) => ({
    subject: `Neue Wiederherstellungscodes für ${app}`,
    before: [
      `Für Ihre Anmeldung bei ${app} wurden zehn neue Wiederherstellungscodes erstellt. Die bisherigen gelten nicht mehr.`,
      `Zeit: ${time('de', at)}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}.`,
    ],
    after: [],
  }),
  'test-message': ({ app, at }) => ({
    subject: `Testnachricht von ${app}`,
    before: [
      `Dies ist eine Testnachricht von ${app}. Nachrichten kommen an.`,
      `Sie müssen nichts tun. Zeit: ${time('de', at)}`,
    ],
    after: [],
  }),
};

const es: Texts = {
  'sign-in-code': ({ app, code, minutes }) => ({
    subject: `${code} es su código para entrar en ${app}`,
    before: [`Su código para iniciar sesión en ${app}:`],
    after: [
      `Vale durante ${minutes} minutos, en la página en la que lo pidió.`,
      'Si no lo ha pedido, ignore este mensaje: sin el código nadie puede entrar. No se lo dé a nadie.',
    ],
  }),
  'factor-code': ({ app, code, minutes }) => ({
    subject: `${code} es su código para el segundo paso en ${app}`,
    before: [`Su código para el segundo paso del inicio de sesión en ${app}:`],
    after: [
      `Vale durante ${minutes} minutos.`,
      'Si no está iniciando sesión en este momento, otra persona lo está intentando.',
    ],
  }),
  'phone-code': ({ app, code, minutes }) => ({
    subject: `${code} es su código para confirmar este número de teléfono en ${app}`,
    before: [`Su código para confirmar este número de teléfono en ${app}:`],
    after: [`Es válido durante ${minutes} minutos.`, 'Si no lo ha pedido, ignore este mensaje.'],
  }),
  'phone-changed': ({ app, ending, at }) => ({
    subject: `Número de teléfono cambiado en ${app}`,
    before: [
      `Se ha cambiado el número de teléfono de su cuenta en ${app}. El nuevo termina en ${ending}.`,
      `Hora: ${time('es', at)}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app}.`,
    ],
    after: [],
  }),
  'new-device': ({ app, device, at }) => ({
    subject: `Nuevo dispositivo para ${app}`,
    before: [
      `Desde un nuevo dispositivo se puede entrar ahora en ${app} con su cuenta.`,
      `Dispositivo: ${device}`,
      `Hora: ${time('es', at)}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app} y compruebe quién puede leer su correo.`,
    ],
    after: [],
  }),
  'factor-changed': ({ app, change, method, at }) => ({
    subject: `Segundo paso modificado en ${app}`,
    before: [
      {
        added: `Se ha añadido un segundo paso a su inicio de sesión en ${app}.`,
        replaced: `Se ha sustituido el segundo paso de su inicio de sesión en ${app}.`,
        removed: `Se ha quitado un segundo paso de su inicio de sesión en ${app}.`,
      }[change],
      `Segundo paso: ${{ email: 'código por correo', sms: 'código por SMS', totp: 'aplicación de autenticación' }[method]}`,
      `Hora: ${time('es', at)}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app}.`,
    ],
    after: [],
  }),
  'recovery-code-used': ({ app, left, at }) => ({
    subject: `Código de recuperación usado en ${app}`,
    before: [
      `Se ha usado uno de sus códigos de recuperación para entrar en ${app}.`,
      `Hora: ${time('es', at)}`,
      `Códigos que le quedan: ${left}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app}.`,
    ],
    after: [],
  }),
  'recovery-codes-renewed': ({ app, at }) => ({
    subject: `Nuevos códigos de recuperación para ${app}`,
    before: [
      `Se han creado diez códigos de recuperación nuevos para entrar en ${app}. Los anteriores ya no sirven.`,
      `Hora: ${time('es', at)}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app}.`,
    ],
    after: [],
  }),
  'test-message': ({ app, at }) => ({
    subject: `Mensaje de prueba de ${app}`,
    before: [
      `Este es un mensaje de prueba de ${app}. Los mensajes llegan.`,
      `No tienes que hacer nada. Hora: ${time('es', at)}`,
    ],
    after: [],
  }),
};

const fr: Texts = {
  'sign-in-code': ({ app, code, minutes }) => ({
    subject: `${code} est votre code de connexion à ${app}`,
    before: [`Votre code pour vous connecter à ${app} :`],
    after: [
      `Il est valable ${minutes} minutes, sur la page où vous l’avez demandé.`,
      'Si vous n’avez rien demandé, ignorez ce message : sans ce code, personne ne peut se connecter. Ne le communiquez à personne.',
    ],
  }),
  'factor-code': ({ app, code, minutes }) => ({
    subject: `${code} est votre code pour la deuxième étape sur ${app}`,
    before: [`Votre code pour la deuxième étape de la connexion à ${app} :`],
    after: [
      `Il est valable ${minutes} minutes.`,
      'Si vous n’êtes pas en train de vous connecter, quelqu’un d’autre essaie de le faire.',
    ],
  }),
  'phone-code': ({ app, code, minutes }) => ({
    subject: `${code} est votre code pour confirmer ce numéro de téléphone pour ${app}`,
    before: [`Votre code pour confirmer ce numéro de téléphone pour ${app} :`],
    after: [`Il est valable ${minutes} minutes.`, 'Si vous ne l’avez pas demandé, ignorez ce message.'],
  }),
  'phone-changed': ({ app, ending, at }) => ({
    subject: `Numéro de téléphone modifié pour ${app}`,
    before: [
      `Le numéro de téléphone de votre compte pour ${app} a été modifié. Le nouveau se termine par ${ending}.`,
      `Date : ${time('fr', at)}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app}.`,
    ],
    after: [],
  }),
  'new-device': ({ app, device, at }) => ({
    subject: `Nouvel appareil pour ${app}`,
    before: [
      `Un nouvel appareil peut désormais se connecter à ${app} avec votre compte.`,
      `Appareil : ${device}`,
      `Date : ${time('fr', at)}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app} et vérifiez qui peut lire vos e-mails.`,
    ],
    after: [],
  }),
  'factor-changed': ({ app, change, method, at }) => ({
    subject: `Deuxième étape modifiée pour ${app}`,
    before: [
      {
        added: `Une deuxième étape a été ajoutée à votre connexion à ${app}.`,
        replaced: `La deuxième étape de votre connexion à ${app} a été remplacée.`,
        removed: `Une deuxième étape a été retirée de votre connexion à ${app}.`,
      }[change],
      `Deuxième étape : ${{ email: 'code par e-mail', sms: 'code par SMS', totp: 'application d’authentification' }[method]}`,
      `Date : ${time('fr', at)}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app}.`,
    ],
    after: [],
  }),
  'recovery-code-used': ({ app, left, at }) => ({
    subject: `Code de secours utilisé pour ${app}`,
    before: [
      `L’un de vos codes de secours a été utilisé pour se connecter à ${app}.`,
      `Date : ${time('fr', at)}`,
      `Codes restants : ${left}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app}.`,
    ],
    after: [],
  }),
  'recovery-codes-renewed': ({ app, at }) => ({
    subject: `Nouveaux codes de secours pour ${app}`,
    before: [
      `Dix nouveaux codes de secours ont été créés pour votre connexion à ${app}. Les précédents ne sont plus valables.`,
      `Date : ${time('fr', at)}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app}.`,
    ],
    after: [],
  }),
  'test-message': ({ app, at }) => ({
    subject: `Message d’essai de ${app}`,
    before: [
      `Ceci est un message d’essai de ${app}. Les messages arrivent.`,
      `Vous n’avez rien à faire. Date : ${time('fr', at)}`,
    ],
    after: [],
  }),
};

const ja: Texts = {
  'sign-in-code': ({ app, code, minutes }) => ({
    subject: `${code} は ${app} のサインインコードです`,
    before: [`${app} にサインインするためのコード:`],
    after: [
      `コードの有効期限は ${minutes} 分です。コードをリクエストしたページで入力してください。`,
      'お心当たりがない場合は、このメッセージを無視してください。コードがなければ誰もサインインできません。コードは誰にも教えないでください。',
    ],
  }),
  'factor-code': ({ app, code, minutes }) => ({
    subject: `${code} は ${app} の 2 段階目の確認コードです`,
    before: [`${app} へのサインインの 2 段階目で使うコード:`],
    after: [
      `コードの有効期限は ${minutes} 分です。`,
      'いまサインインしていない場合は、ほかの誰かがあなたのアカウントでサインインしようとしています。',
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
      `日時: ${time('ja', at)}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡してください。`,
    ],
    after: [],
  }),
  'new-device': ({ app, device, at }) => ({
    subject: `${app} に新しいデバイスが登録されました`,
    before: [
      `新しいデバイスから、あなたのアカウントで ${app} にサインインできるようになりました。`,
      `デバイス: ${device}`,
      `日時: ${time('ja', at)}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡し、ほかの人がメールを読める状態になっていないか確認してください。`,
    ],
    after: [],
  }),
  'factor-changed': ({ app, change, method, at }) => ({
    subject: `${app} の 2 段階認証が変更されました`,
    before: [
      {
        added: `${app} へのサインインに 2 段階目の確認が追加されました。`,
        replaced: `${app} へのサインインの 2 段階目の確認方法が置き換えられました。`,
        removed: `${app} へのサインインから 2 段階目の確認が削除されました。`,
      }[change],
      `確認方法: ${{ email: 'メールのコード', sms: 'SMS のコード', totp: '認証アプリ' }[method]}`,
      `日時: ${time('ja', at)}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡してください。`,
    ],
    after: [],
  }),
  'recovery-code-used': ({ app, left, at }) => ({
    subject: `${app} でリカバリーコードが使用されました`,
    before: [
      `${app} へのサインインにリカバリーコードが 1 つ使用されました。`,
      `日時: ${time('ja', at)}`,
      `残りのコード: ${left}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡してください。`,
    ],
    after: [],
  }),
  'recovery-codes-renewed': ({ app, at }) => ({
    subject: `${app} の新しいリカバリーコード`,
    before: [
      `${app} へのサインイン用に、新しいリカバリーコードが 10 個作成されました。以前のコードは使えません。`,
      `日時: ${time('ja', at)}`,
      `お心当たりがない場合は、すぐに ${app} の運営者に連絡してください。`,
    ],
    after: [],
  }),
  'test-message': ({ app, at }) => ({
    subject: `${app} からのテストメッセージ`,
    before: [
      `これは ${app} からのテストメッセージです。メッセージは届いています。`,
      `何もする必要はありません。日時: ${time('ja', at)}`,
    ],
    after: [],
  }),
};

export const texts: Record<Locale, Texts> = { en, de, es, fr, ja };
