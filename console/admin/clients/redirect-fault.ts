import { t } from '../language/language.ts';
/** Client-side check of a redirect URI while typing; the server validates more strictly. */
export function addressFault(uri: string): string | undefined {
  if (uri.trim() === '') return undefined;
  if (/\s/.test(uri.trim())) return t('Must not contain spaces');
  if (uri.includes('*')) return t('Wildcards are not supported');
  if (uri.includes('#')) return t('Must not contain a fragment (#)');
  let url: URL;
  try {
    url = new URL(uri.trim());
  } catch {
    return t('Must be a full URL, starting with https://');
  }
  if (url.username || url.password) return t('Must not contain a user name');
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return undefined;
  return url.protocol === 'http:'
    ? t('Must be https; http only on localhost')
    : t('Must be https (http only on localhost)');
}
