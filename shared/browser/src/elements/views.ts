import type { SignInAction, SignInState } from '../flow/state.ts';
import { drawQr } from '../qr/picture.ts';
import { button, field, form, h, link, type Part } from './dom.ts';
import type { Key } from './keys.ts';
import type { Translate } from './texts.ts';

/** One prompt on the page. */
export type View = {
  nodes: Node[];
  /** Whether the prompt of `state` is this one. */
  shows(state: SignInState): boolean;
  update(state: SignInState, problem: string): void;
  focus(): void;
};
type Deps = { send: (action: SignInAction) => void; done: () => void };
type At<Step extends SignInState['step']> = Extract<SignInState, { step: Step }>;

export function viewOf(state: SignInState, t: Translate, deps: Deps): View {
  const problem = h('p', 'problem', { id: 'problem', role: 'alert' });
  const resend = link(t('code.resend'), () => deps.send({ type: 'resend' }));
  const passkey = link(t('passkey.use'), () => deps.send({ type: 'use-passkey' }));
  const box = h('div', 'card', { lang: t.language, dir: t.dir }, ...partsOf(state, t, deps, { resend, passkey }));
  const input = box.querySelector<HTMLInputElement>('input:not([type=checkbox])');
  input?.setAttribute('aria-describedby', 'hint problem');
  (input?.closest('.field') ?? box).append(problem);
  const shown = identity(state);
  return {
    nodes: [box],
    shows: (next) => identity(next) === shown,
    update(next, text) {
      problem.textContent = text;
      input?.setAttribute('aria-invalid', String(text !== ''));
      box.setAttribute('aria-busy', String(next.busy));
      for (const one of box.querySelectorAll('button')) one.setAttribute('aria-disabled', String(next.busy));
      if (next.step === 'code') countDown(resend, next, t);
      if (next.step === 'address') {
        passkey.hidden = !next.canUsePasskey;
        if (input && !input.value) input.value = next.userid;
      }
      if (text && !next.busy) input?.select();
    },
    focus: () => (input ?? box.querySelector<HTMLElement>('h2,button'))?.focus(),
  };
}

/** Prompts that differ are rebuilt; others are only updated, so that typed text and focus stay. */
function identity(state: SignInState): string {
  const { step } = state;
  if (step === 'code') return [step, state.method, state.codeFormat, state.totp?.secret, state.testCode].join();
  return step;
}

function countDown(resend: HTMLElement, { resendIn, busy }: At<'code'>, t: Translate): void {
  resend.hidden = resendIn === undefined;
  const left = resendIn ?? 0;
  const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
  resend.textContent = left > 0 ? t('code.resendIn', { time }) : t('code.resend');
  resend.setAttribute('aria-disabled', String(busy || left > 0));
}

const title = (text: string) => h('h2', 'title', { tabindex: '-1' }, text);
const note = (text: string) => h('p', 'text', {}, text);

type Links = { resend: HTMLElement; passkey: HTMLElement };

function partsOf(state: SignInState, t: Translate, deps: Deps, { resend, passkey }: Links): Part[] {
  const { send } = deps;
  const back = (key: Key = 'code.back') => link(t(key), () => send({ type: 'back' }));
  const recovery = () => link(t('code.recovery'), () => send({ type: 'use-recovery-code' }));
  switch (state.step) {
    case 'address':
      return addressParts(state, t, send, passkey);
    case 'code':
      return codeParts(state, t, send, [resend, ...(state.canUseRecoveryCode ? [recovery()] : [])]);
    case 'recovery-code': {
      const input = field('otp', t('code.recoveryLabel'), { dir: 'ltr', autocomplete: 'off', autocapitalize: 'none' });
      const submit = () => send({ type: 'submit-code', otp: input.value() });
      const shown = form(submit, input.node, button(t('code.submit')));
      return [title(t('code.recoveryTitle')), note(t('code.recoveryText')), shown, back()];
    }
    case 'method': {
      const choices = state.methods.map((method) =>
        h(
          'button',
          'choice',
          { type: 'button', onclick: () => send({ type: 'choose-method', method }) },
          h('strong', 'choice-name', {}, t(`choose.${method}`)),
          h('span', 'choice-hint', {}, t(`choose.${method}Hint`)),
        ),
      );
      return [title(t('choose.title')), note(t('choose.text')), ...choices, back('code.other')];
    }
    case 'phone': {
      const input = field('tel', t('phone.label'), { dir: 'ltr', type: 'tel', autocomplete: 'tel' }, t('phone.hint'));
      const submit = () => send({ type: 'submit-phone', phoneNumber: input.value() });
      const shown = form(submit, input.node, button(t('phone.submit')));
      return [title(t('phone.title')), note(t('phone.text')), shown, back('code.otherMethod')];
    }
    case 'passkey': {
      const shown = form(() => send({ type: 'use-passkey' }), button(t('passkey.use')));
      return [title(t('passkey.title')), note(t('passkey.text')), shown, recovery(), back('code.other')];
    }
    case 'new-passkey': {
      const shown = form(() => send({ type: 'create-passkey' }), button(t('offer.submit')));
      return [title(t('offer.title')), note(t('newPasskey.text')), shown, back('code.other')];
    }
    case 'success':
      return successParts(state, t, deps);
    case 'failed':
      return [form(() => send({ type: 'restart' }), button(t('address.submit')))];
  }
}

function addressParts({ userid }: At<'address'>, t: Translate, send: Deps['send'], passkey: HTMLElement): Part[] {
  const input = field('email', t('address.label'), {
    dir: 'ltr',
    type: 'email',
    autocomplete: 'username webauthn',
    value: userid,
    required: '',
  });
  const shared = h('input', 'checkbox', { type: 'checkbox', id: 'shared' }) as HTMLInputElement;
  const sharing = h('label', 'sharing', { for: 'shared' }, shared, ` ${t('address.shared')}`);
  const submit = () => send({ type: 'submit-address', userid: input.value().trim(), rememberDevice: !shared.checked });
  return [
    title(t('address.title')),
    note(t('address.text')),
    form(submit, input.node, sharing, button(t('address.submit'))),
    passkey,
  ];
}

function codeParts(state: At<'code'>, t: Translate, send: Deps['send'], links: HTMLElement[]): Part[] {
  const { method, sentTo = '', codeFormat, totp, testCode, canChooseMethod } = state;
  const isLong = codeFormat === 'long';
  const input = field('otp', t(isLong ? 'code.labelLong' : 'code.label'), {
    dir: 'ltr',
    autocomplete: 'one-time-code',
    inputmode: isLong ? 'text' : 'numeric',
    autocapitalize: isLong ? 'characters' : 'none',
    maxlength: isLong ? '16' : '12',
  });
  const submit = () => send({ type: 'submit-code', otp: input.value() });
  const time = new Date().toLocaleTimeString(t.language, { timeStyle: 'short' });
  const isSecond = method !== 'address' && !canChooseMethod;
  const heading = totp
    ? 'code.titleEnrol'
    : isSecond
      ? 'code.titleSecond'
      : method === 'sms'
        ? 'code.titleSms'
        : 'code.titleEmail';
  const text = totp
    ? t('code.textEnrol')
    : method === 'totp'
      ? t('code.textTotp')
      : t(isLong ? 'code.textSentLong' : 'code.textSent', { to: sentTo, time });
  return [
    title(t(heading)),
    note(text),
    ...(totp ? enrolment(totp) : []),
    ...(testCode ? [h('p', 'test-code', {}, `${t('code.testCode')} `, h('strong', 'code', {}, testCode))] : []),
    form(submit, input.node, button(t('code.submit'))),
    ...links,
    link(t(canChooseMethod ? 'code.otherMethod' : 'code.other'), () => send({ type: 'back' })),
  ];
}

/** The secret of an authenticator app, as QR code and as text, which on a phone opens the app. */
function enrolment({ secret, otpauthUri }: { secret: string; otpauthUri: string }): HTMLElement[] {
  const spaced = (secret.match(/.{1,4}/g) ?? []).join(' ');
  // Excludes `javascript:` URLs.
  const href = otpauthUri.replace(/^(?!otpauth:)/, '#');
  return [h('div', 'qr', {}, drawQr(otpauthUri)), h('p', 'secret', {}, h('a', 'code', { href }, spaced))];
}

function successParts({ recoveryCodes }: At<'success'>, t: Translate, { done }: Deps): Part[] {
  if (!recoveryCodes) return [h('p', 'text', { role: 'status' }, t('done.title'))];
  const list = h('ul', 'codes', {}, ...recoveryCodes.map((code) => h('li', 'code', {}, code)));
  return [title(t('recovery.title')), note(t('recovery.text')), list, form(done, button(t('recovery.submit')))];
}
