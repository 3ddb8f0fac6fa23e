import type { Api } from '../domain/apis/api.entity.ts';
import type { Client } from '../domain/clients/client.entity.ts';
import { escapeHtml } from '../http/html.ts';
import { scopeTexts } from '../http/scopes.ts';

/** What the consent page shows of a request. */
export interface AskedConsent {
  /** `client_name` of a client that introduced itself; null: none that pages can show. */
  claimedName(client: Client): Promise<string | null>;
  /** The APIs of a project with these identifiers. */
  apis(projectId: string, identifiers: readonly string[]): Promise<Pick<Api, 'name' | 'scopes'>[]>;
  /** The name of an organization of a project; null: it is gone. */
  organizationName(projectId: string, id: string): Promise<string | null>;
}

/**
 * List items in HTML: the scopes of the user, those of the API in its own words, and the organization that the user signs in for,
 * whose claims need no scope.
 */
export function permissions(
  scopes: readonly string[],
  apis: readonly Pick<Api, 'name' | 'scopes'>[],
  organization: string | null,
  t: (key: string, values?: Record<string, string>) => string,
): string {
  const ofApis = apis.flatMap(({ name, scopes: known }) =>
    known.filter(({ key }) => scopes.includes(key)).map((scope) => ({ ...scope, name })),
  );
  const ofUser = scopes.filter((scope) => !ofApis.some(({ key }) => key === scope));
  const items = [
    ...(ofUser.length > 0 ? scopeTexts(ofUser) : []).map(({ key, values }) => escapeHtml(t(key, values))),
    ...ofApis.map(({ description, name }) => `${escapeHtml(description)} <small>${escapeHtml(name)}</small>`),
    ...(organization === null ? [] : [escapeHtml(t('consent.organization', { organization }))]),
  ];
  return items.map((item) => `<li>${item}</li>`).join('');
}

/**
 * A client that introduced itself has the verified host as its name. If the code goes to the user's device, any program there could
 * receive it: the page then names the device.
 *
 * @param claimedName shown small
 */
export function introduced(
  { name, metadataUrl }: Pick<Client, 'name' | 'metadataUrl'>,
  redirectUri: string,
  claimedName: string | null,
): { isLocal: boolean; claimed: string } {
  const isLocal = !redirectUri.startsWith('https:');
  const claimed = claimedName ?? name;
  return { isLocal, claimed: isLocal && metadataUrl != null && claimed !== name ? `${claimed} (${name})` : claimed };
}
