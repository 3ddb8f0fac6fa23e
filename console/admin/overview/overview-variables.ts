import type { AuditEventFilter, OverviewPageQueryVariables } from '../generated/types.ts';
import { settings } from '../settings.ts';

const filters = {
  signIns: { types: ['user.signed_in'] },
  mailTests: { types: ['sender.tested'], result: 'SUCCESS', subjectId: 'mail' },
  rejected: { types: ['otp.rejected', 'mfa.rejected', 'device.proof_rejected', 'passkey.rejected'] },
  smsLimits: { types: ['sms.limit_reached'] },
} satisfies Record<string, AuditEventFilter>;

/** Variables of the query `Overview`. */
export const overviewPart = (projectId: string) => ({ projectId, ...filters });

/** Variables of the query `OverviewPage`, which joins all queries of the page. */
export const overviewVariables = (projectId: string): OverviewPageQueryVariables => ({
  ...overviewPart(projectId),
  isOwner: settings.isOwner,
});
