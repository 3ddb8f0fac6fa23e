import type { AuditEntry } from '../../audit/audit.ts';
import type { CredentialKind } from '../../credentials/credential.entity.ts';
import { amrOf, type Evidence, endOf, freshAt, provedAt, provedPasskey } from '../../policy/evidence.ts';
import type { SignIn } from '../../sessions/sessions.ts';
import type { SigninCaller } from '../callers.ts';
import type { FlowDeps } from '../flow.ts';
import { siteOfPage } from '../sign-in-context.ts';

/** The conclusion drawn from the evidence of a sign-in that ends. */
export interface Conclusion {
  amr: string[];
  /** Time of the last proof. */
  authTime: Date;
  /** Time of the last proof by the person; null: none in this sign-in. */
  freshAt: Date | null;
  passkeyId: string | undefined;
  /** When the session ends at the latest; null: by the limits of the project. */
  until: Date | null;
  /** Organizations whose connection signed in. */
  connected?: readonly string[];
}

/** Pure. @param holdsPasskey as for {@link amrOf} */
export function concluded(evidence: readonly Evidence[], holdsPasskey = false): Conclusion {
  const last = evidence.at(-1);
  if (!last) throw new Error('a sign-in without evidence has no end');
  return {
    amr: amrOf(evidence, holdsPasskey),
    authTime: provedAt(last),
    freshAt: freshAt(evidence),
    passkeyId: provedPasskey(evidence),
    until: endOf(evidence),
  };
}

/** The user of a sign-in, and the device, passkey or connection that signed in. */
export interface SignedIn {
  user: { id: string; userName: string };
  credential: { kind: CredentialKind | 'federated'; id: string };
}

/** The fields of `user.signed_in` that name the credential. */
const detailNames = { 'device-key': 'deviceId', passkey: 'passkeyId', federated: 'connectionId' } as const;

/** @param caller in this sign-in (`inSignIn`) */
export function signInEvent(caller: SigninCaller, { user, credential }: SignedIn, { amr }: Conclusion): AuditEntry {
  const { id, kind } = credential;
  return {
    type: 'user.signed_in',
    actor: caller.actor,
    projectId: caller.project.id,
    clientId: caller.client.id,
    subject: { kind: 'user', id: user.id, name: user.userName },
    detail: { amr, [detailNames[kind]]: id },
  };
}

/** The session of a sign-in on the hosted page, under which `/authorize` completes the pending request. */
export function sessionOf(
  deps: Pick<FlowDeps, 'issuer'>,
  caller: SigninCaller,
  { user, credential }: SignedIn,
  { amr, authTime, connected, freshAt: at, passkeyId, until }: Conclusion,
): SignIn {
  return {
    project: caller.project,
    userId: user.id,
    deviceId: credential.kind === 'federated' ? undefined : credential.id,
    amr,
    connected,
    passkeyId,
    until,
    authTime,
    freshAt: at ?? undefined,
    requestMoment: caller.request?.moment,
    currentSecret: caller.sessionSecret,
    domain: siteOfPage({ deps, caller }).domain,
    actor: caller.actor,
  };
}
