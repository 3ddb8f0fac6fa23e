import { type OutgoingSms, SendError, type SmsSender } from '../domain/delivery/sender.ts';

const timeoutMs = 10_000;

/**
 * SMS through an HTTP gateway of the operator's: `POST` with the JSON `{"to": "+491700000000", "text": "…"}`. Any 2xx
 * means accepted, 4xx but 408 and 429 is final, everything else is tried again. A user and password in the address
 * are sent as Basic authentication.
 */
export function gatewaySms(url: string): SmsSender {
  const { address, headers } = withoutCredentials(url);
  return {
    kind: 'sms-gateway',
    send: (sms: OutgoingSms) =>
      post(address, { ...headers, 'Content-Type': 'application/json' }, JSON.stringify({ to: sms.to, text: sms.text })),
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
  return {
    kind: 'twilio',
    send: (sms: OutgoingSms) => {
      const form = new URLSearchParams({ To: sms.to, Body: sms.text });
      form.set(from.startsWith('MG') ? 'MessagingServiceSid' : 'From', from);
      return post(address, headers, form.toString());
    },
  };
}

async function post(address: string, headers: Record<string, string>, body: string): Promise<void> {
  let response: Response;
  try {
    response = await fetch(address, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (cause) {
    throw new SendError(`SMS gateway ${reasonOf(cause)}`, false);
  }
  // The answer's body is not read: it may be endless, and it may repeat the message.
  await response.body?.cancel();
  if (response.ok) return;
  const { status } = response;
  throw new SendError(`SMS gateway answered ${status}`, status >= 400 && status < 500 && ![408, 429].includes(status));
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
