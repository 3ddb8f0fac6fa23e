import { checkLogoutUri } from '../../clients/logout-uri.ts';
import { type IdentityProvider, readIdentityProvider } from '../../saml/messages/metadata.ts';
import { SamlError } from '../../saml/saml-error.ts';

/** Reads a metadata document of at most 512 KB at a URL that an admin registered. Never throws. */
export type FetchMetadata = (url: string) => Promise<{ body: Uint8Array } | { error: string }>;

export type ReadMetadata = { provider: IdentityProvider } | { fault: 'unreachable' | 'invalid'; detail: string };

export const maxCertificates = 10;

/** Metadata of SAML identity providers. */
export class ProviderMetadata {
  constructor(private readonly deps: { fetchMetadata: FetchMetadata; allowPrivateTargets: boolean }) {}

  async at(url: string): Promise<ReadMetadata> {
    const fetched = await this.deps.fetchMetadata(url);
    return 'error' in fetched ? { fault: 'unreachable', detail: fetched.error } : this.parsed(fetched.body);
  }

  /** Its signature, if any, is not checked: TLS or an admin vouches for the document. */
  parsed(source: Uint8Array | string): ReadMetadata {
    try {
      const provider = readIdentityProvider(source);
      const fault = this.faultOf(provider);
      return fault === null ? { provider } : { fault: 'invalid', detail: fault };
    } catch (error) {
      if (!(error instanceof SamlError)) throw error;
      return { fault: 'invalid', detail: error.detail };
    }
  }

  /** Null: it can be used. */
  faultOf({ entityId, signingCertificates, ssoUrl }: IdentityProvider): string | null {
    const fault = checkLogoutUri(ssoUrl, this.deps.allowPrivateTargets);
    if (fault !== null) return `the address of SingleSignOnService ${fault}`;
    if (!/^[\x21-\x7e]+$/.test(entityId)) return 'entityID must be ASCII without spaces';
    return signingCertificates.length > maxCertificates ? `more than ${maxCertificates} certificates` : null;
  }
}
