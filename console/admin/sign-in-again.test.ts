import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { settings } from './settings.ts';
import { signInAgain } from './sign-in-again.ts';

const reload = vi.fn();
const popup = new BroadcastChannel('lk-signed-in');
vi.stubGlobal('location', { reload });

afterEach(() => {
  reload.mockClear();
});
afterAll(() => {
  popup.close();
  vi.unstubAllGlobals();
});

it('continues after a sign-in to the same account', async () => {
  const answer = signInAgain('expired');
  popup.postMessage(settings.account);
  expect(await answer).toBe(true);
  expect(reload).not.toHaveBeenCalled();
});

it('loads the page again after a sign-in to another account, and sends nothing for it', async () => {
  const answer = signInAgain('fresh');
  const answered = vi.fn();
  void answer.then(answered);
  popup.postMessage('another account');
  await expect.poll(() => reload.mock.calls.length).toBe(1);
  expect(answered).not.toHaveBeenCalled();
  popup.postMessage(settings.account);
  await answer;
});
