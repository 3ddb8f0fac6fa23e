import { type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js';

/** An MCP client with the official SDK. It keeps its tokens, and notes where it sends the user. */
export class McpAgent implements OAuthClientProvider {
  readonly clientMetadata: OAuthClientMetadata;
  /** Where the SDK sent the user last. */
  asked: URL | undefined;
  kept: OAuthTokens | undefined;
  private information: OAuthClientInformationMixed | undefined;
  private verifier = '';

  constructor(
    readonly serverUrl: URL,
    readonly redirectUrl: string,
    /** Its metadata document; absent: it registers itself. */
    readonly clientMetadataUrl?: string,
  ) {
    this.clientMetadata = {
      client_name: 'Some Agent',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    };
  }

  clientInformation() {
    return this.information;
  }

  saveClientInformation(information: OAuthClientInformationMixed): void {
    this.information = information;
  }

  tokens() {
    return this.kept;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.kept = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.asked = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }

  invalidateCredentials(scope: string): void {
    if (scope === 'all' || scope === 'tokens') this.kept = undefined;
  }

  /** Redeems the code of the user's answer. */
  async finish(code: string): Promise<void> {
    await this.transport().finishAuth(code);
  }

  /** Calls a tool over a new connection; the text of its result. */
  async call(name: string, args: Record<string, string> = {}): Promise<string> {
    const client = new Client({ name: 'agent', version: '1.0.0' });
    try {
      await client.connect(this.transport() as Parameters<Client['connect']>[0]);
      const result = await client.callTool({ name, arguments: args });
      const [first] = result.content as { text?: string }[];
      return first?.text ?? '';
    } finally {
      await client.close();
    }
  }

  private transport(): StreamableHTTPClientTransport {
    return new StreamableHTTPClientTransport(this.serverUrl, { authProvider: this });
  }
}
