import type { EntityManager } from '@mikro-orm/postgresql';
import { query, type Sql, sql } from '../kernel/statement.ts';
import { contactsOf, foldCase } from '../users/login.ts';
import type { User } from '../users/user.entity.ts';

/** One kind of what is held about a person. Rows have an `id`, by which it is read a few hundred at a time. */
interface Section {
  name: string;
  /** Selects from where the rows of this person are; without what is no more than a secret's hash. */
  rows(user: User): Sql;
}

const events = (user: User, condition: Sql, own: Sql) => sql`
  select e.id, e.at, e.type, e.result, e.actor_kind as "actorKind", e.actor_name as "actorName",
    e.subject_kind as "subjectKind", e.subject_id as "subjectId", e.client_id as "clientId", e.detail,
    case when ${own} then e.ip end as ip, case when ${own} then e.user_agent end as "userAgent"
  from audit_events e
  where e.project_id = ${user.project.id} and ${condition}`;

/** Everything but the profile, in the order of the file. */
const sections: readonly Section[] = [
  {
    name: 'groups',
    rows: ({ id }) => sql`
      select g.id, g.display_name as "displayName", g.external_id as "externalId", m.created_at as "since"
      from group_members m join groups g on g.id = m.group_id where m.user_id = ${id}`,
  },
  {
    name: 'sessions',
    rows: ({ id }) => sql`
      select s.id, s.amr, s.auth_time as "authTime", s.created_at as "createdAt", s.last_seen_at as "lastSeenAt",
        s.fresh_at as "freshAt", s.expires_at as "expiresAt", s.ended_at as "endedAt", s.end_reason as "endReason", s.device_id as "deviceId",
        s.ip, s.user_agent as "userAgent",
        (select json_agg(json_build_object('clientId', p.client_id, 'firstAt', p.first_at, 'lastAt', p.last_at))
         from participations p where p.session_id = s.id) as applications
      from sessions s where s.user_id = ${id}`,
  },
  {
    name: 'devices',
    rows: ({ id }) => sql`
      select d.id, d.name, d.client_id as "clientId", d.jkt as "keyThumbprint", d.user_agent as "userAgent",
        d.trusted_until as "trustedUntil", d.registered_at as "registeredAt",
        d.mfa_remembered_at as "mfaRememberedAt", d.mfa_remembered_until as "mfaRememberedUntil",
        d.created_at as "createdAt", d.last_used_at as "lastUsedAt", d.revoked_at as "revokedAt"
      from devices d where d.user_id = ${id}`,
  },
  {
    // The network itself is not kept, but a keyed hash of it.
    name: 'knownNetworks',
    rows: ({ id }) => sql`
      select md5(n.network)::uuid as id, n.last_at as "lastAt" from known_networks n where n.user_id = ${id}`,
  },
  {
    name: 'secondFactors',
    rows: ({ id }) => sql`
      select f.id, f.method, f.phone, f.failures, f.locked_until as "lockedUntil", f.created_at as "createdAt",
        f.verified_at as "verifiedAt", f.last_used_at as "lastUsedAt"
      from enrolments f where f.user_id = ${id}`,
  },
  {
    name: 'recoveryCodes',
    rows: ({ id }) => sql`
      select c.id, c.created_at as "createdAt", c.used_at as "usedAt" from recovery_codes c where c.user_id = ${id}`,
  },
  {
    name: 'factorChanges',
    rows: ({ id }) => sql`
      select c.id, c.client_id as "clientId", c.attempts, c.created_at as "createdAt", c.expires_at as "expiresAt",
        c.finished_at as "finishedAt"
      from factor_changes c where c.user_id = ${id}`,
  },
  {
    name: 'phoneChanges',
    rows: ({ id }) => sql`
      select c.id, c.phone, c.created_at as "createdAt", c.expires_at as "expiresAt"
      from phone_changes c where c.user_id = ${id}`,
  },
  {
    name: 'authorizationCodes',
    rows: ({ id }) => sql`
      select c.id, c.client_id as "clientId", c.session_id as "sessionId", c.scope, c.created_at as "createdAt",
        c.used_at as "usedAt", c.revoked_at as "revokedAt"
      from authorization_codes c where c.user_id = ${id}`,
  },
  {
    name: 'signInsUnderWay',
    rows: (user) => sql`
      select c.id, c.client_id as "clientId", c.state, c.origin, c.address, c.evidence, c.created_at as "createdAt",
        c.expires_at as "expiresAt", c.finished_at as "finishedAt"
      from ceremonies c
      where c.project_id = ${user.project.id} and (c.user_id = ${user.id} or c.account_id = ${user.id}
        or (coalesce(c.user_id, c.account_id) is null and c.address = any(${addressesOf(user)}::text[])))`,
  },
  {
    name: 'oneTimeCodes',
    rows: ({ id, project }) => sql`
      select c.id, c.client_id as "clientId", c.purpose, c.address, c.sent_to as "sentTo", c.attempts,
        c.created_at as "createdAt", c.expires_at as "expiresAt", c.used_at as "usedAt"
      from one_time_codes c where c.project_id = ${project.id} and c.user_id = ${id}`,
  },
  {
    name: 'messages',
    rows: (user) => sql`
      select m.id, m.channel, m.template, m.recipient, m.locale, m.state, m.note, m.created_at as "createdAt",
        m.sent_at as "sentAt"
      from messages m
      where m.project_id = ${user.project.id} and m.recipient = any(${recipientsOf(user)}::text[])`,
  },
  {
    name: 'logoutDeliveries',
    rows: ({ id, project }) => sql`
      select l.id, l.client_id as "clientId", l.sid, l.uri, l.state, l.created_at as "createdAt",
        l.delivered_at as "deliveredAt"
      from logout_deliveries l where l.project_id = ${project.id} and l.subject = ${id}`,
  },
  {
    name: 'directoryRequests',
    rows: ({ id, project }) => sql`
      select r.id, r.at, r.token_name as "tokenName", r.method, r.path, r.status, r.detail,
        r.request_body as "requestBody", r.response_body as "responseBody"
      from scim_request_records r where r.project_id = ${project.id} and r.resource_id = ${id}`,
  },
  {
    name: 'adminRoles',
    rows: ({ id }) => sql`
      select m.id, m.role, m.project_id as "projectId", m.created_at as "createdAt"
      from memberships m where m.user_id = ${id}`,
  },
  {
    name: 'adminTokens',
    rows: ({ id }) => sql`
      select t.id, t.name, t.role, t.project_id as "projectId", t.created_at as "createdAt",
        t.expires_at as "expiresAt", t.last_used_at as "lastUsedAt", t.revoked_at as "revokedAt"
      from admin_tokens t where t.created_by_id = ${id}`,
  },
  // Whence somebody else did something about them is that person's own.
  {
    name: 'eventsAbout',
    rows: (user) =>
      events(
        user,
        sql`e.subject_id = ${user.id}`,
        sql`(e.actor_kind = 'anonymous' or e.actor_id = ${user.id} and e.actor_kind = 'user')`,
      ),
  },
  {
    name: 'eventsBy',
    rows: (user) => events(user, sql`e.actor_id = ${user.id} and e.subject_id is distinct from ${user.id}`, sql`true`),
  },
];

const pageSize = 500;

/**
 * Everything that is held about a person, as the text of one JSON object (data protection law gives them a right to
 * it). Secrets are not in it: what is stored of them is a hash, or sealed. Read piece by piece, never held whole.
 */
export async function* personExport(reader: () => EntityManager, user: User, about: object): AsyncGenerator<string> {
  const { id, userName, externalId, displayName, givenName, familyName, email, phone } = user;
  const { active, provenance, attributes, createdAt, updatedAt, lastSignInAt } = user;
  const names = { id, userName, externalId, displayName, givenName, familyName, email, phone };
  const profile = { ...names, active, provenance, createdAt, updatedAt, lastSignInAt, attributes };
  yield `${JSON.stringify({ ...about, profile }, null, 2).slice(0, -2)}`;
  for (const { name, rows } of sections) {
    yield `,\n  ${JSON.stringify(name)}: [`;
    let isFirst = true;
    for await (const row of each(reader, rows(user))) {
      yield `${isFirst ? '' : ','}\n    ${row}`;
      isFirst = false;
    }
    yield isFirst ? ']' : '\n  ]';
  }
  yield '\n}\n';
}

/** What would be lost with the person, in numbers. */
export async function countHoldings(em: EntityManager, user: User): Promise<Map<string, number>> {
  const counts = sections.map(
    ({ name, rows }) => sql`select ${name}::text as name, count(*) as count from (${rows(user)}) t`,
  );
  const text = counts.map((one) => one.text).join(' union all ');
  const found = await query<{ name: string; count: string }>(em, {
    text,
    params: counts.flatMap(({ params }) => params),
  });
  return new Map(found.map(({ name, count }) => [name, Number(count)]));
}

async function* each(reader: () => EntityManager, rows: Sql): AsyncGenerator<string> {
  for (let after: string | null = null; ; ) {
    const beyond: Sql = after === null ? sql`` : sql`where t.id > ${after}::uuid`;
    const page: { id: string; row: string }[] = await query(
      reader(),
      sql`select t.id, row_to_json(t)::text as row from (${rows}) t ${beyond} order by t.id limit ${pageSize}`,
    );
    for (const { row } of page) yield row;
    if (page.length < pageSize) return;
    after = page.at(-1)?.id ?? null;
  }
}

/** As a sign-in that is under way knows them. */
function addressesOf({ email, userName }: User): string[] {
  return [email, userName].flatMap((address) => (address == null ? [] : [foldCase(address)]));
}

function recipientsOf(user: User): string[] {
  const values = [user.email, user.phone, ...contactsOf(user.attributes, 'emails').map(({ value }) => value)];
  return [...new Set(values.flatMap((value) => (value ? [value] : [])))];
}
