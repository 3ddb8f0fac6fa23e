import { isAtOrBelow, isListed, mailDomain } from '../../projects/mail-domains.ts';
import type { Project } from '../../projects/project.entity.ts';
import type { Client } from '../client.entity.ts';

type Policy = Pick<Project, 'clientMetadataDocuments' | 'clientMetadataDomains' | 'blockedClientDomains'>;

/** Whether the project accepts clients whose metadata document is at this host. */
export function admitsDocumentsAt(host: string, policy: Policy): boolean {
  const domain = mailDomain(host);
  const { clientMetadataDocuments: mode, clientMetadataDomains } = policy;
  if (mode === 'off' || domain === null || isBlocked([host], policy)) return false;
  return mode === 'anyone' || isListed(domain, clientMetadataDomains);
}

/** Whether one of the hosts is at or below a blocked domain. */
export function isBlocked(hosts: readonly string[], { blockedClientDomains: blocked }: Policy): boolean {
  return hosts.some((host) => isAtOrBelow(mailDomain(host) ?? host, (domain) => blocked.includes(domain)));
}

/** Hosts of the https addresses among redirect URIs. */
export function hostsOf(redirectUris: readonly string[]): string[] {
  const hosts = redirectUris.filter((uri) => uri.startsWith('https://')).map((uri) => new URL(uri).hostname);
  return [...new Set(hosts)];
}

/**
 * Whether the project accepts a client as it introduced itself, by its current policy; true for clients that admins created.
 * Without registration, the clients that have registered remain.
 */
export function isAdmitted(
  { introducedBy, metadataUrl, redirectUris }: Pick<Client, 'introducedBy' | 'metadataUrl' | 'redirectUris'>,
  policy: Policy,
): boolean {
  if (introducedBy == null) return true;
  if (metadataUrl != null) return admitsDocumentsAt(new URL(metadataUrl).hostname, policy);
  return !isBlocked(hostsOf(redirectUris), policy);
}
