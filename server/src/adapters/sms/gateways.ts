import { completed, failed, passed, type Stage } from '../../domain/delivery/diagnosis.ts';
import { type OutgoingSms, SendError, type SmsSender } from '../../domain/delivery/sender.ts';

/** Longer than a gateway takes: giving up earlier sends the message, and its bill, a second time. */
const sendTimeoutMs = 60_000;
/** An admin waits for the result of a test. */
const testTimeoutMs = 10_000;

/**
 * SMS through the operator's HTTP gateway: `POST` with the JSON `{"to": "+491700000000", "text": "…"}`. 2xx means
 * accepted, 4xx except 408 and 429 is permanent, anything else is retried. Credentials in the URL are sent as Basic
 * authentication.
 */
export function gatewaySms(url: string): SmsSender {
  const { address, headers } = withoutCredentials(url);
  const requestFor = (sms: OutgoingSms): GatewayRequest => ({
    address,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ to: sms.to, text: sms.text }),
  });
  return {
    kind: 'sms-gateway',
    target: new URL(address).host,
    send: (sms) => post(requestFor(sms)),
    diagnose: (sms) => diagnose(requestFor(sms)),
  };
}

export interface TwilioOptions {
  accountSid: string;
  authToken: string;
  /** The sender's number, or the id of a messaging service (`MG…`). */
  from: string;
  /** For tests. */
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
  const requestFor = (sms: OutgoingSms): GatewayRequest => {
    const form = new URLSearchParams({ To: sms.to, Body: sms.text });
    form.set(from.startsWith('MG') ? 'MessagingServiceSid' : 'From', from);
    return { address, headers, body: form.toString() };
  };
  return {
    kind: 'twilio',
    from,
    target: new URL(address).host,
    send: (sms) => post(requestFor(sms)),
    diagnose: (sms) => diagnose(requestFor(sms)),
  };
}

interface GatewayRequest {
  address: string;
  headers: Record<string, string>;
  body: string;
}

async function post(request: GatewayRequest): Promise<void> {
  const response = await statusOf(request, sendTimeoutMs);
  if (response.status === null) throw new SendError(`SMS gateway ${response.reason}`, false);
  const { status } = response;
  if (status >= 200 && status < 300) return;
  throw new SendError(`SMS gateway answered ${status}`, status >= 400 && status < 500 && ![408, 429].includes(status));
}

/** The stages `reach`, `authorise` and `accept`, derived from the status. */
async function diagnose(request: GatewayRequest): Promise<Stage[]> {
  const begin = performance.now();
  const response = await statusOf(request, testTimeoutMs);
  const took = Math.round(performance.now() - begin);
  const all = ['reach', 'authorise', 'accept'] as const;
  if (response.status === null) return completed([failed('reach', took, 'gateway-away', response.reason)], all);
  const { status } = response;
  const detail = `HTTP ${status}`;
  const reached = passed('reach', took, new URL(request.address).host);
  if (status === 401 || status === 403) {
    return completed([reached, failed('authorise', 0, 'gateway-credentials', detail)], all);
  }
  const authorised = passed('authorise', 0);
  if (status >= 200 && status < 300) return [reached, authorised, passed('accept', 0, detail)];
  const fault =
    status === 429 || status === 408 ? 'busy' : status >= 400 && status < 500 ? 'gateway-refused' : 'gateway-broken';
  return [reached, authorised, failed('accept', 0, fault, detail)];
}

async function statusOf(
  { address, headers, body }: GatewayRequest,
  timeoutMs: number,
): Promise<{ status: number } | { status: null; reason: string }> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(address, { method: 'POST', headers, body, redirect: 'manual', signal });
    // The body is not read: it may be endless, and it may repeat the message.
    await response.body?.cancel();
    return { status: response.status };
  } catch (cause) {
    return { status: null, reason: reasonOf(cause, timeoutMs) };
  }
}

function reasonOf(cause: unknown, timeoutMs: number): string {
  if (!(cause instanceof Error)) return 'failed';
  if (cause.name === 'TimeoutError') return `did not respond within ${timeoutMs} ms`;
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
