import { Badge } from '@mantine/core';
import {
  AuditEvents,
  ConnectionById,
  type ConnectionRowFragment,
  Connections,
  OrganizationConnections,
} from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { isFailing } from './health.ts';

/** Lists that a change of a connection affects. */
export const stale = [ConnectionById, Connections, OrganizationConnections, AuditEvents];

const badges = {
  DRAFT: [t('Draft'), 'neutral'],
  TESTED: [t('Tested'), 'note'],
  ENABLED: [t('Enabled'), 'good'],
  DISABLED: [t('Disabled'), 'bad'],
} as const;

export function ConnectionState({ connection }: { connection: ConnectionRowFragment }) {
  const [label, color] = isFailing(connection) ? ([t('Needs attention'), 'note'] as const) : badges[connection.state];
  return <Badge color={color}>{label}</Badge>;
}
