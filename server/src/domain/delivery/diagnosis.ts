/** Stages of a sender's test, in order; a stage runs only if the one before passed. */
export type StageName = 'settings' | 'dns' | 'connect' | 'tls' | 'sign-in' | 'send' | 'reach' | 'authorise' | 'accept';

export interface Stage {
  name: StageName;
  /** `skipped`: nothing to do; advice may still apply. */
  state: 'passed' | 'failed' | 'skipped' | 'not-reached';
  milliseconds: number | null;
  /** Observed detail: an address, a protocol, the server's reply. */
  detail: string | null;
  /** The remedy, as a sentence. */
  advice: string | null;
}

/** The reason why a stage failed. */
export type Fault = keyof typeof advice;

const advice = {
  'not-set': 'Set SMTP_URL and MAIL_FROM (for SMS: SMS_URL or the three TWILIO_… settings), then restart Latchkey.',
  'name-unknown': 'The host name does not resolve. Check the setting and this machine’s DNS resolver.',
  'resolver-silent': 'The DNS resolver did not respond. Check /etc/resolv.conf and the network.',
  refused: 'Connection refused. Check host and port; common ports are 587 (smtp://), 465 (smtps://) and 25.',
  unreachable: 'No route to this address. Check routes, and firewalls that block outgoing mail.',
  silent:
    'Connection timed out. A firewall probably drops packets to this port; many hosts block port 25. Try 587 or 465.',
  'no-greeting':
    'The server accepted the connection and sent no greeting. An implicit TLS port, such as 465, needs smtps:// in SMTP_URL.',
  closed:
    'The server closed the connection. It may block this machine’s address, or expect another protocol on this port.',
  'plain-port': 'The server did not respond with TLS. A STARTTLS port, such as 587 or 25, needs smtp:// in SMTP_URL.',
  'certificate-untrusted':
    'The server’s certificate is not from a trusted authority. Install one that is, or add the authority with NODE_EXTRA_CA_CERTS.',
  'certificate-name': 'The certificate is for another host name. Use that name as the host in SMTP_URL.',
  'certificate-expired': 'The server’s certificate has expired. Its operator must renew it.',
  'tls-failed': 'The TLS handshake failed. Check that the server supports TLS 1.2 or newer.',
  unencrypted: 'Passwords and codes are sent unencrypted. Use smtps://, or a server with STARTTLS.',
  'credentials-rejected':
    'User name or password is wrong. Percent-encode characters such as @ : / in SMTP_URL; some providers require an app password.',
  'no-credentials': 'The server requires authentication. Add user name and password to SMTP_URL.',
  'sender-rejected': 'The server rejected the sender MAIL_FROM. Use an address of your account or domain.',
  'recipient-rejected':
    'The server rejected the recipient. Check the address, and whether your account may send to other domains.',
  'message-rejected': 'The server accepted the addresses and rejected the message. See its reply for the reason.',
  busy: 'The server asks to retry later (greylisting or a rate limit). Latchkey retries real messages automatically.',
  'gateway-away': 'The gateway is unreachable. Check the host in SMS_URL, its certificate and your firewall.',
  'gateway-credentials':
    'The gateway rejected the credentials. Check user name and password in SMS_URL (or TWILIO_ACCOUNT_SID and TWILIO_AUTH_TOKEN).',
  'gateway-refused':
    'The gateway rejected the message. Check the number and, with Twilio, TWILIO_FROM and the allowed countries.',
  'gateway-broken':
    'The gateway failed. Latchkey retries real messages automatically; if it persists, ask the gateway’s operator.',
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

/** Adds the stages that were not reached. */
export function completed(stages: readonly Stage[], all: readonly StageName[]): Stage[] {
  const rest = all.filter((name) => !stages.some((stage) => stage.name === name));
  const unreached = { state: 'not-reached', milliseconds: null, detail: null, advice: null } as const;
  return [...stages, ...rest.map((name) => ({ name, ...unreached }))];
}

/** A server's reply as one line, truncated. */
function shown(text: string | null): string | null {
  return text === null
    ? null
    : text
        .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
        .trim()
        .slice(0, 300) || null;
}
