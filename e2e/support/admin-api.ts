/** Client of the admin API with the bootstrap token (decisions §4). */
export class AdminApi {
  readonly #url: string;
  readonly #token: string;
  readonly #ignored = new Set<string>();

  constructor(baseUrl: string, token: string) {
    this.#url = `${baseUrl}/admin/graphql`;
    this.#token = token;
  }

  async run<T>(query: string, variables: object = {}): Promise<T> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${this.#token}` },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(60_000),
    });
    const body = (await response.json()) as { data?: T; errors?: unknown };
    if (body.errors !== undefined || body.data === undefined) throw new Error(JSON.stringify(body));
    return body.data;
  }

  async createProject(name: string): Promise<string> {
    const query = 'mutation ($input: CreateProjectInput!) { createProject(input: $input) { id } }';
    return (await this.run<{ createProject: { id: string } }>(query, { input: { name } })).createProject.id;
  }

  /** The address of the project's issuer. */
  async issuerOf(projectId: string): Promise<string> {
    const query = 'query ($id: ID!) { project(id: $id) { issuer } }';
    return (await this.run<{ project: { issuer: string } }>(query, { id: projectId })).project.issuer;
  }

  async createClient(
    input: Record<string, unknown>,
  ): Promise<{ clientId: string; publishableKey: string; secretKey: string; clientSecret: string | null }> {
    const query = `mutation ($input: CreateClientInput!) {
      createClient(input: $input) { client { clientId } publishableKey secretKey clientSecret } }`;
    interface Created {
      createClient: {
        client: { clientId: string };
        publishableKey: string;
        secretKey: string;
        clientSecret: string | null;
      };
    }
    const { createClient } = await this.run<Created>(query, { input });
    return { ...createClient, clientId: createClient.client.clientId };
  }

  async issueScimToken(projectId: string, more: { expiresAt?: Date } = {}): Promise<string> {
    const query = 'mutation ($input: IssueScimTokenInput!) { issueScimToken(input: $input) { token } }';
    const input = { projectId, name: 'directory', ...more };
    return (await this.run<{ issueScimToken: { token: string } }>(query, { input })).issueScimToken.token;
  }

  async revokeDevices(userId: string): Promise<void> {
    const query = 'query ($id: ID!) { userAccess(userId: $id) { devices { id } } }';
    type Access = { userAccess: { devices: { id: string }[] } };
    for (const { id } of (await this.run<Access>(query, { id: userId })).userAccess.devices) {
      await this.run('mutation ($id: ID!) { revokeUserDevice(id: $id) }', { id });
    }
  }

  /** Messages in the dev mailbox for an address, newest first, of the last hundred. */
  async messages(address: string): Promise<{ id: string; text: string }[]> {
    return (await this.#allMessages()).filter(({ id, to }) => to === address && !this.#ignored.has(id));
  }

  /** Makes {@link messages} omit those that the mailbox has now, from earlier tests on this server. */
  async ignoreMessages(): Promise<void> {
    for (const { id } of await this.#allMessages()) this.#ignored.add(id);
  }

  async #allMessages(): Promise<{ id: string; to: string; text: string }[]> {
    const query = '{ devMailbox(first: 100) { edges { node { id to text } } } }';
    type Mailbox = { devMailbox: { edges: { node: { id: string; to: string; text: string } }[] } };
    const { devMailbox } = await this.run<Mailbox>(query);
    return devMailbox.edges.map(({ node }) => node);
  }

  /** The texts of {@link messages}. */
  async mailbox(address: string): Promise<string[]> {
    return (await this.messages(address)).map(({ text }) => text);
  }
}

/** A one-time code in a mail: six digits, or the long format. */
export const oneTimeCode = /\b(?:\d{6}|[0-9A-Z]{5}-[0-9A-Z]{5})\b/;

export function codeIn(text: string): string {
  const code = oneTimeCode.exec(text)?.[0];
  if (code === undefined) throw new Error('no code in this mail');
  return code;
}
