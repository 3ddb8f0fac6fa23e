import { LatchkeyError } from '../error.ts';

const problem = (code: string, message: string) => new LatchkeyError(code, 'user_action', message);

/** A typed one-time code as the service accepts it, or the reason why it is incomplete: then no attempt is used up. */
export function asCode(typed: string, format: 'digits' | 'long' | 'recovery'): string | LatchkeyError {
  const otp = String(typed).normalize('NFKC').replace(/[\s-]/g, '');
  // The service reads the digits of any script.
  const complete = { digits: /^\p{Nd}{6}$/u, long: /^\w{10}$/, recovery: /^.{1,64}$/ }[format];
  return complete.test(otp) ? otp : problem('CODE_INCOMPLETE', 'The code is incomplete.');
}

/** A typed phone number in E.164, or why it is invalid. */
export function asPhoneNumber(typed: string): string | LatchkeyError {
  const number = String(typed)
    .normalize('NFKC')
    .replace(/[\s().\-/]/g, '')
    .replace(/^00/, '+');
  return /^\+\d{6,15}$/.test(number)
    ? number
    : problem('PHONE_INVALID', 'The phone number must begin with its country code: +49…');
}
