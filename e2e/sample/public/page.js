import { nextStep } from '/next-step.js';

const element = (id) => document.getElementById(id);
const say = (text) => {
  element('status').textContent = text;
};

const settings = await (await fetch('/settings.json')).json();
// Latchkey serves the SDK.
const latchkey = await import(`${settings.baseUrl}/sdk/browser.js`);
await latchkey.init(settings);
await show();

element('address-form').addEventListener('submit', guarded(signIn));
element('factor-form').addEventListener('submit', guarded(changeFactor));
element('sign-out').addEventListener(
  'click',
  guarded(async () => {
    await fetch('/auth/sign-out', { method: 'POST' });
    say('You are signed out here.');
    await show();
  }),
);

/**
 * Asks for address, code and second factor; sends the authorization code to the back end, which creates the session.
 */
async function signIn() {
  const userid = element('address').value;
  const shared = element('shared').checked;
  let step = await latchkey.authenticate(userid, { rememberDevice: !shared });
  while (step.status !== 'SUCCESS') step = await nextStep(latchkey, step, userid, untilRight);
  const { ok } = await post('/auth/sign-in', { code: step.code, code_verifier: step.codeVerifier });
  say(ok ? 'You are signed in.' : 'The sign-in was not accepted. Please try again.');
  await show();
}

/** Changes the second factor through the back end; the old factor stays until the new one is verified. */
async function changeFactor() {
  const response = await post('/factor', { method: element('method').value, phone: element('phone').value });
  if (response.status === 401) return signInAgain((await response.json()).login);
  const change = await response.json();
  if (change.status !== 'success') return say(change.message);
  const question = change.totp
    ? `Put ${change.totp.secret} into your authenticator app, and enter the code that it shows`
    : `Enter the code that was sent to ${change.sent_to}`;
  await untilRight(
    question,
    async (otp) => {
      const result = await (await post('/factor/verify', { sessionId: change.session_id, otp })).json();
      if (result.status !== 'success') throw Object.assign(new Error(result.message), { code: result.code });
    },
    'digits',
  );
  say('Your second factor was changed.');
  await show();
}

/** The back end needs a newer proof of the user than a device key: Latchkey's page asks for it, and returns here. */
function signInAgain(login) {
  const path = new URL(login, location.href);
  path.searchParams.set('return_to', '/');
  location.assign(path);
}

/** Asks for a code until it is accepted or another error occurs. */
async function untilRight(question, use, codeFormat) {
  for (let message = question; ; ) {
    const code = await ask(message, codeFormat);
    try {
      return await use(code);
    } catch (error) {
      if (error.code !== 'CODE_REJECTED') throw error;
      message = `${error.message} ${question}`;
    }
  }
}

function ask(question, codeFormat) {
  const [form, input] = [element('code-form'), element('code')];
  const labels = { digits: 'Six-digit code', long: '10-character code' };
  element('code-label').textContent = labels[codeFormat] ?? 'Your answer';
  input.inputMode = codeFormat === 'digits' ? 'numeric' : 'text';
  say(question);
  form.hidden = false;
  input.value = '';
  input.focus();
  return new Promise((resolve) => {
    form.onsubmit = (event) => {
      event.preventDefault();
      form.hidden = true;
      resolve(input.value.replace(/\s/g, ''));
    };
  });
}

async function show() {
  const response = await fetch('/me');
  const me = response.ok ? await response.json() : null;
  element('signed-out').hidden = me !== null;
  element('signed-in').hidden = me === null;
  if (!me) return;
  element('who').textContent = me.email ?? me.sub;
  element('factor').textContent = me.factor;
  element('sid').textContent = me.sid ?? 'none: you signed in on this page';
}

function post(path, body) {
  return fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
}

function guarded(work) {
  return async (event) => {
    event.preventDefault();
    try {
      await work();
    } catch (error) {
      element('code-form').hidden = true;
      say(error.message);
    }
  };
}
