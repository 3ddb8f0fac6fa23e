/** Checks of the values of settings; their errors complete the sentence "NAME …". */
import { isIP } from 'node:net';
import { z } from 'zod';

export const port = whole(0, 65_535);
export const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).transform((text) => text === 'true');
export const masterKey = z
  .string()
  .refine((text) => /^[A-Za-z0-9+/_-]{43}=?$/.test(text.trim()), { message: 'must be 32 bytes in base64' })
  .transform((text) => new Uint8Array(Buffer.from(text.trim(), 'base64')));
export const addressWith = (...schemes: string[]) =>
  z.string().refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1)), {
    message: `must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
  });

/** True for a URL without user name, password, query or fragment. */
export function isPlainAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return [username, password, search, hash].every((part) => part === '');
}

/** True for an IP address, or one with a port: `10.0.0.2:53`, `[::1]:53`. */
export function isNameServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, six, four, port = '53'] = /^(?:\[(.+)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isAddress = six === undefined ? isIP(four ?? '') === 4 : isIP(six) === 6;
  return isAddress && Number(port) > 0 && Number(port) < 65_536;
}

/** True for the `proxy-addr` syntax: an IP address with an optional prefix length or netmask, or a named range. */
export function isNetwork(text: string): boolean {
  const [address = '', range, ...rest] = text.trim().split('/');
  if (rest.length > 0) return false;
  if (range === undefined) return ['loopback', 'linklocal', 'uniquelocal'].includes(address) || isIP(address) !== 0;
  const bits = { 4: 32, 6: 128 }[isIP(address)] ?? 0;
  if (/^\d+$/.test(range)) return Number(range) > 0 && Number(range) <= bits;
  const mask = range.split('.').map((byte) => Number(byte).toString(2).padStart(8, '0'));
  return bits === 32 && isIP(range) === 4 && /^1+0*$/.test(mask.join(''));
}

/** A whole number from `min` to `max`, inclusive. */
export function whole(min: number, max: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}

/** True for a loopback host. */
export function isLoopback({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** An origin that starts with https, or on a loopback host with http. */
export function checkedBaseUrl(text: string, context: z.RefinementCtx): string {
  const fault = baseUrlFault(text);
  if (fault === null) return text;
  context.addIssue({ code: 'custom', message: fault });
  return z.NEVER;
}

function baseUrlFault(text: string): string | null {
  if (!URL.canParse(text)) return 'must be a URL such as https://id.example.com';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must start with https://';
  if (url.protocol === 'http:' && !isLoopback(url)) return 'must start with https:// (http only on a loopback host)';
  if (url.username || url.password) return 'must not contain a user name or password';
  if (url.hostname.endsWith('.'))
    return `must not end its host name with a dot: ${url.origin.replace(/\.(?=:\d+$|$)/, '')}`;
  if (text !== url.origin) return `must be an origin, without path, query or trailing slash: ${url.origin}`;
  return null;
}
