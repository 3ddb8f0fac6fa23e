import { completed, type Fault, failed, passed, type Stage } from '../../domain/delivery/diagnosis.ts';
import { type OutgoingSms, SendError, type SmsSender } from '../../domain/delivery/sender.ts';
import { noAnswer, post as postTo } from '../http/outbound.ts';

/** Longer than a gateway takes: giving up earlier would send, and bill, the message twice. */
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
  if (response.status === null)
    throw new SendError(`SMS gateway ${response.reason}`, false, { reason: 'gateway-away' });
  const { status } = response;
  if (status >= 200 && status < 300) return;
  const isPermanent = status >= 400 && status < 500 && ![408, 429].includes(status);
  throw new SendError(`SMS gateway answered ${status}`, isPermanent, { reason: gatewayFault(status) });
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
    return completed([reached, failed('authorise', 0, gatewayFault(status), detail)], all);
  }
  const authorised = passed('authorise', 0);
  if (status >= 200 && status < 300) return [reached, authorised, passed('accept', 0, detail)];
  return [reached, authorised, failed('accept', 0, gatewayFault(status), detail)];
}

function gatewayFault(status: number): Fault {
  if (status === 401 || status === 403) return 'gateway-credentials';
  if (status === 429 || status === 408) return 'busy';
  return status >= 400 && status < 500 ? 'gateway-refused' : 'gateway-broken';
}

/** On a new connection: a kept one may have been dropped silently, and the message would wait a minute. */
async function statusOf(
  { address, headers, body }: GatewayRequest,
  timeoutMs: number,
): Promise<{ status: number } | { status: null; reason: string }> {
  const { 'Content-Type': contentType = 'text/plain', ...others } = headers;
  // The operator's own gateway may be in a private network.
  const answer = await postTo(address, body, contentType, { allowPrivate: true, timeoutMs, headers: others });
  if ('status' in answer) return answer;
  return { status: null, reason: answer.error === noAnswer ? `did not respond within ${timeoutMs} ms` : answer.error };
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
