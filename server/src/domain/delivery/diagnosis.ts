/** What a test of a sender goes through, in order; each is reached only by the one before. */
export type StageName = 'settings' | 'dns' | 'connect' | 'tls' | 'sign-in' | 'send' | 'reach' | 'authorise' | 'accept';

export interface Stage {
  name: StageName;
  /** `skipped`: there was nothing to do; its advice may still be worth reading. */
  state: 'passed' | 'failed' | 'skipped' | 'not-reached';
  milliseconds: number | null;
  /** Observed detail: an address, a protocol, the server's reply. */
  detail: string | null;
  /** What to do, in a sentence. */
  advice: string | null;
}

/** Why a stage failed, as far as it can be told apart. */
export type Fault = keyof typeof advice;

const advice = {
  'not-set': 'Set SMTP_URL and MAIL_FROM (for SMS: SMS_URL, or the three of TWILIO_…), and start Latchkey again.',
  'name-unknown':
    'Check the host in the setting: the name does not exist, or this machine’s resolver does not know it.',
  'resolver-silent': 'The resolver of this machine did not answer. Check /etc/resolv.conf and the network.',
  refused: 'Nothing listens at this port. Check host and port: usual are 587 (smtp://), 465 (smtps://) and 25.',
  unreachable: 'There is no way to this address. Check routes, and firewalls that refuse outgoing mail.',
  silent: 'No answer. A firewall probably drops packets to this port; many hosts block port 25. Try 587 or 465.',
  'no-greeting':
    'The server took the connection and said nothing. A port that begins with TLS, such as 465, needs smtps:// in SMTP_URL.',
  closed: 'The server hung up. It may refuse this machine’s address, or speak another protocol at this port.',
  'plain-port':
    'The server did not answer with TLS. A port that begins in plain text, such as 587 or 25, needs smtp:// in SMTP_URL.',
  'certificate-untrusted':
    'The server’s certificate is not from an authority that this machine trusts. Install one that is, or name the authority in NODE_EXTRA_CA_CERTS.',
  'certificate-name': 'The certificate is for another name. Use the name that it bears as the host in SMTP_URL.',
  'certificate-expired': 'The server’s certificate has expired: whoever runs the server must renew it.',
  'tls-failed': 'TLS could not be agreed upon. Check that the server offers TLS 1.2 or newer.',
  unencrypted: 'Passwords and codes cross the network in the clear. Use smtps://, or a server that offers STARTTLS.',
  'credentials-rejected':
    'User name or password is wrong. Characters such as @ : / must be percent-encoded in SMTP_URL; some providers want an app password.',
  'no-credentials': 'The server wants a sign-in: put user and password into SMTP_URL.',
  'sender-rejected':
    'The server does not let you send as MAIL_FROM. Use an address that belongs to your account or domain.',
  'recipient-rejected':
    'The server does not deliver to this address. Check it, and whether your account may send outside.',
  'message-rejected': 'The server took the addresses and refused the message. Its own words say why.',
  busy: 'The server wants you to wait (greylisting, a limit). Latchkey tries real messages again by itself.',
  'gateway-away': 'The gateway cannot be reached. Check the host in SMS_URL, its certificate and your firewall.',
  'gateway-credentials':
    'The gateway knows the sender not. Check user and password in SMS_URL (or TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN).',
  'gateway-refused':
    'The gateway refused the message. Check the number and, at Twilio, TWILIO_FROM and the countries that you may send to.',
  'gateway-broken':
    'The gateway failed. Latchkey tries real messages again by itself; ask whoever runs it if it goes on.',
} as const;

export function failed(name: StageName, milliseconds: number, fault: Fault, detail: string | null): Stage {
  return { name, state: 'failed', milliseconds, detail: shown(detail), advice: advice[fault] };
}

export function passed(name: StageName, milliseconds: number, detail: string | null = null): Stage {
  return { name, state: 'passed', milliseconds, detail: shown(detail), advice: null };
}

export function skipped(name: StageName, detail: string, fault?: Fault): Stage {
  return { name, state: 'skipped', milliseconds: null, detail, advice: fault ? advice[fault] : null };
}

/** The stages that were not reached, after those that were. */
export function completed(stages: readonly Stage[], all: readonly StageName[]): Stage[] {
  const rest = all.filter((name) => !stages.some((stage) => stage.name === name));
  const unreached = { state: 'not-reached', milliseconds: null, detail: null, advice: null } as const;
  return [...stages, ...rest.map((name) => ({ name, ...unreached }))];
}

/** A server's words for a page: one line, bounded. */
function shown(text: string | null): string | null {
  return text === null
    ? null
    : text
        .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
        .trim()
        .slice(0, 300) || null;
}
