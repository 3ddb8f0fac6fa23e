import { connectionsOf, type OrganizationConnection, realmOf } from '../../connections/realms.ts';
import { isStorableText } from '../../kernel/secret.ts';
import type { Executing } from '../../kernel/sql.ts';
import { federatedOf } from '../../policy/evidence.ts';
import { lacksConnection } from '../../policy/requirements.ts';
import { trimmed } from '../../users/login.ts';
import type { SigninCaller } from '../callers.ts';
import { mayBeFederated } from '../federated.ts';
import type { Flow, RefusedStep, StepInput } from '../flow.ts';
import { isExcused, policyOf } from '../sign-in-context.ts';
import type { CeremonyStep } from './steps.ts';

/**
 * The connection that must sign in people with the typed address: of the organization that has verified its domain, if that requires it
 * (decisions/0398). The same for every address of the domain, whether it has an account or not. Null: none.
 */
export async function realmOfStep(
  on: Executing,
  step: CeremonyStep,
  { excused, project, request }: Pick<SigninCaller, 'excused' | 'project' | 'request'>,
  { userid = '' }: Pick<StepInput, 'userid'>,
): Promise<OrganizationConnection | null> {
  if (step !== 'authenticate' || !project.organizationsEnabled || !isStorableText(userid)) return null;
  if (request && !mayBeFederated(request)) return null;
  const realm = await realmOf(on, project.id, trimmed(userid));
  return realm?.isRequired && !isExcused(excused, realm.organizationId) ? realm : null;
}

/**
 * Refuses a step while an organization requires its connection, and that has not answered in this sign-in: the organization of the
 * request, or that of the typed address.
 */
export async function connectionMissing(
  { caller, ceremony, em }: Flow,
  realm: OrganizationConnection | null,
): Promise<RefusedStep | null> {
  const { connectionOf } = policyOf(caller);
  if (lacksConnection(ceremony.evidence, { ...(connectionOf !== undefined && { connectionOf }) })) {
    const [first] = await connectionsOf(em, caller.project.id, connectionOf ?? '');
    return { refused: { code: 'connection-required', connectionId: first?.id ?? null } };
  }
  const isAnswered = realm === null || federatedOf(ceremony.evidence)?.organization === realm.organizationId;
  return isAnswered ? null : { refused: { code: 'connection-required', connectionId: realm.id } };
}
