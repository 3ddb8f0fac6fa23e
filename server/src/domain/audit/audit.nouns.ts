import type { Declaration } from '../kernel/nouns/declaration.ts';
import { ActivityDay } from './activity-day.entity.ts';
import { ActivityProgress } from './activity-progress.entity.ts';
import { AuditEvent } from './audit-event.entity.ts';
import { RepeatedRefusal } from './repeated-refusal.entity.ts';
import { RetentionProgress } from './retention-progress.entity.ts';

const events = {
  'audit.archived': ['administration', '{actor} archived expired events'],
  'audit.exported': ['administration', '{actor} exported events'],
  'audit.trimmed': ['administration', '{actor} deleted expired events'],
} as const;

declare module '../kernel/nouns/names.ts' {
  interface Events {
    audit: typeof events;
  }
}

export const auditNouns = {
  events,
  entities: [AuditEvent, RepeatedRefusal, ActivityDay, ActivityProgress, RetentionProgress],
} satisfies Declaration;
