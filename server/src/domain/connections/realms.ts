import { type Executing, query, sql } from '../kernel/sql.ts';
import { domainOfAddress } from '../users/login.ts';
import { isUsable } from './usable.ts';

/** A connection of an organization by which people can sign in. */
export interface OrganizationConnection {
  id: string;
  name: string;
  organizationId: string;
}

/** Connections of an organization that a page offers. */
const maxOffered = 10;

/** The connections of an organization, oldest first. */
export function connectionsOf(
  on: Executing,
  projectId: string,
  organizationId: string,
): Promise<OrganizationConnection[]> {
  return query(
    on,
    sql<OrganizationConnection>`select c.id, c.name, c.organization_id as "organizationId" from connections c
      where c.project_id = ${projectId}::uuid and c.organization_id = ${organizationId}::uuid and ${isUsable}
      order by c.id limit ${maxOffered}::int`,
    { prepare: 'connections.of-organization' },
  );
}

/** A connection, and whether its organization requires one. */
export type Realm = OrganizationConnection & { isRequired: boolean };

/** The first connection of the organization that has verified the domain of the address. */
export async function realmOf(on: Executing, projectId: string, address: string): Promise<Realm | null> {
  const domain = domainOfAddress(address);
  if (domain === null) return null;
  const [realm] = await query(
    on,
    sql<Realm>`select c.id, c.name, c.organization_id as "organizationId",
        owner.sign_in = 'connection' as "isRequired"
      from organization_domains d
        join organizations owner on owner.project_id = d.project_id and owner.id = d.organization_id
        join connections c on c.project_id = d.project_id and c.organization_id = d.organization_id
      where d.project_id = ${projectId}::uuid and d.domain = ${domain}::text and d.state = 'verified' and ${isUsable}
      order by c.id limit 1`,
    { prepare: 'connections.realm' },
  );
  return realm ?? null;
}

/** Organizations whose connection needs no answer in a flow: it has answered already, or failed where a mail code may replace it. */
export interface Excused {
  answered: string | null;
  failed: string | null;
}

const notExcused: Excused = { answered: null, failed: null };

/**
 * @param request `connectingId`: an answer that waits until the person has proved an account (decisions/0387)
 */
export async function excusedIn(
  on: Executing,
  request: {
    project: { id: string };
    connectingId?: string | null | undefined;
    failedConnectionId?: string | null | undefined;
  },
  now: Date,
): Promise<Excused> {
  const { connectingId = null, failedConnectionId = null, project } = request;
  if (connectingId === null && failedConnectionId === null) return notExcused;
  const [row] = await query(
    on,
    sql<Excused>`select
      (select c.organization_id from upstream_requests r join connections c on c.project_id = r.project_id and c.id = r.connection_id
        where r.project_id = ${project.id}::uuid and r.id = ${connectingId}::uuid and r.result is not null and r.linked_at is null
          and r.expires_at > ${now}::timestamptz and ${isUsable}) as answered,
      (select c.organization_id from connections c
          join organizations own on own.project_id = c.project_id and own.id = c.organization_id and own.fallback
        where c.project_id = ${project.id}::uuid and c.id = ${failedConnectionId}::uuid and ${isUsable}) as failed`,
    { prepare: 'connections.excused' },
  );
  return row ?? notExcused;
}
