/**
 * "Forget this browser" on the pages where people sign out: deletes the device keys that the server names in
 * `data-device-keys`. A form whose button is called `forget` is sent after that; the server revokes the device as well,
 * so that it also works without this script.
 */
import { findKeys, forgetKeys } from '@latchkey/browser/internal';

const thumbprints = (document.body.dataset['deviceKeys'] ?? '').split(' ').filter(Boolean);
// Storage that cannot be opened holds no key.
const forget = () => forgetKeys(thumbprints).catch(() => undefined);

// A server that names no key does not take part.
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
