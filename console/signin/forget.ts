/**
 * "Forget this browser" on sign-out pages: deletes the device keys named in `data-device-keys`, then submits the form
 * of the `forget` button, if any. The server revokes the device as well, so the form works without this script.
 */
import { findKeys, forgetKeys } from '@latchkey/browser/internal';

const thumbprints = (document.body.dataset['deviceKeys'] ?? '').split(' ').filter(Boolean);
// No storage means no keys.
const forget = () => forgetKeys(thumbprints).catch(() => undefined);

// Hide the option if the server names no keys.
if (thumbprints.length === 0) for (const part of document.querySelectorAll('.forget')) part.remove();

document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  const button = event.submitter as HTMLButtonElement | null;
  if (button?.name !== 'forget') return;
  event.preventDefault();
  const field = document.createElement('input');
  Object.assign(field, { type: 'hidden', name: button.name, value: button.value });
  form.append(field);
  void forget().then(() => form.submit());
});

const offer = document.getElementById('forget');
const forgotten = document.getElementById('forgotten');
if (offer && forgotten) {
  const found = await findKeys(thumbprints).catch(() => []);
  offer.hidden = found.length === 0;
  offer.querySelector('button')?.addEventListener('click', async () => {
    await forget();
    offer.hidden = true;
    forgotten.textContent = forgotten.dataset['text'] ?? '';
    forgotten.focus();
  });
}
