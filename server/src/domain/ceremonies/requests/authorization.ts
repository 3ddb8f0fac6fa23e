import type { MemberChoice } from '../../access/member-choices.ts';
import type { Client } from '../../clients/client.entity.ts';
import type { Actor } from '../../kernel/actor.ts';
import { type ResponseMode } from '../../kernel/openid.ts';
import type { AcrRequest } from '../../policy/acr.ts';
import { type Issuer } from '../../projects/issuer.ts';
import type { Site } from '../../projects/site.ts';
import type { User } from '../../users/user.entity.ts';
import type { AuthorizationRequest } from './authorization-request.entity.ts';

/** The parts of a validated authorization request that its response depends on. */
export interface Authorization {
  client: Client;
  issuer: Issuer;
  redirectUri: string;
  state: string | undefined;
  /** Identifiers of APIs (RFC 8707) that the client may use. */
  resources: readonly string[];
  scope: string;
  nonce: string | undefined;
  codeChallenge: string | undefined;
  /** Thumbprint of the DPoP key that must redeem the code. */
  dpopJkt: string | undefined;
  responseMode: ResponseMode;
  maxAgeSeconds: number | undefined;
  loginHint: string | undefined;
  uiLocales: string | undefined;
  /** Whether a third-party client asks for the user's consent again (`prompt=consent`). */
  asksConsent: boolean;
  /** Absent: the request asks for none. */
  acr?: AcrRequest | undefined;
  /** The organization that the request names. Null: none; absent: none can be, at this issuer or in this project. */
  organizationId?: string | null | undefined;
}

/** Result of a pending flow. */
export interface Completion {
  request: AuthorizationRequest;
  outcome:
    | { code: string }
    | 'confirmed'
    | 'sign-in-first'
    | 'other-user'
    | 'acr-unmet'
    | 'approve-device'
    | 'answer-saml'
    | 'refused'
    | 'no-access'
    | WithoutAccess
    | ChoiceRequired
    | ConsentRequired;
}

/** The session's user has no access to the client of the request. */
interface WithoutAccess {
  withoutAccess: User;
}

/** The session's user must choose one of these organizations. */
interface ChoiceRequired {
  choices: readonly MemberChoice[];
  user: User;
  /** Binds the choice to this request and this session. */
  boundTo: string;
}

/** The session's user must be asked before the client gets the scope of the request. */
export interface ConsentRequired {
  user: User;
  /** The context of the tokens: an organization of the user; null: none. */
  organizationId: string | null;
  /** Binds the answer to this request and this session. */
  boundTo: string;
}

/** The next page of a user whose flow has ended. */
export interface WayOn {
  client: Client;
  start: string | null;
  isSignedIn: boolean;
  /** Whether `Authorizations.renew` would begin the flow again in this browser. */
  isRenewable: boolean;
}

/** A browser that opens the page of a flow, at a host. */
export interface FlowVisit extends Omit<FlowBrowser, 'flow'> {
  site: Pick<Site, 'origin'>;
}

/** Secrets of a browser that continues a flow. */
export interface FlowBrowser {
  /** The flow's handle, from the URL. */
  flow: string;
  browserSecret: string | undefined;
  sessionSecretOf(projectId: string): string | undefined;
}

/** The organization that a user chose. */
export interface Choice {
  organizationId: string;
  isBoundTo(boundTo: string): boolean;
}

/** A user's answer to the consent page. */
export interface ConsentAnswer {
  isGiven: boolean;
  isBoundTo(boundTo: string): boolean;
  actorFor(user: { id: string; name: string }): Actor;
}
