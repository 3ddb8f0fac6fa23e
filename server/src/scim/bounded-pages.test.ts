/** Pages whose resources have many nested elements (decisions/0310). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScimApp, type ScimProject, startScimApp } from '../../test/scim-app.ts';
import { statementsDuring } from '../../test/statements.ts';

/** Members of each group, by the order of ids and of names. */
const sizes = [2, 5, 1, 9, 0, 3, 7, 4];
const budget = 6;

let app: ScimApp;
let project: ScimProject;
/** Users and groups by id, with the ids of their groups and members. */
const groupsOfUser = new Map<string, string[]>();
const membersOfGroup = new Map<string, string[]>();
beforeAll(async () => {
  app = await startScimApp({ answerLimits: { nested: budget, few: 3, batch: 2, held: 400 } });
  project = await app.project();
  const users: string[] = [];
  for (let n = 0; n < 9; n += 1) {
    const { body } = await project.request('POST', '/Users', { userName: `user-${n}`, displayName: `User "${n}"` });
    users.push(body.id);
    groupsOfUser.set(body.id, []);
  }
  for (const [n, size] of sizes.entries()) {
    const members = users.slice(0, size);
    const { body } = await project.request('POST', '/Groups', {
      displayName: `Group ${n}`,
      members: members.map((value) => ({ value })),
    });
    membersOfGroup.set(body.id, members);
    for (const member of members) groupsOfUser.get(member)?.push(body.id);
  }
});
afterAll(async () => {
  expect(app.bugs).toEqual([]);
  await app.close();
});

interface Page {
  totalResults: number;
  itemsPerPage: number;
  startIndex?: number;
  nextCursor?: string;
  Resources: { id: string; members?: { value: string }[]; groups?: { value: string }[] }[];
}

/** Asks for pages until all resources were read. */
async function walk(ask: (page: Page | undefined) => Promise<Page | undefined>): Promise<Page[]> {
  const pages: Page[] = [];
  for (let page = await ask(undefined); page; page = await ask(page)) pages.push(page);
  return pages;
}

const byIndex = (path: string, query: string) => async (page: Page | undefined) => {
  const startIndex = (page?.startIndex ?? 1) + (page?.itemsPerPage ?? 0);
  if (page && startIndex > page.totalResults) return undefined;
  return (await project.request('GET', `${path}?${query}&startIndex=${startIndex}&count=100`)).body as Page;
};

const byCursor = (path: string, query: string) => async (page: Page | undefined) => {
  if (page && page.nextCursor === undefined) return undefined;
  return (await project.request('GET', `${path}?${query}&cursor=${page?.nextCursor ?? ''}&count=100`)).body as Page;
};

const bySearch = (path: string, search: object) => async (page: Page | undefined) => {
  const startIndex = (page?.startIndex ?? 1) + (page?.itemsPerPage ?? 0);
  if (page && startIndex > page.totalResults) return undefined;
  return (await project.request('POST', `${path}/.search`, { ...search, startIndex, count: 100 })).body as Page;
};

const byCursorSearch = (path: string, search: object) => async (page: Page | undefined) => {
  if (page && page.nextCursor === undefined) return undefined;
  const body = { ...search, cursor: page?.nextCursor ?? '', count: 100 };
  return (await project.request('POST', `${path}/.search`, body)).body as Page;
};

/** Expects every resource once and whole, the total on each page, and no page over the budget unless it has one resource. */
function checkPages(pages: Page[], nested: 'members' | 'groups', all: Map<string, string[]>): void {
  const resources = pages.flatMap((page) => page.Resources);
  const shown = new Map(resources.map(({ id, [nested]: elements = [] }) => [id, elements.map(({ value }) => value)]));
  expect(resources).toHaveLength(all.size);
  expect([...shown].map(([id, elements]) => [id, elements.sort()]).sort()).toEqual(
    [...all].map(([id, elements]) => [id, [...elements].sort()]).sort(),
  );
  for (const { totalResults, itemsPerPage, Resources } of pages) {
    expect([totalResults, itemsPerPage]).toEqual([all.size, Resources.length]);
    const elements = Resources.reduce((sum, each) => sum + (each[nested]?.length ?? 0), 0);
    if (Resources.length > 1) expect(elements).toBeLessThanOrEqual(budget);
  }
}

describe('a list of groups ends early at a number of members, and the next page continues there', () => {
  it.each([
    ['by index', byIndex('/Groups', '')],
    ['filtered', byIndex('/Groups', 'filter=displayName+sw+%22Group%22')],
    ['sorted', byIndex('/Groups', 'sortBy=displayName')],
    ['sorted descending', byIndex('/Groups', 'sortBy=displayName&sortOrder=descending')],
    ['with parts of members', byIndex('/Groups', 'attributes=members.value')],
    ['by cursor', byCursor('/Groups', '')],
    ['by cursor, filtered', byCursor('/Groups', 'filter=displayName+sw+%22Group%22')],
    ['by cursor, sorted descending', byCursor('/Groups', 'sortBy=displayName&sortOrder=descending')],
    ['.search', bySearch('/Groups', {})],
    ['.search by cursor', byCursorSearch('/Groups', { sortBy: 'displayName' })],
    ['.search of all types', bySearch('', { filter: 'displayName sw "Group"' })],
    ['.search of all types by cursor', byCursorSearch('', { filter: 'displayName sw "Group"' })],
  ])('%s', async (_, ask) => {
    const pages = await walk(ask);
    checkPages(pages, 'members', membersOfGroup);
    expect(pages.length).toBeGreaterThan(sizes.length / 2);
  });

  it('not if the members are left out', async () => {
    for (const query of ['excludedAttributes=members', 'attributes=displayName']) {
      let pages: Page[] = [];
      const statements = await statementsDuring(async () => {
        pages = await walk(byIndex('/Groups', query));
      });
      expect(pages.map(({ itemsPerPage }) => itemsPerPage)).toEqual([sizes.length]);
      expect(statements.filter((text) => /group_members|group_nestings/.test(text))).toEqual([]);
    }
  });

  it('and a page of the size of the budget has all of it', async () => {
    const { body } = await project.request(
      'GET',
      '/Groups?filter=displayName+eq+%22Group+0%22+or+displayName+eq+%22Group+7%22',
    );
    expect(body.Resources.map(({ members }: { members: unknown[] }) => members.length).sort()).toEqual([2, 4]);
  });
});

describe('a list of users ends early at a number of groups, and the next page continues there', () => {
  it.each([
    ['by index', byIndex('/Users', '')],
    ['filtered', byIndex('/Users', 'filter=userName+sw+%22user%22')],
    ['sorted descending', byIndex('/Users', 'sortBy=userName&sortOrder=descending')],
    ['by cursor', byCursor('/Users', '')],
    ['by cursor, sorted descending', byCursor('/Users', 'sortBy=userName&sortOrder=descending')],
    ['.search by cursor', byCursorSearch('/Users', {})],
  ])('%s', async (_, ask) => {
    const pages = await walk(ask);
    checkPages(pages, 'groups', groupsOfUser);
    expect(pages.length).toBeGreaterThan(3);
  });

  it('with the version of each as when it is read alone', async () => {
    const pages = await walk(byIndex('/Users', ''));
    for (const { id, meta } of pages.flatMap((page) => page.Resources as (Page['Resources'][0] & { meta: any })[])) {
      expect((await project.request('GET', `/Users/${id}`)).headers.get('etag')).toBe(meta.version);
    }
  });

  it('not if neither groups nor the version are shown', async () => {
    const statements = await statementsDuring(async () => {
      const { body } = await project.request('GET', '/Users?attributes=userName');
      expect(body.itemsPerPage).toBe(9);
    });
    expect(statements.filter((text) => text.includes('group_members'))).toEqual([]);
  });
});

it('a list of users ends early at two megabytes of attributes, and the next page continues there', async () => {
  const other = await app.project();
  const photos = Array.from({ length: 4 }, (_, at) => ({ value: `https://a.example/${at}/${'x'.repeat(60_000)}` }));
  for (let n = 0; n < 20; n += 1) {
    expect((await other.request('POST', '/Users', { userName: `large-${n}`, photos })).status).toBe(201);
  }
  for (const first of ['startIndex=1', 'cursor=', 'cursor=&sortBy=userName']) {
    const names = new Set<string>();
    let pages = 0;
    for (let query: string | undefined = first; query !== undefined; pages += 1) {
      const { body, text } = await other.request('GET', `/Users?${query}&count=100`);
      expect([body.totalResults, body.itemsPerPage]).toEqual([20, body.Resources.length]);
      expect(text.length).toBeLessThan(2.5 * 1024 * 1024);
      for (const { userName } of body.Resources) names.add(userName);
      const next: number = body.startIndex + body.itemsPerPage;
      if (body.nextCursor !== undefined) query = `${first.replace('cursor=', `cursor=${body.nextCursor}`)}`;
      else query = next <= body.totalResults ? `startIndex=${next}` : undefined;
    }
    expect([names.size, pages]).toEqual([20, 3]);
  }
});

it('a search of all types continues with the next type only after the last page of the first', async () => {
  for (const ask of [bySearch('', {}), byCursorSearch('', {})]) {
    const pages = await walk(ask);
    const ids = pages.flatMap(({ Resources }) => Resources.map(({ id }) => id));
    expect(ids.toSorted()).toEqual([...groupsOfUser.keys(), ...membersOfGroup.keys()].sort());
    expect(new Set(pages.map(({ totalResults }) => totalResults))).toEqual(new Set([ids.length]));
  }
});

it('a whole group is returned however many members it has, with its version', async () => {
  for (const [id, members] of membersOfGroup) {
    const { status, body, headers } = await project.request('GET', `/Groups/${id}`);
    const shown = body.members.map(({ value }: { value: string }) => value).sort();
    expect([status, shown, headers.get('etag')]).toEqual([200, [...members].sort(), body.meta.version]);
    for (const each of body.members) {
      expect(each).toEqual({
        value: each.value,
        $ref: `${project.baseUrl}/Users/${each.value}`,
        type: 'User',
        display: expect.stringMatching(/^User "\d"$/),
      });
    }
    const statements = await statementsDuring(async () => {
      const headers304 = { 'if-none-match': body.meta.version };
      expect((await project.request('GET', `/Groups/${id}`, undefined, { headers: headers304 })).status).toBe(304);
    });
    expect(statements.filter((text) => text.includes('group_members'))).toEqual([]);
    expect((await project.request('HEAD', `/Groups/${id}`)).status).toBe(200);
  }
});
