import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScimApp, type ScimProject, type ScimReply, startScimApp } from '../../test/scim-app.ts';

/** A request and its expected response. `{{name}}` is a kept value, `{{any}}` matches anything. */
interface Exchange {
  /** Purpose of the request. */
  note?: string;
  /** `METHOD /path`, below the project's base URL. */
  request: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: unknown;
  /** Raw body. */
  raw?: string;
  status: number;
  /** A subset of the response body. */
  response?: unknown;
  responseHeaders?: Record<string, string>;
  /** Paths absent from the response, such as `emails.0.type`. */
  absent?: string[];
  /** Names of the listed users or groups, in any order unless `inOrder`. */
  names?: string[];
  inOrder?: true;
  /** Values to keep: name → path in the response, or `header:name`. */
  keep?: Record<string, string>;
}

interface Scenario {
  it: string;
  project?: Parameters<ScimApp['project']>[0];
  exchanges: Exchange[];
}

let app: ScimApp;
beforeAll(async () => {
  app = await startScimApp();
});
afterAll(() => app.close());

const folder = join(import.meta.dirname, 'exchanges');
for (const file of globSync('**/*.json', { cwd: folder }).sort()) {
  const { title, scenarios } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
    title: string;
    scenarios: Scenario[];
  };
  describe(`${title} (${relative(import.meta.dirname, join(folder, file))})`, () => {
    // Side by side, with the same names, addresses and numbers: neither directory sees the other's.
    it.each(scenarios)('$it', async ({ project: settings, exchanges }) => {
      const project = await app.project(settings);
      const directories = [project, await app.organization(project)].map((directory) => {
        return { directory, kept: new Map<string, string>([['base', directory.baseUrl]]) };
      });
      for (const [index, exchange] of exchanges.entries()) {
        for (const { directory, kept } of directories) await play(directory, kept, exchange, index + 1);
      }
      expect(app.bugs).toEqual([]);
    });
  });
}

async function play(project: ScimProject, kept: Map<string, string>, exchange: Exchange, step: number): Promise<void> {
  const { request, headers, body, raw, status, names } = filled(exchange, kept) as Exchange;
  const [method = '', path = ''] = request.split(/ (.*)/s);
  const query = exchange.query ? `?${new URLSearchParams(filled(exchange.query, kept) as Record<string, string>)}` : '';
  const reply = await project.request(method, `${path}${query}`, body, {
    ...(headers ? { headers } : {}),
    ...(raw === undefined ? {} : { raw }),
  });
  const whose = project.organizationId === null ? 'project' : 'organization';
  const label = `${whose}, step ${step}: ${exchange.note ?? request}\n${reply.status} ${reply.text.slice(0, 2000)}\n`;
  expect(reply.status, label).toBe(status);
  checkShape(reply, label, method === 'HEAD');
  if (exchange.response !== undefined) {
    expect(reply.body, label).toMatchObject(matchers(filled(exchange.response, kept)) as object);
  }
  for (const [name, value] of Object.entries(exchange.responseHeaders ?? {})) {
    const expected = matchers(filled(value, kept));
    expect(reply.headers.get(name), `${label}header ${name}`).toEqual(expected);
  }
  for (const each of exchange.absent ?? [])
    expect(at(reply.body, each), `${label}${each} must be absent`).toBeUndefined();
  if (names) {
    const listed = (reply.body.Resources as Record<string, string>[]).map(
      (each) => each['userName'] ?? each['displayName'],
    );
    expect(exchange.inOrder ? listed : listed.sort(), label).toEqual(exchange.inOrder ? names : [...names].sort());
    expect(reply.body.itemsPerPage, label).toBe(names.length);
  }
  for (const [name, where] of Object.entries(exchange.keep ?? {})) {
    const value = where.startsWith('header:') ? reply.headers.get(where.slice(7)) : at(reply.body, where);
    expect(value, `${label}${where} must be there`).toBeTypeOf('string');
    kept.set(name, value as string);
  }
}

/** Checks that apply to every response. */
function checkShape({ status, headers, body, text }: ScimReply, label: string, isHead: boolean): void {
  if (text !== '') expect(headers.get('content-type'), label).toBe('application/scim+json');
  if (status < 400 || isHead) return;
  expect(body, label).toMatchObject({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    detail: expect.stringMatching(/\S/),
  });
}

function at(value: unknown, path: string): unknown {
  const names = path.startsWith('urn:') ? [path] : path.split('.');
  return names.reduce<unknown>((each, name) => (each as Record<string, unknown> | undefined)?.[name], value);
}

function filled(value: unknown, kept: Map<string, string>): unknown {
  return mapStrings(value, (text) =>
    text.replace(/\{\{([\w-]+)\}\}/g, (whole, name: string) => kept.get(name) ?? whole),
  );
}

function matchers(value: unknown): unknown {
  return mapStrings(value, (text) => {
    if (text === '{{any}}') return expect.anything();
    const pattern = /^\{\{match:(.*)\}\}$/s.exec(text)?.[1];
    return pattern === undefined ? text : expect.stringMatching(new RegExp(pattern));
  });
}

function mapStrings(value: unknown, change: (text: string) => unknown): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => mapStrings(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapStrings(each, change)]));
}
