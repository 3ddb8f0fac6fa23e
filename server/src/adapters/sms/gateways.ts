import { completed, failed, passed, type Stage } from '../../domain/delivery/diagnosis.ts';
import { type OutgoingSms, SendError, type SmsSender } from '../../domain/delivery/sender.ts';

const timeoutMs = 10_000;

/**
 * SMS through an HTTP gateway of the operator's: `POST` with the JSON `{"to": "+491700000000", "text": "…"}`. Any 2xx
 * means accepted, 4xx but 408 and 429 is final, everything else is tried again. A user and password in the address
 * are sent as Basic authentication.
 */
export function gatewaySms(url: string): SmsSender {
  const { address, headers } = withoutCredentials(url);
  const asked = (sms: OutgoingSms): Asked => ({
    address,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ to: sms.to, text: sms.text }),
  });
  return {
    kind: 'sms-gateway',
    target: new URL(address).host,
    send: (sms) => post(asked(sms)),
    diagnose: (sms) => diagnose(asked(sms)),
  };
}

export interface TwilioOptions {
  accountSid: string;
  authToken: string;
  /** The sending number, or a messaging service's id (`MG…`). */
  from: string;
  /** Another address of the same API, for tests. */
  baseUrl?: string;
}

/** SMS through Twilio's Messages resource. */
export function twilioSms({
  accountSid,
  authToken,
  from,
  baseUrl = 'https://api.twilio.com',
}: TwilioOptions): SmsSender {
  const address = `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/Messages.json`;
  const headers = {
    Authorization: basic(accountSid, authToken),
    'Content-Type': 'application/x-www-form-urlencoded',
  };
  const asked = (sms: OutgoingSms): Asked => {
    const form = new URLSearchParams({ To: sms.to, Body: sms.text });
    form.set(from.startsWith('MG') ? 'MessagingServiceSid' : 'From', from);
    return { address, headers, body: form.toString() };
  };
  return {
    kind: 'twilio',
    from,
    target: new URL(address).host,
    send: (sms) => post(asked(sms)),
    diagnose: (sms) => diagnose(asked(sms)),
  };
}

interface Asked {
  address: string;
  headers: Record<string, string>;
  body: string;
}

async function post(asked: Asked): Promise<void> {
  const outcome = await statusOf(asked);
  if (outcome.status === null) throw new SendError(`SMS gateway ${outcome.reason}`, false);
  const { status } = outcome;
  if (status >= 200 && status < 300) return;
  throw new SendError(`SMS gateway answered ${status}`, status >= 400 && status < 500 && ![408, 429].includes(status));
}

/** Reached, authorised, accepted: as far as a status tells them apart. */
async function diagnose(asked: Asked): Promise<Stage[]> {
  const begin = performance.now();
  const outcome = await statusOf(asked);
  const took = Math.round(performance.now() - begin);
  const all = ['reach', 'authorise', 'accept'] as const;
  if (outcome.status === null) return completed([failed('reach', took, 'gateway-away', outcome.reason)], all);
  const { status } = outcome;
  const said = `HTTP ${status}`;
  const reached = passed('reach', took, new URL(asked.address).host);
  if (status === 401 || status === 403) {
    return completed([reached, failed('authorise', 0, 'gateway-credentials', said)], all);
  }
  const authorised = passed('authorise', 0);
  if (status >= 200 && status < 300) return [reached, authorised, passed('accept', 0, said)];
  const fault =
    status === 429 || status === 408 ? 'busy' : status >= 400 && status < 500 ? 'gateway-refused' : 'gateway-broken';
  return [reached, authorised, failed('accept', 0, fault, said)];
}

async function statusOf({
  address,
  headers,
  body,
}: Asked): Promise<{ status: number } | { status: null; reason: string }> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(address, { method: 'POST', headers, body, redirect: 'manual', signal });
    // The answer's body is not read: it may be endless, and it may repeat the message.
    await response.body?.cancel();
    return { status: response.status };
  } catch (cause) {
    return { status: null, reason: reasonOf(cause) };
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'failed';
  if (cause.name === 'TimeoutError') return `gave no answer within ${timeoutMs} ms`;
  const { code } = (cause.cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : 'failed';
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

function withoutCredentials(url: string): { address: string; headers: Record<string, string> } {
  const parsed = new URL(url);
  const { username, password } = parsed;
  parsed.username = '';
  parsed.password = '';
  const headers: Record<string, string> = {};
  if (username) headers['Authorization'] = basic(decodeURIComponent(username), decodeURIComponent(password));
  return { address: parsed.href, headers };
}
