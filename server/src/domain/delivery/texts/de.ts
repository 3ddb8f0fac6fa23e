import { type Texts, timeIn } from '../wording.ts';

const time = (at: string) => timeIn('de', at);

export const de: Texts = {
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
      'Wenn Sie sich gerade nicht anmelden, versucht es jemand anderes in Ihrem Namen. Geben Sie den Code niemandem weiter.',
    ],
  }),
  'phone-code': ({ app, code, minutes }) => ({
    subject: `${code} ist Ihr Code, um diese Telefonnummer für ${app} zu bestätigen`,
    before: [`Ihr Code, um diese Telefonnummer für ${app} zu bestätigen:`],
    after: [`Er gilt ${minutes} Minuten lang.`, 'Haben Sie keinen Code angefordert? Dann müssen Sie nichts tun.'],
  }),
  'email-code': ({ app, code, minutes }) => ({
    subject: `${code} ist Ihr Code, um diese E-Mail-Adresse für ${app} zu bestätigen`,
    before: [`Ihr Code, um diese E-Mail-Adresse für Ihr Konto für ${app} zu verwenden:`],
    after: [
      `Er gilt ${minutes} Minuten lang. Geben Sie ihn auf der Seite ein, auf der Sie ihn angefordert haben.`,
      'Haben Sie keinen Code angefordert? Dann müssen Sie nichts tun. Geben Sie den Code nie weiter.',
    ],
  }),
  'phone-changed': ({ app, ending, at }) => ({
    subject: `Telefonnummer für ${app} geändert`,
    before: [
      `Die Telefonnummer Ihres Kontos für ${app} wurde geändert. Die neue endet auf ${ending}.`,
      `Zeit: ${time(at)}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}.`,
    ],
    after: [],
  }),
  'email-changed': ({ app, email, at }) => ({
    subject: `E-Mail-Adresse für ${app} geändert`,
    before: [
      `Die E-Mail-Adresse Ihres Kontos für ${app} wurde in ${email} geändert. Codes gehen jetzt dorthin.`,
      `Zeit: ${time(at)}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}.`,
    ],
    after: [],
  }),
  'login-changed': ({ app, change, at }) => ({
    subject: `Anmeldedaten für ${app} geändert`,
    before: [
      {
        email: `Ein Administrator von ${app} hat die E-Mail-Adresse Ihres Kontos geändert. Codes gehen jetzt an die neue Adresse.`,
        phone: `Ein Administrator von ${app} hat die Telefonnummer Ihres Kontos geändert.`,
        both: `Ein Administrator von ${app} hat die E-Mail-Adresse und die Telefonnummer Ihres Kontos geändert. Codes gehen jetzt an die neuen.`,
      }[change],
      `Zeit: ${time(at)}`,
      `Haben Sie das nicht erwartet? Dann wenden Sie sich sofort an den Betreiber von ${app}.`,
    ],
    after: [],
  }),
  'new-device': ({ app, device, at }) => ({
    subject: `Neues Gerät für ${app}`,
    before: [
      `Ein neues Gerät kann sich jetzt in Ihrem Namen bei ${app} anmelden.`,
      `Gerät: ${device}`,
      `Zeit: ${time(at)}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}, und prüfen Sie, wer Ihre E-Mails lesen kann.`,
    ],
    after: [],
  }),
  'passkey-changed': ({ app, change, passkey, at }) => ({
    subject: `Passkeys für ${app} geändert`,
    before: [
      change === 'added'
        ? `Ihr Konto bei ${app} hat einen neuen Passkey. Mit ihm ist die Anmeldung ohne Code möglich.`
        : `Ein Passkey Ihres Kontos bei ${app} wurde entfernt. Mit ihm ist keine Anmeldung mehr möglich.`,
      `Passkey: ${passkey}`,
      `Zeit: ${time(at)}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}.`,
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
      `Zeit: ${time(at)}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}.`,
    ],
    after: [],
  }),
  'recovery-code-used': ({ app, left, at }) => ({
    subject: `Wiederherstellungscode für ${app} benutzt`,
    before: [
      `Einer Ihrer Wiederherstellungscodes wurde für die Anmeldung bei ${app} verwendet.`,
      `Zeit: ${time(at)}`,
      `Noch übrig: ${left}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}.`,
    ],
    after: [],
  }),
  'recovery-codes-renewed': ({ app, at }) => ({
    subject: `Neue Wiederherstellungscodes für ${app}`,
    before: [
      `Für Ihre Anmeldung bei ${app} wurden zehn neue Wiederherstellungscodes erstellt. Die bisherigen gelten nicht mehr.`,
      `Zeit: ${time(at)}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}.`,
    ],
    after: [],
  }),
  'recovery-granted': ({ app, from, until, cancelUrl }) => ({
    subject: `Kontowiederherstellung für ${app} begonnen`,
    before: [
      `Ein Administrator von ${app} hat eine Anmeldung an Ihrem Konto ohne Passkey und zweiten Schritt erlaubt.`,
      `Sie ist möglich von ${time(from)} bis ${time(until)}, mit einem Code an Ihre E-Mail-Adresse und einem Code des Administrators.`,
      'Wenn Sie darum gebeten haben, warten Sie bis zum ersten Zeitpunkt.',
      `Wenn nicht, brechen Sie sie hier ab: ${cancelUrl}`,
    ],
    after: [],
  }),
  'recovery-used': ({ app, at }) => ({
    subject: `Kontowiederherstellung für ${app} verwendet`,
    before: [
      `Jemand hat sich an Ihrem Konto für ${app} ohne Passkey und zweiten Schritt angemeldet, mit einem Code an Ihre E-Mail-Adresse und einem Code eines Administrators.`,
      `Zeit: ${time(at)}`,
      `Waren Sie das nicht? Dann wenden Sie sich sofort an den Betreiber von ${app}, und prüfen Sie, wer Ihre E-Mails lesen kann.`,
    ],
    after: [],
  }),
  invitation: ({ app, url }) => ({
    subject: `Einladung zu ${app}`,
    before: [
      `Ein Administrator von ${app} hat ein Konto für Sie angelegt.`,
      `Hier melden Sie sich an: ${url}`,
      'Bei jeder Anmeldung auf einem neuen Gerät erhalten Sie einen Code an diese Adresse. Ein Passwort gibt es nicht.',
      `Wenn Sie ${app} nicht kennen, müssen Sie nichts tun.`,
    ],
    after: [],
  }),
  'sign-up-approved': ({ app, url }) => ({
    subject: `Ihr Konto bei ${app} ist bereit`,
    before: [
      `Ein Administrator von ${app} hat Ihre Anfrage genehmigt.`,
      `Hier melden Sie sich an: ${url}`,
      'Bei jeder Anmeldung auf einem neuen Gerät erhalten Sie einen Code an diese Adresse. Ein Passwort gibt es nicht.',
      `Wenn Sie ${app} nicht kennen, müssen Sie nichts tun.`,
    ],
    after: [],
  }),
  'admin-invitation': ({ app, role, url }) => ({
    subject: `Zugriff auf ${app} in der Verwaltungskonsole`,
    before: [
      {
        owner: `Sie sind jetzt Inhaber von ${app}, mit vollem Zugriff auf alle Projekte.`,
        project_admin: `Sie sind jetzt Administrator des Projekts ${app}.`,
        project_viewer: `Sie können jetzt das Projekt ${app} ansehen.`,
      }[role],
      `Melden Sie sich mit dieser Adresse an der Konsole an: ${url}`,
      'Wenn Sie das nicht erwartet haben, müssen Sie nichts tun.',
    ],
    after: [],
  }),
  'scim-token-expiring': ({ app, token, days, at }) => ({
    subject: `Der Verzeichnis-Token ${token} für ${app} läuft in ${days} ${days === 1 ? 'Tag' : 'Tagen'} ab`,
    before: [
      `Der Verzeichnis-Token ${token} von ${app} läuft bald ab. Danach kann das Verzeichnis keine Benutzer mehr anlegen, ändern oder deaktivieren.`,
      `Ablauf: ${time(at)}`,
      'Um ihn zu ersetzen, stellen Sie in der Konsole unter „Verzeichnisabgleich“ einen neuen Token aus, tragen Sie ihn im Verzeichnis ein und widerrufen Sie dann den alten.',
    ],
    after: [],
  }),
  'webhook-disabled': ({ app, webhook, since, at }) => ({
    subject: `Der Webhook ${webhook} von ${app} wurde abgeschaltet`,
    before: [
      `Latchkey hat den Webhook an ${webhook} von ${app} abgeschaltet. Er hat seit ${time(since)} keine Ereignisse angenommen.`,
      `Zeit: ${time(at)}`,
      'Beheben Sie den Fehler beim Empfänger, schalten Sie den Webhook in der Konsole unter „Webhooks“ wieder ein und senden Sie die fehlgeschlagenen Zustellungen erneut.',
    ],
    after: [],
  }),
  'domain-failing': ({ app, domain, fault, since, until }) => ({
    subject: `Handlungsbedarf bei der Domain ${domain} von ${app}`,
    before: [
      fault === 'missing'
        ? `Der DNS-Eintrag, der ${domain} für ${app} bestätigt, fehlt seit ${time(since)}.`
        : `Die Nameserver von ${domain}, einer Domain von ${app}, antworten seit ${time(since)} nicht.`,
      `Ändert sich das nicht, können sich Benutzer dort nach dem ${time(until)} nicht mehr anmelden. Die Sitzungen und Geräte der Domain enden dann.`,
      'Die Konsole zeigt den Eintrag unter „Einstellungen“, „Eigene Domains“.',
    ],
    after: [],
  }),
  'domain-lost': ({ app, domain, fault, since, at }) => ({
    subject: `Die Domain ${domain} von ${app} funktioniert nicht mehr`,
    before: [
      fault === 'missing'
        ? `Der DNS-Eintrag, der ${domain} für ${app} bestätigt, fehlt seit ${time(since)}.`
        : `Die Nameserver von ${domain}, einer Domain von ${app}, antworten seit ${time(since)} nicht.`,
      'Benutzer können sich dort nicht mehr anmelden. Die Sitzungen und Geräte der Domain sind beendet, und ein anderes Projekt kann die Domain bestätigen.',
      `Zeit: ${time(at)}`,
      'Gehört die Domain noch Ihnen, stellen Sie den DNS-Eintrag wieder her und prüfen Sie ihn in der Konsole unter „Einstellungen“, „Eigene Domains“. Wenn nicht, stellen Sie ihre Anwendungen auf einen anderen Issuer um und ersetzen Sie deren Client-Secrets.',
    ],
    after: [],
  }),
  'test-message': ({ app, at }) => ({
    subject: `Testnachricht von ${app}`,
    before: [
      `Dies ist eine Testnachricht von ${app}. Die Zustellung funktioniert.`,
      `Sie müssen nichts tun. Zeit: ${time(at)}`,
    ],
    after: [],
  }),
};
