import type { Request } from 'express';

/** The cookie that holds a set-up link's token while its holder signs in: 15 minutes, as the link itself. */
export function setupCookie(issuer: string): { name: string; write(token: string): string } {
  const secure = issuer.startsWith('https:');
  const name = secure ? '__Host-latchkey-setup' : 'latchkey-setup';
  return {
    name,
    write: (token) => `${name}=${token}; Path=/; Max-Age=900; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
  };
}

/** One cookie of a request, as it was sent; of two with one name, none is believed. */
export function readCookie(req: Request, name: string): string | undefined {
  const values = (req.get('cookie') ?? '').split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    return pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}
