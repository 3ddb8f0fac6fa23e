import type { Locale } from './locale.ts';

/** The content of a message. Values are plain text; they are escaped when they become HTML. */
export type MessageContent =
  | { template: 'sign-in-code'; app: string; code: string; minutes: number }
  | { template: 'factor-code'; app: string; code: string; minutes: number }
  | { template: 'phone-code'; app: string; code: string; minutes: number }
  | { template: 'email-code'; app: string; code: string; minutes: number }
  | { template: 'phone-changed'; app: string; ending: string; at: string }
  | { template: 'email-changed'; app: string; email: string; at: string }
  | { template: 'login-changed'; app: string; change: 'email' | 'phone' | 'both'; at: string }
  | { template: 'account-moved'; app: string; organization: string; at: string }
  | { template: 'new-device'; app: string; device: string; at: string }
  | { template: 'passkey-changed'; app: string; change: 'added' | 'removed'; passkey: string; at: string }
  | { template: 'identity-changed'; app: string; change: 'linked' | 'unlinked'; provider: string; at: string }
  | { template: 'factor-changed'; app: string; change: FactorChange; method: FactorName; at: string }
  | { template: 'recovery-code-used'; app: string; left: number; at: string }
  | { template: 'recovery-codes-renewed'; app: string; at: string }
  | { template: 'recovery-granted'; app: string; from: string; until: string; cancelUrl: string; at: string }
  | { template: 'recovery-used'; app: string; at: string }
  | { template: 'impersonation'; app: string; client: string; reason: string; at: string }
  | { template: 'deletion-requested'; app: string; until: string; cancelUrl: string; at: string }
  | { template: 'deletion-cancelled'; app: string; at: string }
  | { template: 'account-deleted'; app: string; at: string }
  | { template: 'invitation'; app: string; url: string; at: string }
  | { template: 'organization-invitation'; app: string; organization: string; url: string; until: string; at: string }
  | { template: 'portal-link'; app: string; organization: string; url: string; until: string; at: string }
  | { template: 'sign-up-approved'; app: string; url: string; at: string }
  | { template: 'sign-up-requests'; app: string; count: number; url: string; at: string }
  | { template: 'admin-invitation'; app: string; role: AdminRole; url: string; at: string }
  | { template: 'scim-token-expiring'; app: string; token: string; days: number; at: string }
  | { template: 'certificate-expiring'; app: string; connection: string; days: number; at: string }
  | { template: 'webhook-disabled'; app: string; webhook: string; since: string; at: string }
  | DomainContent<'domain-failing'>
  | DomainContent<'domain-lost'>
  | { template: 'test-message'; app: string; at: string };

/** Templates that carry a one-time code; every other one is a notice. */
export const codeTemplates: readonly string[] = [
  'sign-in-code',
  'factor-code',
  'phone-code',
  'email-code',
] satisfies Extract<MessageContent, { code: string }>['template'][];

type AdminRole = 'owner' | 'project_admin' | 'project_viewer' | 'organization_admin';
type FactorChange = 'added' | 'replaced' | 'removed';

interface DomainContent<T extends string> {
  template: T;
  app: string;
  domain: string;
  /** No record with the challenge, or no answer of the name servers. */
  fault: 'missing' | 'unavailable';
  since: string;
  until: string;
  at: string;
}

type FactorName = 'email' | 'sms' | 'totp';

/** The texts of a message: its code, if any, comes after `before`. */
export interface Wording {
  subject: string;
  before: string[];
  after: string[];
}

/** Instants are ISO 8601, and are shown in UTC. */
export function timeIn(locale: Locale, at: string): string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return `${format.format(new Date(at))} UTC`;
}
