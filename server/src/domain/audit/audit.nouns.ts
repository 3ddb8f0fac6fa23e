import type { Declaration } from '../kernel/nouns/declaration.ts';
import { ActivityDay } from './activity-day.entity.ts';
import { ActivityProgress } from './activity-progress.entity.ts';
import { AuditEvent } from './audit-event.entity.ts';
import { RepeatedRefusal } from './repeated-refusal.entity.ts';
import { RetentionProgress } from './retention-progress.entity.ts';

export const auditNouns = {
  entities: [AuditEvent, RepeatedRefusal, ActivityDay, ActivityProgress, RetentionProgress],
} satisfies Declaration;
