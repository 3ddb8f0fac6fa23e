import { LatchkeySignIn } from './element.ts';

export { LatchkeySignIn, type LatchkeySuccess } from './element.ts';

if (globalThis.customElements && !customElements.get('latchkey-sign-in'))
  customElements.define('latchkey-sign-in', LatchkeySignIn);
