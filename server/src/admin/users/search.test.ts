import { searchFold } from '@latchkey/contracts/search-fold';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminHarness, openAdminHarness } from '../../../test/admin-harness.ts';
import { Factories } from '../../../test/factories.ts';
import { system } from '../../domain/kernel/actor.ts';
import { execute, query, sql } from '../../domain/kernel/sql.ts';
import type { Project } from '../../domain/projects/project.entity.ts';

let harness: AdminHarness;
let make: Factories;
let project: Project;

beforeAll(async () => {
  harness = await openAdminHarness();
  make = new Factories(harness.services, harness.clock);
  project = await make.project();
});
afterAll(() => harness.close());

const ask = async (list: string, search: string) => {
  const query = `query ($id: ID!, $q: String) { ${list} }`;
  const { data, errors } = await harness.call(query, { id: project.id, q: search });
  expect(errors).toEqual([]);
  return data;
};

const userNames = async (search: string): Promise<(string | null)[]> => {
  const { users } = await ask(
    'users(projectId: $id, search: $q, first: 100) { edges { node { displayName } } }',
    search,
  );
  return users.edges.map(({ node }: { node: { displayName: string | null } }) => node.displayName).sort();
};

describe('the search for users', () => {
  const cases: [displayName: string, ...searches: string[]][] = [
    ['İbrahim Çelik', 'İbrahim', 'ibrahim', 'IBRAHIM', 'celik', 'ÇELİK', 'I\u0307brahim'],
    ['Işıl Yılmaz', 'ışıl', 'ISIL', 'isil', 'Işıl', 'yilmaz', 'YILMAZ'],
    ['Νίκος Παπαδόπουλος', 'ΝΙΚΟΣ', 'νικος', 'νικοσ', 'Νίκο', 'παπαδοπουλοσ', 'ΠΑΠΑΔΌΠΟΥΛΟΣ'],
    ['Séamus O’Neill', "o'neill", 'O’NEILL', 'o`neill', 'oʼneill', 'neill', 'seamus', 'SÉAMUS', 'Se\u0301amus'],
    ['Bärbel Groß', 'GROSS', 'gross', 'groß', 'GROẞ', 'barbel', 'BÄRBEL', 'Ba\u0308rbel'],
    ['Ｊｕｎ　Ｔａｋａｈａｓｈｉ', 'jun takahashi', 'ＪＵＮ', 'takahashi　jun'],
    ['Łukasz Żółć', 'lukasz', 'ŁUKASZ', 'zolc'],
    ['Søren Ærø', 'soren', 'SØREN', 'aero'],
    ['Zoë Jean‑Luc', 'zoe', 'jean-luc', 'Jean–Luc'],
    ['山田太郎', '山', '田', '太郎', '郎', '山田', '山田太郎', '田太', '山　太郎'],
    ['葛\u{e0100}城', '葛', '葛城', '葛\u{e0100}城'],
    ['ｶﾞｸ・パク', 'ガ', 'ガク', 'ｶﾞｸ', 'パク'],
    ['김민준', '김', '민준', '김민준', '준'],
    ['王小明', '王', '小明', '明'],
    ['Иван Ёлкин', 'ИВАН', 'в', 'иван елкин', 'ЁЛКИН', 'кин'],
    ['محمّد', 'محمد', 'م'],
    ['Ada\u00adLove\u200blace', 'adalovelace', 'lovelace'],
    ['ﬁona', 'fiona', 'FIONA'],
  ];

  beforeAll(async () => {
    for (const [displayName] of cases) await make.user(project, { displayName });
  });

  it.each(cases)('finds %s by any of its spellings', async (displayName, ...searches) => {
    for (const search of searches)
      expect([search, await userNames(search)]).toEqual([search, expect.arrayContaining([displayName])]);
  });

  it('finds no other character of scripts without case, and no part of a pair', async () => {
    expect(await userNames('川')).toEqual([]);
    expect(await userNames('山太')).toEqual([]);
    expect(await userNames('田山')).toEqual([]);
    expect(await userNames('カ')).toEqual([]);
    expect(await userNames('太')).toEqual(['山田太郎']);
    expect(await userNames('山 王')).toEqual([]);
  });

  it('treats full-width wildcards as text', async () => {
    expect(await userNames('％')).toEqual([]);
    expect(await userNames('山％')).toEqual([]);
    expect(await userNames('＿eamus')).toEqual([]);
  });

  it('compares 64 characters of a word, so that a long search costs no more than a short one', async () => {
    const name = 'аaaa'.repeat(16);
    await make.user(project, { displayName: name });
    expect(await userNames('аaaa'.repeat(10_000))).toEqual([name]);
    expect(await userNames(`${'аaaa'.repeat(15)}аaab`)).toEqual([]);
  });

  it('finds users by their rows, whichever statement wrote them', async () => {
    const { db } = harness.services;
    await execute(
      db.alone,
      sql`insert into users (project_id, id, user_name, user_name_key, display_name, created_at, updated_at)
        values (${project.id}, gen_random_uuid(), 'earlier', 'earlier', 'Ærlig 川口', now(), now())`,
    );
    expect(await userNames('川')).toEqual(['Ærlig 川口']);
    expect(await userNames('aerlig')).toEqual(['Ærlig 川口']);
    await execute(
      db.alone,
      sql`update users set display_name = 'Ðrlig 井口' where project_id = ${project.id} and user_name_key = 'earlier'`,
    );
    expect(await userNames('川')).toEqual([]);
    expect(await userNames('井 drlig')).toEqual(['Ðrlig 井口']);
  });

  it('keeps users apart who differ only by accents', async () => {
    const create = async (userName: string) => {
      const input = { projectId: project.id, userName, displayName: 'Twin' };
      return harness.call('mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', { input });
    };
    expect((await create('jose')).errors).toEqual([]);
    expect((await create('josé')).errors).toEqual([]);
    expect((await create('JOSÉ')).code).toBe('taken');
    expect(await userNames('twin')).toEqual(['Twin', 'Twin']);
  });
});

describe('the searches for groups, applications and projects', () => {
  it('fold names as the search for users does', async () => {
    const { groups: ofUsers } = harness.services;
    await ofUsers.create(project.id, { displayName: 'Équipe Straße 営業部', externalId: null }, [], system);
    await ofUsers.create(project.id, { displayName: 'Sales  EMEA', externalId: null }, [], system);
    const { groups: twoSpaces } = await ask('groups(projectId: $id, search: $q) { totalCount }', ' Sales  EMEA ');
    expect(twoSpaces.totalCount).toBe(1);
    await make.client(project, { name: 'Café O’Brien 経理' });
    await make.project({ name: 'İzmir ΌΜΙΛΟΣ 東京' });
    for (const search of ['EQUIPE', 'equipe STRASSE', 'straße', '営', '業部', '営業部']) {
      const { groups } = await ask('groups(projectId: $id, search: $q) { totalCount }', search);
      expect([search, groups.totalCount]).toEqual([search, 1]);
    }
    for (const search of ['CAFE', "café o'brien", '経']) {
      const { clients } = await ask('clients(projectId: $id, search: $q) { totalCount }', search);
      expect([search, clients.totalCount]).toEqual([search, 1]);
    }
    for (const search of ['izmir', 'IZMIR', 'όμιλος', '東']) {
      const { data } = await harness.call('query ($q: String) { projects(search: $q) { totalCount } }', { q: search });
      expect([search, data.projects.totalCount]).toEqual([search, 1]);
    }
  });
});

describe('search_fold', () => {
  it('folds each character as searchFold does', async () => {
    const points = [...Array(0x20000).keys(), 0x2f800, 0x2f81a, 0xe0100, 0xe01ef];
    const isAssigned = (text: string) => !/[\p{Cn}\p{Cs}\p{Co}\0]/u.test(text);
    const characters = points.map((point) => String.fromCodePoint(point)).filter(isAssigned);
    const rows = await query(
      harness.services.db.alone,
      sql<{ c: string; folded: string; nfkd: string }>`
        select c, search_fold(c) as folded, normalize(c, NFKD) as nfkd from unnest(${characters}::text[]) c`,
    );
    // The others are younger than PostgreSQL's version of Unicode, or Node's.
    const known = rows.filter(({ c, nfkd }) => nfkd === c.normalize('NFKD'));
    expect(known.length).toBeGreaterThan(80_000);
    const differing = known.filter(({ c, folded }) => folded !== searchFold(c));
    expect(differing.map(({ c, folded }) => [c.codePointAt(0)?.toString(16), folded, searchFold(c)])).toEqual([]);
  });

  it('folds a folded text to itself', () => {
    for (const text of [
      'İbrahim',
      'ΝΊΚΟΣ',
      'O’Neill',
      'Straße',
      'ｶﾞｸ',
      '김민준',
      'Ærø',
      '葛\u{e0100}城',
      'ﬁ',
      'Ǆ',
      'ẞ',
    ]) {
      expect(searchFold(searchFold(text))).toBe(searchFold(text));
    }
  });
});
