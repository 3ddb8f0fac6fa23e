import {
  type GrantType,
  grantTypes,
  type IdTokenAlgorithm,
  idTokenAlgorithms,
  type ResponseMode,
  type TokenEndpointAuthMethod,
  tokenEndpointAuthMethods,
} from '../kernel/openid.ts';

/** The features of an issuer. Handlers and discovery read them instead of comparing issuers. */
export interface Capabilities {
  authMethods: readonly TokenEndpointAuthMethod[];
  /** Algorithms of client assertions. */
  assertionAlgorithms: readonly string[];
  /** The first one signs for clients whose own is not listed. */
  idTokenAlgorithms: readonly IdTokenAlgorithm[];
  responseModes: readonly ResponseMode[];
  grantTypes: readonly GrantType[];
  /** In the order of discovery. */
  scopes: readonly string[];
  acrValues: readonly string[];
  /** Whether API keys authenticate clients (service.md 4.4). */
  apiKeys: boolean;
  /** Whether tokens and UserInfo contain the additional claims of applications (`Tokens`). */
  applicationClaims: boolean;
  /** Whether it has a revocation endpoint (RFC 7009). */
  revocation: boolean;
  /** Whether it has an introspection endpoint (RFC 7662). */
  introspection: boolean;
  /** Whether it issues access tokens for APIs (RFC 8707). */
  apis: boolean;
  /** Whether authorization requests can be pushed (RFC 9126). */
  pushedRequests: boolean;
  /** Whether native apps may receive redirects by their own schemes (RFC 8252 section 7.1). */
  appSchemes: boolean;
  /** Whether requests can have the context of an organization, in projects that have organizations (decisions/0384). */
  organizations: boolean;
  /** Whether confidential clients can be exempt from PKCE. */
  optionalPkce: boolean;
  /** Whether `login_hint` can require another sign-in (OpenID Connect Core section 3.1.2.1); service.md has no such rule. */
  loginHints: boolean;
  /** Whether clients can introduce themselves, if the project accepts them. */
  introductions: boolean;
  /** Whether discovery names every language of the pages; service.md 2.7 has five. */
  uiLocales: boolean;
  /** Whether tokens of other issuers authenticate clients (decisions/0411). */
  workloads: boolean;
  /** Whether it is a SAML 2.0 identity provider, too. */
  saml: boolean;
  /** Whether admins can use applications as users (decisions/0422). */
  impersonation: boolean;
}

/** The project of an issuer. `organizationsEnabled`: possibly stale; for documents only. Absent: false. */
interface IssuerProject {
  id: string;
  slug: string;
  organizationsEnabled?: boolean;
}

/** An OpenID Connect issuer: the base issuer, or that of a project. */
export interface Issuer {
  /** `iss`: the base address, `{base_url}/p/{slug}`, or the origin of a custom domain. */
  url: string;
  /** The project whose clients it accepts; null at the base issuer, which accepts all. */
  project: IssuerProject | null;
  capabilities: Capabilities;
  /** Absent: no client can introduce itself. Possibly stale: for discovery only. */
  accepts?: AcceptedClients;
}

/** How clients can introduce themselves to a project. */
export interface AcceptedClients {
  /** By a Client ID Metadata Document. */
  documents: boolean;
  /** By registration (RFC 7591). */
  registration: boolean;
}

/** Scopes of the base issuer. */
const contractScopes = ['openid', 'profile', 'email', 'phone', 'address'];

/** Gives the claim of the same name; only in projects that have organizations. */
export const organizationsScope = 'organizations';

/** Scopes at the issuers of projects that concern users; no API can define one of them. */
export const userScopes: readonly string[] = [
  ...contractScopes,
  'groups',
  'roles',
  'offline_access',
  organizationsScope,
];

/** Exactly service.md 2.7. */
const base: Capabilities = {
  authMethods: ['none', 'private_key_jwt'],
  assertionAlgorithms: ['EdDSA'],
  idTokenAlgorithms: ['ES512'],
  responseModes: ['query'],
  grantTypes: ['authorization_code'],
  scopes: contractScopes,
  acrValues: ['urn:service:pwdless:v1'],
  apiKeys: true,
  applicationClaims: false,
  revocation: false,
  introspection: false,
  apis: false,
  pushedRequests: false,
  appSchemes: false,
  organizations: false,
  optionalPkce: false,
  loginHints: false,
  introductions: false,
  uiLocales: false,
  workloads: false,
  saml: false,
  impersonation: false,
};

const ofProjects: Capabilities = {
  authMethods: tokenEndpointAuthMethods,
  assertionAlgorithms: ['EdDSA', 'ES256', 'PS256', 'RS256'],
  idTokenAlgorithms,
  responseModes: ['query', 'form_post'],
  grantTypes,
  scopes: userScopes,
  acrValues: ['urn:service:pwdless:v1', 'phr', 'phrh'],
  apiKeys: false,
  applicationClaims: true,
  revocation: true,
  introspection: true,
  apis: true,
  pushedRequests: true,
  appSchemes: true,
  organizations: true,
  optionalPkce: true,
  loginHints: true,
  introductions: true,
  uiLocales: true,
  workloads: true,
  saml: true,
  impersonation: true,
};

export function baseIssuer(url: string): Issuer {
  return { url, project: null, capabilities: base };
}

/** @param baseUrl the base issuer's address */
export function projectIssuer(
  baseUrl: string,
  { id, slug, organizationsEnabled = false }: IssuerProject,
  accepts?: AcceptedClients,
): Issuer {
  const url = projectIssuerUrl(baseUrl, slug);
  const project = { id, slug, organizationsEnabled };
  return { url, project, capabilities: ofProjects, ...(accepts && { accepts }) };
}

/** The issuer of a project at its custom domain; it offers the same. @param url origin of the domain */
export function domainIssuer(
  url: string,
  { id, slug, organizationsEnabled = false }: IssuerProject,
  accepts: AcceptedClients,
): Issuer {
  return { url, project: { id, slug, organizationsEnabled }, capabilities: ofProjects, accepts };
}

export function projectIssuerUrl(baseUrl: string, slug: string): string {
  return `${baseUrl}/p/${slug}`;
}

/** The algorithm that an issuer signs a client's ID and logout tokens with. */
export function idTokenAlgorithmOf(requested: IdTokenAlgorithm, { capabilities }: Pick<Issuer, 'capabilities'>) {
  const [first = 'ES512'] = capabilities.idTokenAlgorithms;
  return capabilities.idTokenAlgorithms.includes(requested) ? requested : first;
}

/** The issuer as rows store it: null for the base issuer. */
export function storedIssuer({ url, project }: Pick<Issuer, 'url' | 'project'>): string | null {
  return project === null ? null : url;
}
