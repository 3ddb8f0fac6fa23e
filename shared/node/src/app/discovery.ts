import { RelyingPartyError } from '../error.ts';
import { checkedUrl, OutgoingError, objectIn, send } from '../outgoing.ts';

/** Metadata of an issuer (OpenID Connect Discovery 1.0 §3), under the same names. */
export interface ProviderMetadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  userinfo_endpoint: string;
  end_session_endpoint: string;
  jwks_uri: string;
  id_token_signing_alg_values_supported: string[];
  [member: string]: unknown;
}

const endpoints = [
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'end_session_endpoint',
  'jwks_uri',
] as const;
const timeoutMs = 5_000;
const maxBytes = 256 * 1024;
const freshMs = 60 * 60_000;
/** After a failure, the last document is used for up to a day, and the next request waits for 30 seconds. */
const staleMs = 24 * 60 * 60_000;
const cooldownMs = 30_000;

/** The discovery document of an issuer: cached, with at most one request in flight. */
export class Discovery {
  private readonly issuer: string;
  private readonly allowInsecureHttp: boolean;
  private last: { metadata: ProviderMetadata; at: number } | undefined;
  private failedAt = Number.NEGATIVE_INFINITY;
  private inFlight: Promise<ProviderMetadata> | undefined;

  constructor(issuer: string, allowInsecureHttp: boolean) {
    this.issuer = issuer;
    this.allowInsecureHttp = allowInsecureHttp;
  }

  /** Throws `RelyingPartyError`. */
  async read(): Promise<ProviderMetadata> {
    const { last } = this;
    const now = Date.now();
    const ageMs = last ? now - last.at : Number.POSITIVE_INFINITY;
    if (last && (ageMs < freshMs || (ageMs < staleMs && now - this.failedAt < cooldownMs))) return last.metadata;
    this.inFlight ??= this.fetch().finally(() => {
      this.inFlight = undefined;
    });
    try {
      return await this.inFlight;
    } catch (error) {
      if (last && ageMs < staleMs) return last.metadata;
      throw error;
    }
  }

  private async fetch(): Promise<ProviderMetadata> {
    try {
      const metadata = this.checked(await this.document());
      this.last = { metadata, at: Date.now() };
      return metadata;
    } catch (error) {
      this.failedAt = Date.now();
      throw error;
    }
  }

  private async document(): Promise<Record<string, unknown>> {
    const { allowInsecureHttp } = this;
    const answer = await send(`${this.issuer}/.well-known/openid-configuration`, {
      method: 'GET',
      headers: { Accept: 'application/json' },
      ...{ timeoutMs, maxBytes, allowInsecureHttp },
    }).catch((cause: unknown) => {
      if (!(cause instanceof OutgoingError)) throw cause;
      const problem = `The discovery document could not be fetched: ${cause.message}`;
      throw new RelyingPartyError('DISCOVERY_UNAVAILABLE', problem, { cause });
    });
    const { status } = answer;
    if (status === 404) throw new RelyingPartyError('DISCOVERY_INVALID', 'The issuer does not exist.', { status });
    if (status !== 200) {
      throw new RelyingPartyError('DISCOVERY_UNAVAILABLE', `The issuer responded with status ${status}.`, { status });
    }
    return objectIn(answer.body) ?? invalid('is not a JSON object');
  }

  /** §4.3: `issuer` must be identical. An endpoint is as secure as the issuer. */
  private checked(document: Record<string, unknown>): ProviderMetadata {
    if (document['issuer'] !== this.issuer) invalid('is of another issuer');
    for (const name of endpoints) {
      try {
        const { protocol } = checkedUrl(String(document[name]), this.allowInsecureHttp);
        if (protocol !== new URL(this.issuer).protocol) invalid(`has an insecure ${name}`);
      } catch (error) {
        if (error instanceof OutgoingError) invalid(`has no valid ${name}`);
        throw error;
      }
    }
    const algorithms = document['id_token_signing_alg_values_supported'];
    if (!Array.isArray(algorithms)) invalid('has no id_token_signing_alg_values_supported');
    return document as ProviderMetadata;
  }
}

function invalid(problem: string): never {
  throw new RelyingPartyError('DISCOVERY_INVALID', `The discovery document ${problem}.`);
}
