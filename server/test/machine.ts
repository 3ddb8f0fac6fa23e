/** Clients that act for themselves, and their APIs. */
import type { Client } from '../src/domain/clients/client.entity.ts';
import { system } from '../src/domain/kernel/actor.ts';
import type { AdminScope } from '../src/domain/kernel/admin-api.ts';
import { projectIssuerUrl } from '../src/domain/projects/issuer.ts';
import type { Project } from '../src/domain/projects/project.entity.ts';
import type { TestApp } from './build-app.ts';

export interface Machine {
  app: TestApp;
  client: Client;
  secret: string;
  issuer: string;
}

export const orders = 'https://orders.example.com';

/** A confidential client for `client_credentials`. */
export async function machineOf(
  app: TestApp,
  project: Project,
  settings: { adminScopes?: AdminScope[]; name?: string } = {},
): Promise<Machine> {
  const { client, clientSecret } = await app.make.client(project, {
    tokenEndpointAuthMethod: 'client_secret_basic',
    grantTypes: ['client_credentials'],
    ...settings,
  });
  return { app, client, secret: clientSecret ?? '', issuer: projectIssuerUrl(app.url, project.slug) };
}

/** An API with the scopes `read` and `write`. */
export function apiOf(app: TestApp, project: Project, identifier = orders) {
  const scopes = ['read', 'write'].map((key) => ({ key, description: `${key} orders` }));
  return app.services.apis.create({ projectId: project.id, identifier, name: 'Orders', scopes }, system);
}

export const basic = ({ client, secret }: Machine) => ({
  Authorization: `Basic ${Buffer.from(`${client.id}:${secret}`).toString('base64')}`,
});

/** A form at an endpoint of the machine's issuer, authenticated by its secret; a value may be repeated. */
export function send(
  machine: Machine,
  path: string,
  form: Record<string, string | string[]>,
  headers: Record<string, string> = basic(machine),
): Promise<Response> {
  const pairs = Object.entries(form).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  return fetch(`${machine.issuer}${path}`, { method: 'POST', body: new URLSearchParams(pairs), headers });
}

export const ask = (machine: Machine, form: Record<string, string | string[]> = {}, headers?: Record<string, string>) =>
  send(machine, '/oauth2/token', { grant_type: 'client_credentials', ...form }, headers);

export async function tokenOf(machine: Machine, form: Record<string, string | string[]> = {}): Promise<string> {
  const { access_token } = (await (await ask(machine, form)).json()) as { access_token?: string };
  if (access_token === undefined) throw new Error('no token');
  return access_token;
}

/** A request to the admin API: its status, and the code of its first error. */
export async function administer(app: TestApp, token: string, query: string) {
  const response = await fetch(`${app.url}/admin/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
  const { data, errors = [] } = (await response.json()) as {
    // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the query
    data?: any;
    errors?: { message: string; extensions: { code: string } }[];
  };
  return { status: response.status, data, code: errors[0]?.extensions.code, message: errors[0]?.message };
}
