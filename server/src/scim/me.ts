import type { Request, RequestHandler, Response } from 'express';
import type { Accounts } from '../domain/accounts/accounts.ts';
import type { Directories } from '../domain/directories/directories.ts';
import { dpopAlgorithms } from '../domain/kernel/openid.ts';
import { found, Refusal } from '../domain/kernel/problem.ts';
import type { Issuer } from '../domain/projects/issuer.ts';
import type { Issuers } from '../domain/projects/issuers.ts';
import type { PersonOutcome, Tokens } from '../domain/tokens/tokens.ts';
import { foldCase } from '../domain/users/login.ts';
import type { ShownUser } from '../domain/users/user-record.ts';
import { type DpopDeps, proofOf } from '../http/dpop.ts';
import { queryOf } from '../http/parameters.ts';
import type { Resource } from './patch.ts';
import { isObject } from './patch-operations.ts';
import { project } from './projection.ts';
import { sendResource } from './respond.ts';
import { userType } from './schema/resource-type.ts';
import { ScimError } from './scim-error.ts';
import { projectionOfQuery } from './search/search-request.ts';
import { userResource } from './user-mapping.ts';

export interface MeDeps {
  issuer: string;
  accounts: Accounts;
  directories: Pick<Directories, 'isOn'>;
  issuers: Pick<Issuers, 'ofToken'>;
  tokens: Pick<Tokens, 'person'>;
  dpopProofs: DpopDeps['proofs'];
  dpopNonces: DpopDeps['nonces'];
}

/** Authentication scheme of a token: RFC 6750 §2.1, RFC 9449 §7.1. */
interface Sent {
  scheme: 'Bearer' | 'DPoP';
  token: string;
}

/** The attributes that a scope shows. The values are those of UserInfo: of several addresses, only the one in its claim. */
const attributesOfScope: Record<string, (resource: Resource, user: ShownUser) => Resource> = {
  profile: ({ name, displayName, locale, timezone }) => ({ name, displayName, locale, timezone }),
  // A user name is often an email address.
  email: ({ userName, emails }, { email }) => ({ userName, emails: withValue(emails, email) }),
  phone: ({ phoneNumbers }, { phone }) => ({ phoneNumbers: withValue(phoneNumbers, phone) }),
  address: ({ addresses }) => ({ addresses: shownAddress(addresses) }),
};

/**
 * `GET /Me` (RFC 7644 §3.11) for a user, by an access token of the project's issuer (decisions/0143). Any other credential
 * is passed on to the authentication of directories.
 */
export function meEndpoint(deps: MeDeps): RequestHandler {
  return async (req, res, next) => {
    const projectId = String(req.params['projectId']).toLowerCase();
    const sent = sentToken(req);
    const issuer = sent && (await deps.issuers.ofToken(sent.token));
    if (!sent || issuer?.project?.id !== projectId) return next();
    if (!(await deps.directories.isOn(projectId))) throw new ScimError(404, 'SCIM service not found.');
    const outcome = await personOf(deps, req, res, sent, issuer);
    if ('refused' in outcome) {
      if (outcome.refused === 'invalid_token') return next();
      throw refusals[outcome.refused]();
    }
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      throw new ScimError(501, 'Only GET is supported at /Me. Users edit their profile on the account page.');
    }
    const user = found(await deps.accounts.find(projectId, outcome.userId), 'user');
    const resource = shownTo(outcome.scopes, user, `${deps.issuer}/v1/scim/${projectId}`);
    const body = project(userType, resource, projectionOfQuery(queryOf(req)));
    const location = `${deps.issuer}/v1/scim/${projectId}/Users/${user.id}`;
    sendResource(req, res, { status: 200, body, location, version: versionOf(user) });
  };
}

const refusals = {
  insufficient_scope: () =>
    new ScimError(403, 'The access token lacks the scope openid.', {
      headers: { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="openid"' },
    }),
  bound: () =>
    new ScimError(401, 'The access token is bound to a key: send it with the scheme DPoP and a proof.', {
      headers: { 'WWW-Authenticate': dpopChallenge('invalid_token') },
    }),
  'not-bound': () =>
    new ScimError(401, 'The access token is not bound to a key: send it with the scheme Bearer.', {
      headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
    }),
} as const;

async function personOf(
  { issuer: issuerUrl, tokens, dpopProofs: proofs, dpopNonces: nonces }: MeDeps,
  req: Request,
  res: Response,
  { scheme, token }: Sent,
  issuer: Issuer,
): Promise<PersonOutcome> {
  if (scheme === 'Bearer') return tokens.person(token, issuer);
  const url = `${issuerUrl}${req.originalUrl.split('?')[0]}`;
  try {
    const proof = await proofOf({ proofs, nonces }, req, res, url, token);
    if (proof) return await tokens.person(token, issuer, proof);
  } catch (error) {
    const code = error instanceof Refusal ? error.problem.code : undefined;
    if (code !== 'proof-rejected' && code !== 'nonce-rejected') throw error;
    const isNonce = code === 'nonce-rejected';
    throw new ScimError(401, isNonce ? 'Use the nonce of the header DPoP-Nonce.' : 'The DPoP proof is not valid.', {
      headers: { 'WWW-Authenticate': dpopChallenge(isNonce ? 'use_dpop_nonce' : 'invalid_dpop_proof') },
    });
  }
  throw new ScimError(401, 'The scheme DPoP needs a proof in the header DPoP.', {
    headers: { 'WWW-Authenticate': dpopChallenge('invalid_dpop_proof') },
  });
}

function dpopChallenge(error: string): string {
  return `DPoP error="${error}", algs="${dpopAlgorithms.join(' ')}"`;
}

function sentToken(req: Request): Sent | undefined {
  const [, scheme = '', token] = /^(bearer|dpop) +(\S+) *$/i.exec(req.get('authorization') ?? '') ?? [];
  return token === undefined ? undefined : { scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer', token };
}

/** The part of a user that an application with these scopes reads. */
function shownTo(scopes: readonly string[], user: ShownUser, baseUrl: string): Resource {
  const resource = userResource(userType, user, baseUrl);
  const { id, meta } = resource;
  const parts = Object.entries(attributesOfScope).map(([scope, of]) =>
    scopes.includes(scope) ? of(resource, user) : {},
  );
  const shown = Object.assign({}, ...parts) as Resource;
  const entries = Object.entries(shown).filter(([, value]) => value !== undefined);
  return {
    schemas: [userType.schema.id],
    id,
    ...Object.fromEntries(entries),
    meta: { ...(meta as object), version: versionOf(user) },
  };
}

/** Without the digest of groups and manager, which are not shown. */
const versionOf = ({ version }: ShownUser) => `W/"${version}"`;

/** The elements with the login address or phone. */
function withValue(elements: unknown, value: string | null | undefined): unknown {
  const key = value == null ? undefined : foldCase(value);
  const isLogin = (each: unknown) =>
    isObject(each) && typeof each['value'] === 'string' && foldCase(each['value']) === key;
  const own = Array.isArray(elements) ? elements.filter(isLogin) : [];
  return own.length > 0 ? own : undefined;
}

function shownAddress(addresses: unknown): unknown {
  if (!Array.isArray(addresses) || addresses.length === 0) return undefined;
  return [addresses.find((each) => isObject(each) && each['primary'] === true) ?? addresses[0]];
}
