import { refuse } from '../../kernel/problem.ts';
import { readServiceProvider, type ServiceProvider } from '../../saml/messages/metadata.ts';
import { SamlError } from '../../saml/saml-error.ts';
import { checkLogoutUri } from '../logout-uri.ts';

/** Metadata of SAML applications. */
export class ServiceProviderMetadata {
  constructor(
    private readonly deps: {
      /** Reads a document of at most 512 KB. Never throws. */
      fetchMetadata(url: string): Promise<{ body: Uint8Array } | { error: string }>;
      allowPrivateTargets: boolean;
    },
  ) {}

  /** Without an address for logout that this server may not call. Refuses `invalid` for `metadata`. */
  parsed(source: Uint8Array | string, field = 'metadata'): ServiceProvider {
    try {
      const read = readServiceProvider(source);
      const { sloSoapUrl = '' } = read;
      const isCallable = checkLogoutUri(sloSoapUrl, this.deps.allowPrivateTargets) === null;
      return isCallable ? read : { ...read, sloSoapUrl: undefined };
    } catch (error) {
      if (!(error instanceof SamlError)) throw error;
      return refuse({ code: 'invalid', field, reason: `is no metadata of a service provider (${error.message})` });
    }
  }

  /** Refuses `invalid` for `metadataUrl`, also if the address is private or does not respond. */
  async at(url: string): Promise<ServiceProvider> {
    const field = 'metadataUrl';
    const reason = checkLogoutUri(url, this.deps.allowPrivateTargets);
    if (reason !== null) return refuse({ code: 'invalid', field, reason });
    const fetched = await this.deps.fetchMetadata(url);
    if ('error' in fetched)
      return refuse({ code: 'invalid', field, reason: `is no metadata of a service provider (${fetched.error})` });
    return this.parsed(fetched.body, field);
  }

  /** Like {@link at}, for an address that was accepted before. */
  async again(url: string): Promise<{ read: ServiceProvider } | { fault: 'unreachable' | 'invalid' }> {
    const fetched = await this.deps.fetchMetadata(url);
    if ('error' in fetched) return { fault: 'unreachable' };
    try {
      return { read: readServiceProvider(fetched.body) };
    } catch (error) {
      if (!(error instanceof SamlError)) throw error;
      return { fault: 'invalid' };
    }
  }
}
