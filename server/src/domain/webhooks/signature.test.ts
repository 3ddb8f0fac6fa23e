import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../adapters/system/random.ts';
import { newSigningSecret, signedHeaders } from './signature.ts';

describe('a signature (Standard Webhooks)', () => {
  it('matches the published test vector', () => {
    const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampSeconds: 1614265330, body: '{"test": 2432232314}' };
    expect(signedHeaders(message, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('has one signature per secret, separated by a space', () => {
    const message = { id: 'a', timestampSeconds: 1, body: '{}' };
    const [one, two] = [newSigningSecret(systemRandom), newSigningSecret(systemRandom)];
    const alone = [one, two].map((secret) => signedHeaders(message, [secret])['webhook-signature']);
    expect(signedHeaders(message, [one, two])['webhook-signature']).toBe(alone.join(' '));
    expect(new Set(alone).size).toBe(2);
  });

  it('has a secret of 256 random bits', () => {
    const secret = newSigningSecret(systemRandom);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newSigningSecret(systemRandom)).not.toBe(secret);
  });
});
