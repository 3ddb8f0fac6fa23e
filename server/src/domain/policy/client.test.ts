import { describe, expect, it } from 'vitest';
import { canOmitPkce, lacksNonce, mayOmitPkce, needsProof, needsPush } from './client.ts';

const open = {
  tokenEndpointAuthMethod: 'client_secret_basic',
  pkceOptional: false,
  dpopRequired: false,
  dpopNonceRequired: false,
  pushedRequestsRequired: false,
  fapiProfile: false,
};

describe('a client', () => {
  it.each([
    ['nothing', {}, { proof: false, push: false, nonce: false, canOmit: true, mayOmit: false }],
    ['DPoP', { dpopRequired: true }, { proof: true }],
    ['nonces', { dpopNonceRequired: true }, { nonce: true, proof: false }],
    ['PAR', { pushedRequestsRequired: true }, { push: true }],
    ['no PKCE', { pkceOptional: true }, { mayOmit: true }],
    ['no PKCE, in vain: it is public', { pkceOptional: true, tokenEndpointAuthMethod: 'none' }, { canOmit: false }],
    ['FAPI', { fapiProfile: true, pkceOptional: true }, { proof: true, push: true, canOmit: false, mayOmit: false }],
  ])('that asks for %s', (_, settings, expected) => {
    const client = { ...open, ...settings };
    expect({
      proof: needsProof(client),
      push: needsPush(client),
      nonce: lacksNonce(client, { hasNonce: false }),
      canOmit: canOmitPkce(client),
      mayOmit: mayOmitPkce(client),
    }).toMatchObject(expected);
    expect(lacksNonce(client, { hasNonce: true })).toBe(false);
    expect(mayOmitPkce(client) && !canOmitPkce(client)).toBe(false);
  });
});
