import type { AuditEntry } from '../audit/audit.ts';
import type { EventType } from '../audit/event-types.ts';
import type { Actor } from '../kernel/actor.ts';

/** An organization in events. */
interface Named {
  project: { id: string };
  id: string;
  name: string;
}

/** Detail of each event of an organization: by `organizationId`, the audit log finds them. */
const inOrganization = ({ id, name }: Pick<Named, 'id' | 'name'>) => ({
  organizationId: id,
  organization: name,
});

/** An event about an organization. */
export function ofOrganization(
  type: EventType,
  organization: Named,
  actor: Actor,
  detail: Record<string, unknown> = {},
): AuditEntry {
  const { project, id, name } = organization;
  const subject = { kind: 'organization', id, name };
  return { type, actor, projectId: project.id, subject, detail: { ...detail, ...inOrganization(organization) } };
}

/** An event about something in an organization: a member, an invitation, a domain. */
export function inside(
  type: EventType,
  organization: Named,
  { subject, actor, detail = {} }: { subject: NonNullable<AuditEntry['subject']>; actor: Actor; detail?: object },
): AuditEntry {
  const { project } = organization;
  return { type, actor, projectId: project.id, subject, detail: { ...detail, ...inOrganization(organization) } };
}
