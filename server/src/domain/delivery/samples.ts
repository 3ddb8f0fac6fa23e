import type { MessageContent } from './wording.ts';

export const templateNames = [
  'sign-in-code',
  'factor-code',
  'phone-code',
  'email-code',
  'phone-changed',
  'email-changed',
  'login-changed',
  'new-device',
  'passkey-changed',
  'identity-changed',
  'factor-changed',
  'recovery-code-used',
  'recovery-codes-renewed',
  'recovery-granted',
  'recovery-used',
  'deletion-requested',
  'deletion-cancelled',
  'account-deleted',
  'invitation',
  'organization-invitation',
  'portal-link',
  'sign-up-approved',
  'sign-up-requests',
  'admin-invitation',
  'scim-token-expiring',
  'certificate-expiring',
  'webhook-disabled',
  'domain-failing',
  'domain-lost',
  'test-message',
] as const satisfies MessageContent['template'][];
export type TemplateName = MessageContent['template'];

/** Sample messages for previews and tests of a sender. Their codes are not valid. */
export function sampleOf(template: TemplateName, app: string, now: Date): MessageContent {
  const at = now.toISOString();
  const domain = { app, domain: 'login.example.com', fault: 'unavailable', since: at, until: at, at } as const;
  const samples: { [T in TemplateName]: Extract<MessageContent, { template: T }> } = {
    'sign-in-code': { template: 'sign-in-code', app, code: '123456', minutes: 5 },
    'factor-code': { template: 'factor-code', app, code: '123456', minutes: 5 },
    'phone-code': { template: 'phone-code', app, code: '123456', minutes: 5 },
    'email-code': { template: 'email-code', app, code: '123456', minutes: 5 },
    'phone-changed': { template: 'phone-changed', app, ending: '0143', at },
    'email-changed': { template: 'email-changed', app, email: 'a…@example.com', at },
    'login-changed': { template: 'login-changed', app, change: 'email', at },
    'new-device': { template: 'new-device', app, device: 'Firefox on Linux', at },
    'passkey-changed': { template: 'passkey-changed', app, change: 'added', passkey: 'iCloud Keychain', at },
    'identity-changed': { template: 'identity-changed', app, change: 'linked', provider: 'Google', at },
    'factor-changed': { template: 'factor-changed', app, change: 'added', method: 'totp', at },
    'recovery-code-used': { template: 'recovery-code-used', app, left: 9, at },
    'recovery-codes-renewed': { template: 'recovery-codes-renewed', app, at },
    'recovery-granted': {
      template: 'recovery-granted',
      app,
      from: at,
      until: at,
      cancelUrl: 'https://example.com',
      at,
    },
    'recovery-used': { template: 'recovery-used', app, at },
    'deletion-requested': {
      template: 'deletion-requested',
      app,
      until: at,
      cancelUrl: 'https://example.com',
      at,
    },
    'deletion-cancelled': { template: 'deletion-cancelled', app, at },
    'account-deleted': { template: 'account-deleted', app, at },
    invitation: { template: 'invitation', app, url: 'https://example.com/account', at },
    'organization-invitation': {
      template: 'organization-invitation',
      ...{ app, organization: 'Globex', url: 'https://example.com/account/invitation', until: at, at },
    },
    'portal-link': {
      template: 'portal-link',
      ...{ app, organization: 'Globex', url: 'https://example.com/portal', until: at, at },
    },
    'sign-up-approved': { template: 'sign-up-approved', app, url: 'https://example.com/account', at },
    'sign-up-requests': { template: 'sign-up-requests', app, count: 3, url: 'https://example.com/admin', at },
    'admin-invitation': {
      template: 'admin-invitation',
      app,
      role: 'project_admin',
      url: 'https://example.com/admin',
      at,
    },
    'scim-token-expiring': { template: 'scim-token-expiring', app, token: 'Okta', days: 7, at },
    'certificate-expiring': { template: 'certificate-expiring', app, connection: 'Okta', days: 7, at },
    'webhook-disabled': { template: 'webhook-disabled', app, webhook: 'hooks.example.com', since: at, at },
    'domain-failing': { template: 'domain-failing', ...domain },
    'domain-lost': { template: 'domain-lost', ...domain },
    'test-message': { template: 'test-message', app, at },
  };
  return samples[template];
}
