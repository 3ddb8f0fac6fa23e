import { describe, expect, it } from 'vitest';
import { clientFields } from '../../domain/clients/client.resource.ts';
import { webhookFields } from '../../domain/webhooks/webhook.resource.ts';
import { changesSensitive, creationOf, settingsIn, viewOf } from './resource-types.ts';

describe('a change of a declared setting', () => {
  it.each([
    ['a flag', { dpopRequired: false }, true],
    ['a list of addresses', { redirectUris: [] }, true],
    ['null that clears', { jwksUri: null }, true],
    ['null that means absent', { dpopRequired: null }, false],
    ['rights', { adminScopes: ['users:read'] }, true],
    ['the end of all rights', { adminScopes: [] }, false],
    ['a name', { name: 'Shop' }, false],
    ['a setting without a column', { disabled: false }, true],
    ['nothing', { id: 'x', expectedVersion: 1 }, false],
  ])('needs a fresh sign-in if it is sensitive: %s', (_, inputs, isSensitive) => {
    expect(changesSensitive(clientFields, inputs)).toBe(isSensitive);
  });

  it('is read under its name in the API, and null only where it clears a setting', () => {
    const input = { logoutTokenTyp: 'logout', jwks: null, name: null, builtIn: 'console' };
    expect(settingsIn(clientFields, input)).toEqual({ logoutTokenType: 'logout', jwks: null });
  });
});

it('shows no secret and no address of a webhook, and accepts neither a secret nor a state at its creation', () => {
  expect(Object.keys(viewOf(webhookFields))).toEqual(['description', 'types']);
  expect(Object.keys(creationOf(webhookFields))).toEqual(['url', 'description', 'types']);
});
