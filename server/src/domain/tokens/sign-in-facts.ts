import type { Client } from '../clients/client.entity.ts';
import { type Fragment, sql } from '../kernel/sql.ts';
import { policyColumn } from '../organizations/organization-policy.ts';
import type { OrganizationPolicy } from '../policy/organization.ts';
import {
  asksForFacts,
  meetsClientPolicy,
  meetsSignInPolicy,
  type SessionProof,
  type SignInPolicy,
} from '../policy/session.ts';
import type { Project } from '../projects/project.entity.ts';
import { areUnchanged, toUserFacts, type UserFactsRow, userFacts } from '../sessions/user-facts.ts';

/** The sign-in behind a grant, as far as policies depend on it: the columns of {@link signInFacts}. */
export interface SignInFactsRow extends UserFactsRow {
  /** The version of the session. Of all: null without a session. */
  session_moment: string | null;
  session_passkey_id: string | null;
  session_amr: string[] | null;
  /** The rules of the grant's organization; null: none. Absent: the project has no organizations. */
  organization?: OrganizationPolicy | null;
  /** The last sign-in of the session; absent as above. */
  session_auth_time?: string | null;
  /** See `SessionProof.connected`; absent as above. */
  session_connected?: Record<string, string> | null;
}

/**
 * SQL: columns of session `s` and of the credentials of user `u`, which are read only if the policy depends on them; and the rules
 * of the organization.
 */
export function signInFacts(project: Project, organizationId: Fragment): Fragment {
  const ofOrganization = sql`, s.auth_time as session_auth_time, s.connected as session_connected, (select ${policyColumn} from organizations o
    where o.project_id = ${project.id}::uuid and o.id = ${organizationId}) as organization`;
  return sql`s.moment as session_moment, s.passkey_id as session_passkey_id, s.amr as session_amr,
    ${userFacts(project.id, sql`u.id`, asksForFacts(project))}${project.organizationsEnabled ? ofOrganization : sql``}`;
}

/** How the session was proved; null without a session. */
export function proofOf(row: SignInFactsRow): SessionProof | null {
  const { session_amr: amr, session_connected: connected, session_passkey_id: passkeyId } = row;
  return amr && { passkeyId, amr, connected };
}

/** Whether a sign-in meets the current policies of project, organization and client. @param policy of project and organization */
export function meetsPolicies(
  proof: SessionProof | null,
  user: UserFactsRow,
  client: Pick<Client, 'passkeyRequired'>,
  policy: SignInPolicy,
): boolean {
  return proof !== null && meetsSignInPolicy(proof, toUserFacts(user), policy) && meetsClientPolicy(proof, client);
}

/** SQL condition: session and credentials are as they were read. Joins user `u`. @param sessionId null: it does not count */
export function isSignInUnchanged(project: Project, row: SignInFactsRow, sessionId: string | null): Fragment {
  const { id: projectId } = project;
  const isRenewed =
    sessionId === null
      ? sql``
      : sql`and (select s.moment = ${row.session_moment}::bigint from sessions s
          where s.project_id = ${projectId}::uuid and s.id = ${sessionId}::uuid)`;
  return sql`${areUnchanged(projectId, sql`u.id`, toUserFacts(row), asksForFacts(project))} ${isRenewed}`;
}
