import type { HostedSignin } from '@latchkey/browser/internal';
import { CodePrompt, type CodePromptOptions } from './code-prompt.ts';
import { Flow } from './flow/flow.ts';
import { element, type Page } from './page.ts';
import { showRecoveryCodes } from './recovery-codes.ts';

const person = 'ada@example.com';
const sentTo = 'a…@example.com';
const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const sampleCodes = Array.from({ length: 10 }, (_, n) => `sample-code-${String(n).padStart(2, '0')}-not-real`);

/**
 * Shows one step with sample data, for the console's preview. A fake service responds; the real one is never called.
 */
export function showPreview(page: Page, step: string): void {
  // Disable the leave warning of the recovery codes.
  addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), { capture: true });
  if (window.top !== window) focusQuietly();
  const code = new CodePrompt(page);
  const totp = { secret, otpauthUri: totpUri(page.data['projectName'] ?? '') };
  const hosted = { signin: fakeService(totp), isStored: true, trustedUser: none, resume: none };
  new Flow(page, hosted, code).start(step === 'known' ? person : undefined, undefined);
  element<HTMLButtonElement>('address-submit').disabled = false;
  element('who-name').textContent = person;
  const ask = (asked: CodePromptOptions) => code.ask({ resendAfter: 30, ...asked });
  const steps: Record<string, () => void> = {
    code: () => ask({ kind: 'address', sentTo }),
    sms: () => ask({ kind: 'sms', sentTo: '…0143' }),
    app: () => ask({ kind: 'totp' }),
    enrol: () => ask({ kind: 'totp', totp, isNew: true }),
    choose: () => page.show('choose'),
    phone: () => page.show('phone', element('number')),
    passkey: () => page.show('passkey'),
    'new-passkey': () => page.show('new-passkey'),
    offer: () => page.show('offer'),
    recovery: () => showRecoveryCodes(page, sampleCodes, () => page.show('done')),
    error: () => {
      ask({ kind: 'address', sentTo });
      code.field.value = '123456';
      page.problem(page.text('problem.code'), code.field);
    },
    done: () => page.show('done'),
    ended: () => page.show('ended'),
  };
  steps[step]?.();
}

const none = async () => undefined;

/** In an iframe, focusing would also scroll the parent page. */
function focusQuietly(): void {
  const focus = HTMLElement.prototype.focus;
  HTMLElement.prototype.focus = function (options) {
    focus.call(this, { ...options, preventScroll: true });
  };
}

function totpUri(project: string): string {
  return `otpauth://totp/${encodeURIComponent(project)}:${person}?secret=${secret}&issuer=${encodeURIComponent(project)}`;
}

/** A fake service that responds as to a new user, step by step. */
function fakeService(totp: { secret: string; otpauthUri: string }): HostedSignin['signin'] {
  const never = new Promise<never>(() => undefined);
  return {
    authenticate: async () => ({ status: 'OTP_NEEDED', sentTo, resendAfter: 30 }),
    verifyEmailOtp: async () => ({ status: 'SUCCESS' }),
    verifyDevice: async () => ({ status: 'MFA_ENROLLMENT_NEEDED', methods: ['totp', 'sms', 'email'] }),
    initiateMfa: async () => ({ status: 'MFA_INITIATED', method: 'totp', totp }),
    verifyMfa: () => never,
    signInWithPasskey: () => never,
    createPasskey: () => never,
  } as unknown as HostedSignin['signin'];
}
