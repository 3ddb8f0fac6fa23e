import { createHmac } from 'node:crypto';
import type { Random } from '../kernel/random.ts';

/** Lets receivers and secret scanners recognize signing secrets (Standard Webhooks). */
const prefix = 'whsec_';

/** A signing secret: `whsec_` and 32 random bytes in base64. */
export function newSigningSecret(random: Random): string {
  return prefix + Buffer.from(random.bytes(32)).toString('base64');
}

/** One POST of an event. */
export interface SignedMessage {
  /** The same in all attempts and at all webhooks: the id of the event. */
  id: string;
  /** Unix time of the attempt. */
  timestampSeconds: number;
  body: string;
}

/**
 * The headers of a message (Standard Webhooks): id, timestamp, and an HMAC-SHA256 over both and the body with each secret.
 *
 * @param secrets the current one first; the previous one while both are valid
 */
export function signedHeaders(
  { id, timestampSeconds, body }: SignedMessage,
  secrets: readonly string[],
): Record<string, string> {
  const signed = `${id}.${timestampSeconds}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
}
