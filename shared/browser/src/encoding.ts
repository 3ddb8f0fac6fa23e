/** Base64url without padding (RFC 4648 §5). */
export function base64url(bytes: ArrayBuffer | Uint8Array): string {
  let binary = '';
  for (const byte of new Uint8Array(bytes)) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

/** UTF-8 bytes. */
export const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** Base64url of the SHA-256 of bytes. */
export const sha256 = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  base64url(await crypto.subtle.digest('SHA-256', bytes));

/** `length` random bytes in base64url. */
export const randomText = (length: number): string => base64url(crypto.getRandomValues(new Uint8Array(length)));
