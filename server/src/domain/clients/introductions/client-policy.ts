import { isAtOrBelow, mailDomain } from '../../projects/mail-domains.ts';
import type { Project } from '../../projects/project.entity.ts';
import type { Client } from '../client.entity.ts';
import { hostsOf } from './admission.ts';

/** Settings of a client that introduced itself, by which its policies are found. */
export type IntroducedClient = Pick<Client, 'introducedBy' | 'metadataUrl' | 'redirectUris'>;

/** What clients that introduced themselves get at most; null: no limit beyond those of any client. */
export interface ClientLimits {
  scopes: readonly string[] | null;
  /** Identifiers. */
  apis: readonly string[] | null;
  accessTokenTtlSeconds: number | null;
  refreshTokenTtlSeconds: number | null;
  /** A text of the project on the consent page. */
  consentText: string | null;
}

/**
 * The limits of the clients, by the policies of the project; of several, the strictest. The only reader of the policies: of documents
 * and registrations, when a request is made and when tokens are issued.
 */
export function limitsOf(
  clients: readonly IntroducedClient[],
  { clientPolicies }: Pick<Project, 'clientPolicies'>,
): ClientLimits {
  const policies = (clientPolicies ?? []).filter(({ domain }) => clients.some((client) => isOf(client, domain)));
  // The longest domain is the nearest one.
  const nearest = policies
    .filter(({ consentText }) => consentText !== undefined)
    .sort((a, b) => b.domain.length - a.domain.length)[0];
  return {
    scopes: inAll(policies.map(({ scopes }) => scopes)),
    apis: inAll(policies.map(({ apis }) => apis)),
    accessTokenTtlSeconds: smallest(policies.map(({ accessTokenTtlSeconds: seconds }) => seconds)),
    refreshTokenTtlSeconds: smallest(policies.map(({ refreshTokenTtlSeconds: seconds }) => seconds)),
    consentText: nearest?.consentText ?? null,
  };
}

/** The limits of one client in its project. */
export function limitsOfClient(client: Client): ClientLimits {
  return limitsOf([client], client.project.getEntity());
}

/** Whether the policy of a domain is for the client: all of them, those at the domain, and those below it. */
function isOf({ introducedBy, metadataUrl, redirectUris }: IntroducedClient, domain: string): boolean {
  if (introducedBy == null) return false;
  if (domain === '*') return true;
  const hosts = metadataUrl == null ? hostsOf(redirectUris) : [new URL(metadataUrl).hostname];
  return hosts.some((host) => isAtOrBelow(mailDomain(host) ?? host, (one) => one === domain));
}

/** The first of the scopes, separated by spaces, that is beyond the limits. */
export function scopeBeyond({ scopes }: ClientLimits, scope: string): string | undefined {
  return scopes === null ? undefined : scope.split(' ').find((one) => one !== '' && !scopes.includes(one));
}

/** Whether tokens may be for the API; null: for UserInfo. */
export function allowsApi({ apis }: ClientLimits, audience: string | null): boolean {
  return apis === null || audience === null || apis.includes(audience);
}

/** A lifetime within a limit. */
export function within(seconds: number, limit: number | null): number {
  return Math.min(seconds, limit ?? Infinity);
}

function inAll(lists: readonly (readonly string[] | undefined)[]): readonly string[] | null {
  const given = lists.filter((list) => list !== undefined);
  const [first] = given;
  return first === undefined ? null : first.filter((one) => given.every((list) => list.includes(one)));
}

function smallest(values: readonly (number | undefined)[]): number | null {
  const given = values.filter((value) => value !== undefined);
  return given.length === 0 ? null : Math.min(...given);
}
