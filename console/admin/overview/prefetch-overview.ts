import { part, prefetch } from '../api.ts';
import { Activity, type AuditEventFilter, Overview, OverviewPage, OwnerCount } from '../generated/operations.ts';
import { settings } from '../settings.ts';

const filters = {
  signIns: { types: ['user.signed_in'] },
  mailTests: { types: ['sender.tested'], result: 'SUCCESS', subjectId: 'mail' },
  rejected: { types: ['otp.rejected', 'mfa.rejected', 'device.proof_rejected', 'passkey.rejected'] },
  smsLimits: { types: ['sms.limit_reached'] },
} satisfies Record<string, AuditEventFilter>;

export const overviewVariables = (projectId: string) => ({ projectId, ...filters });

/** Requests the overview while its script loads, so that the page is rendered once, with its data. */
export function prefetchOverview(projectId: string): Promise<void> {
  const { isOwner } = settings;
  const variables = overviewVariables(projectId);
  const parts = [part(Overview, variables), part(Activity, { projectId })];
  return prefetch(OverviewPage, { ...variables, isOwner }, isOwner ? [...parts, part(OwnerCount, {})] : parts);
}
