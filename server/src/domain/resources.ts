import { clientFields } from './clients/client.resource.ts';
import type { Fields } from './kernel/resource.ts';
import { organizationFields } from './organizations/organization.resource.ts';
import { projectFields, sessionPolicyFields } from './projects/project.resource.ts';
import { webhookFields } from './webhooks/webhook.resource.ts';

/** The resources with declared settings, by their names in the admin API. */
export const resources = {
  Project: { ...projectFields, ...sessionPolicyFields },
  Client: clientFields,
  Webhook: webhookFields,
  Organization: organizationFields,
} satisfies Record<string, Fields>;
