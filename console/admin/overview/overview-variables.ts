import type { AuditEventFilter, OverviewPageQueryVariables } from '../generated/types.ts';
import { settings } from '../settings.ts';

const filters = {
  signIns: { types: ['user.signed_in'] },
  mailTests: { types: ['sender.tested'], result: 'SUCCESS', subjectId: 'mail' },
  rejected: { types: ['otp.rejected', 'mfa.rejected', 'device.proof_rejected', 'passkey.rejected'] },
  smsLimits: { types: ['sms.limit_reached'] },
} satisfies Record<string, AuditEventFilter>;

/** Of the overview alone. */
export const overviewPart = (projectId: string) => ({ projectId, ...filters });

/** Of all that the page of the overview requests. */
export const overviewVariables = (projectId: string): OverviewPageQueryVariables => ({
  ...overviewPart(projectId),
  isOwner: settings.isOwner,
});
