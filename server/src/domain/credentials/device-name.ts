import { userAgentNames } from '@latchkey/contracts/user-agent';

/** A display name from the `User-Agent` header, e.g. `Firefox on Windows`; no text of the header itself, since mails show it. */
export function deviceName(userAgent: string | undefined): string {
  const { browser, system } = userAgentNames(userAgent ?? '');
  if (!browser) return system ?? 'Browser';
  return system ? `${browser} on ${system}` : browser;
}
