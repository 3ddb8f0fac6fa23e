import type { PortalTexts } from '../texts.ts';

export const de: PortalTexts = {
  title: '{organization} einrichten',
  lead: 'Verbinden Sie {organization} mit {app}. Ihr Fortschritt wird gespeichert.',
  openText:
    '{app} lädt Sie ein, {organization} zu verbinden. Fahren Sie in dem Browser fort, in dem Sie die Einrichtung vornehmen möchten.',
  open: 'Weiter',
  usedTitle: 'Dieser Link wurde bereits geöffnet',
  usedText:
    'Fahren Sie in dem Browser fort, in dem er geöffnet wurde, oder lassen Sie sich einen neuen Link per Mail an {email} senden.',
  send: 'Neuen Link senden',
  sentTitle: 'Sehen Sie in Ihrem Postfach nach',
  sentText: 'Ein neuer Link ist unterwegs an {email}.',
  closedTitle: 'Dieser Link funktioniert nicht',
  closedText:
    'Er ist abgelaufen, wurde widerrufen oder ersetzt. Bitten Sie die Person, die ihn gesendet hat, um einen neuen.',
  until: 'Sie können bis {until} zu dieser Seite zurückkehren.',
  domains: 'Mail-Domains',
  domainsText:
    'Weisen Sie nach, dass die Mail-Domains Ihrem Unternehmen gehören: Legen Sie einen TXT-Eintrag bei Ihrem DNS-Anbieter an und prüfen Sie ihn dann hier.',
  domain: 'Domain',
  domainHint: 'Der Teil Ihrer Mailadressen nach dem @, etwa example.com.',
  add: 'Domain hinzufügen',
  record:
    'Legen Sie diesen TXT-Eintrag bei Ihrem DNS-Anbieter an. Es kann eine Stunde dauern, bis er sichtbar ist. Er wird außerdem eine Woche lang alle 15 Minuten geprüft.',
  recordName: 'Name',
  recordValue: 'Wert',
  check: 'Jetzt prüfen',
  remove: 'Entfernen',
  about: '{act}: {name}',
  verified: 'Bestätigt',
  pending: 'Wartet auf den Eintrag',
  keep: 'Behalten Sie den TXT-Eintrag: Er wird alle 6 Stunden geprüft.',
  missing: 'Die letzte Prüfung fand keinen Eintrag mit diesem Wert.',
  unavailable: 'Die Nameserver der Domain haben nicht geantwortet.',
  taken: 'Eine andere Organisation hat diese Domain bestätigt.',
  finish: 'Einrichtung abschließen',
  finishText: 'Alle Schritte sind erledigt.',
  todo: 'Fügen Sie mindestens eine Domain hinzu und bestätigen Sie sie, um die Einrichtung abzuschließen.',
  completed: 'Die Einrichtung ist abgeschlossen. Sie können diese Seite schließen.',
  back: 'Zurück zu {app}',
  added: 'Die Domain wurde hinzugefügt. Legen Sie als Nächstes ihren Eintrag an.',
  removed: 'Die Domain wurde entfernt.',
  problemDomain:
    'Geben Sie eine Mail-Domain Ihres Unternehmens ein, etwa example.com. Domains von Mail-Anbietern und öffentliche Suffixe werden nicht angenommen.',
  problemTaken: 'Diese Domain wird bereits verwendet.',
  problemLimit: 'Es können keine weiteren Domains hinzugefügt werden.',
  problemWait: 'Zu viele Versuche. Versuchen Sie es in {minutes} Minuten erneut.',
  problemForm: 'Die Seite war veraltet. Bitte versuchen Sie es erneut.',
};
