import { type EntityClass, type MikroORM, wrap } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../../test/database.ts';
import { openDatabase } from '../../adapters/postgres/database.ts';
import { findPrepared, query, sql } from '../kernel/sql.ts';
import { Project } from '../projects/project.entity.ts';
import { Client } from './client.entity.ts';

let database: FreshDatabase;
let orm: MikroORM;

beforeAll(async () => {
  database = await freshDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 1 });
});
afterAll(async () => {
  await orm.close(true);
  await database.drop();
});

const projectId = '01890000-0000-7000-8000-000000000001';
const [full, bare] = ['01890000-0000-7000-8000-000000000002', '01890000-0000-7000-8000-000000000003'];

it('findPrepared returns the same entity as the ORM', async () => {
  const em = orm.em.fork();
  const [createdAt, updatedAt] = [new Date('2026-03-29T01:30:00.007Z'), new Date('2026-11-26T20:00:00Z')];
  em.create(Project, { id: projectId, name: 'One', slug: 'one', smsCountries: ['DE', 'FR'], createdAt, updatedAt });
  const values = { project: projectId, name: 'A "name"', postLogoutRedirectUris: [], createdAt, updatedAt };
  em.create(Client, { ...values, id: bare, tokenEndpointAuthMethod: 'none', redirectUris: [] });
  em.create(Client, {
    ...values,
    id: full,
    kind: 'native',
    tokenEndpointAuthMethod: 'private_key_jwt',
    redirectUris: ['https://a.example/b,c', 'https://a.example/"d"'],
    jwkSet: [{ kty: 'OKP', crv: 'Ed25519', x: 'abc' }],
    accessTokenTtlSeconds: 60,
    disabledAt: updatedAt,
  });
  await em.flush();
  await expectSame(Client, full);
  await expectSame(Client, bare);
  await expectSame(Project, projectId);
});

async function expectSame<Entity extends { id: string }>(entity: EntityClass<Entity>, id: string) {
  const em = orm.em.fork();
  const found = await findPrepared(em, entity, sql`id = ${id}`, `test.${entity.name}`);
  const expected = await orm.em.fork().findOneOrFail(entity, { id } as never);
  expect(found).toBeInstanceOf(entity);
  expect(wrap(found as Entity).toPOJO()).toEqual(wrap(expected).toPOJO());
  expect(em.getUnitOfWork().getIdentityMap().values()).toContain(found);
}

it('findPrepared returns null if there is no such row', async () => {
  expect(await findPrepared(orm.em.fork(), Client, sql`id = ${projectId}`, 'test.none')).toBeNull();
});

it('a client has its project once the project is loaded', async () => {
  const em = orm.em.fork();
  const client = await findPrepared(em, Client, sql`id = ${full}`, 'test.client');
  await findPrepared(em, Project, sql`id = ${projectId}`, 'test.project');
  expect(client?.project.getEntity().slug).toBe('one');
});

it('findPrepared prepares its statement', async () => {
  const names = await query<{ name: string }>(orm.em.fork(), sql`select name from pg_prepared_statements`);
  expect(names).toContainEqual({ name: 'test.client' });
});
