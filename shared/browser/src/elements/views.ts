import type { SignInAction, SignInState } from '../flow/state.ts';
import { drawQr } from '../qr/picture.ts';
import { button, field, form, h, link, type Part } from './dom.ts';
import type { Key, Say } from './texts.ts';

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

export function viewOf(state: SignInState, say: Say, deps: Deps): View {
  const problem = h('p', 'problem', { id: 'problem', role: 'alert' });
  const resend = link(say('code.resend'), () => deps.send({ type: 'resend' }));
  const passkey = link(say('passkey.use'), () => deps.send({ type: 'use-passkey' }));
  const box = h('div', 'card', {}, ...partsOf(state, say, deps, { resend, passkey }));
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
      if (next.step === 'code') countDown(resend, next, say);
      if (next.step === 'address') {
        passkey.hidden = !next.canUsePasskey;
        if (input && !input.value) input.value = next.userid;
      }
      if (text && !next.busy) input?.select();
    },
    focus: () => (input ?? box.querySelector<HTMLElement>('h2'))?.focus(),
  };
}

/** Prompts that differ are rebuilt; others are only updated, so that typed text and focus stay. */
function identity(state: SignInState): string {
  const { step } = state;
  if (step === 'code') return [step, state.method, state.codeFormat, state.totp?.secret, state.testCode].join();
  return step;
}

function countDown(resend: HTMLElement, { resendIn, busy }: At<'code'>, say: Say): void {
  resend.hidden = resendIn === undefined;
  const left = resendIn ?? 0;
  const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
  resend.textContent = left > 0 ? say('code.resendIn', { time }) : say('code.resend');
  resend.setAttribute('aria-disabled', String(busy || left > 0));
}

const title = (text: string) => h('h2', 'title', { tabindex: '-1' }, text);
const note = (text: string) => h('p', 'text', {}, text);

type Links = { resend: HTMLElement; passkey: HTMLElement };

function partsOf(state: SignInState, say: Say, deps: Deps, { resend, passkey }: Links): Part[] {
  const { send } = deps;
  const back = (key: Key = 'code.back') => link(say(key), () => send({ type: 'back' }));
  const recovery = () => link(say('code.recovery'), () => send({ type: 'use-recovery-code' }));
  switch (state.step) {
    case 'address':
      return addressParts(state, say, send, passkey);
    case 'code':
      return codeParts(state, say, send, [resend, ...(state.canUseRecoveryCode ? [recovery()] : [])]);
    case 'recovery-code': {
      const input = field('otp', say('code.recoveryLabel'), { autocomplete: 'off', autocapitalize: 'none' });
      const submit = () => send({ type: 'submit-code', otp: input.value() });
      const shown = form(submit, input.node, button(say('code.submit')));
      return [title(say('code.recoveryTitle')), note(say('code.recoveryText')), shown, back()];
    }
    case 'method': {
      const choices = state.methods.map((method) =>
        h(
          'button',
          'choice',
          { type: 'button', onclick: () => send({ type: 'choose-method', method }) },
          h('strong', 'choice-name', {}, say(`choose.${method}`)),
          h('span', 'choice-hint', {}, say(`choose.${method}Hint`)),
        ),
      );
      return [title(say('choose.title')), note(say('choose.text')), ...choices, back('code.other')];
    }
    case 'phone': {
      const input = field('tel', say('phone.label'), { type: 'tel', autocomplete: 'tel' }, say('phone.hint'));
      const submit = () => send({ type: 'submit-phone', phoneNumber: input.value() });
      const shown = form(submit, input.node, button(say('phone.submit')));
      return [title(say('phone.title')), note(say('phone.text')), shown, back('code.otherMethod')];
    }
    case 'passkey': {
      const shown = form(() => send({ type: 'use-passkey' }), button(say('passkey.use')));
      return [title(say('passkey.title')), note(say('passkey.text')), shown, recovery(), back('code.other')];
    }
    case 'new-passkey': {
      const shown = form(() => send({ type: 'create-passkey' }), button(say('offer.submit')));
      return [title(say('offer.title')), note(say('newPasskey.text')), shown, back('code.other')];
    }
    case 'success':
      return successParts(state, say, deps);
    case 'failed':
      return [form(() => send({ type: 'restart' }), button(say('address.submit')))];
  }
}

function addressParts({ userid }: At<'address'>, say: Say, send: Deps['send'], passkey: HTMLElement): Part[] {
  const input = field('email', say('address.label'), {
    type: 'email',
    autocomplete: 'username webauthn',
    value: userid,
    required: '',
  });
  const shared = h('input', 'checkbox', { type: 'checkbox', id: 'shared' }) as HTMLInputElement;
  const sharing = h('label', 'sharing', { for: 'shared' }, shared, ` ${say('address.shared')}`);
  const submit = () => send({ type: 'submit-address', userid: input.value().trim(), rememberDevice: !shared.checked });
  return [
    title(say('address.title')),
    note(say('address.text')),
    form(submit, input.node, sharing, button(say('address.submit'))),
    passkey,
  ];
}

function codeParts(state: At<'code'>, say: Say, send: Deps['send'], links: HTMLElement[]): Part[] {
  const { method, sentTo = '', codeFormat, totp, testCode, canChooseMethod } = state;
  const isLong = codeFormat === 'long';
  const input = field('otp', say(isLong ? 'code.labelLong' : 'code.label'), {
    autocomplete: 'one-time-code',
    inputmode: isLong ? 'text' : 'numeric',
    autocapitalize: isLong ? 'characters' : 'none',
    maxlength: isLong ? '16' : '12',
  });
  const submit = () => send({ type: 'submit-code', otp: input.value() });
  const time = new Date().toLocaleTimeString(say.language, { timeStyle: 'short' });
  const isSecond = method !== 'address' && !canChooseMethod;
  const heading = totp
    ? 'code.titleEnrol'
    : isSecond
      ? 'code.titleSecond'
      : method === 'sms'
        ? 'code.titleSms'
        : 'code.titleEmail';
  const text = totp
    ? say('code.textEnrol')
    : method === 'totp'
      ? say('code.textTotp')
      : say(isLong ? 'code.textSentLong' : 'code.textSent', { to: sentTo, time });
  return [
    title(say(heading)),
    note(text),
    ...(totp ? enrolment(totp) : []),
    ...(testCode ? [h('p', 'test-code', {}, `${say('code.testCode')} `, h('strong', 'code', {}, testCode))] : []),
    form(submit, input.node, button(say('code.submit'))),
    ...links,
    link(say(canChooseMethod ? 'code.otherMethod' : 'code.other'), () => send({ type: 'back' })),
  ];
}

/** The secret of an authenticator app, as QR code and as text, which on a phone opens the app. */
function enrolment({ secret, otpauthUri }: { secret: string; otpauthUri: string }): HTMLElement[] {
  const spaced = (secret.match(/.{1,4}/g) ?? []).join(' ');
  // Never a script.
  const href = otpauthUri.replace(/^(?!otpauth:)/, '#');
  return [h('div', 'qr', {}, drawQr(otpauthUri)), h('p', 'secret', {}, h('a', 'code', { href }, spaced))];
}

function successParts({ recoveryCodes }: At<'success'>, say: Say, { done }: Deps): Part[] {
  if (!recoveryCodes) return [h('p', 'text', { role: 'status' }, say('done.title'))];
  const list = h('ul', 'codes', {}, ...recoveryCodes.map((code) => h('li', 'code', {}, code)));
  return [title(say('recovery.title')), note(say('recovery.text')), list, form(done, button(say('recovery.submit')))];
}
