/**
 * The account page works without script. This script deletes device keys ("Forget this browser"), and reports the
 * account's passkeys and its current name to the browser (Signal API, WebAuthn Level 3 section 5.1.10). It shows times
 * in the browser's time zone if the user has set none, counts down waits, suggests time zones, and draws the key of an
 * authenticator app as a QR code.
 */
import { signalAccepted, signalUser } from '@latchkey/browser/internal';
import { countDown, wait } from './countdown.ts';
import './forget.ts';
import './submit-once.ts';
import { fill } from './texts.ts';

const { rpId, userHandle, passkeys = '', userName = '', displayName = '' } = document.body.dataset;
if (rpId && userHandle) {
  signalAccepted(rpId, userHandle, passkeys.split(' ').filter(Boolean));
  signalUser(rpId, userHandle, userName, displayName);
}

const { lang } = document.documentElement;
/** The language of the page with the region of the browser, e.g. `en-GB`. `Intl` refuses tags of POSIX locales, e.g. `en-US@posix`. */
const locale =
  navigator.languages.find((tag) => /^[a-z\d-]+$/i.test(tag) && tag.split('-')[0] === lang.split('-')[0]) ?? lang;
const times = new Intl.DateTimeFormat(locale, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
});
for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-local]'))
  time.textContent = times.format(new Date(time.dateTime));

for (const seen of document.querySelectorAll<HTMLElement>('[data-wait]')) {
  const { wait: seconds, text = '', over = '' } = seen.dataset;
  countDown(Number(seconds), (left) => {
    if (left > 0) seen.textContent = fill({ text }, 'text', { time: wait(left, lang) });
    else seen.parentElement!.textContent = over;
  });
}

document
  .getElementById('profile-zones')
  ?.append(...Intl.supportedValuesOf('timeZone').map((zone) => new Option(zone, zone)));

const picture = document.querySelector<HTMLElement>('[data-qr]');
if (picture)
  void import('@latchkey/browser/qr').then(({ drawQr }) => {
    picture.replaceChildren(drawQr(picture.dataset['qr'] ?? ''));
    picture.hidden = false;
  });
