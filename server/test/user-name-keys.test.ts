import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { migrate, openDatabase } from '../src/adapters/postgres/database.ts';
import { userNameKey } from '../src/domain/users/login.ts';
import { emptyDatabase } from './database.ts';

const before = '20261127070000-users-of-messages';
const odd = [' ada', 'bob ', 'carol  x', 'd\u00a0e', '\u200bfay', 'g\u00adus', '\ufeffhal\u3000', 'i\u2009j', 'kim'];

it('the keys of earlier user names become those of today, unless another user has one', async () => {
  const database = await emptyDatabase();
  const orm = await openDatabase({ url: database.url, poolSize: 2 });
  try {
    await orm.migrator.up({ to: before });
    const connection = orm.em.getConnection();
    const project = randomUUID();
    await connection.execute(
      `insert into projects (id, name, slug, created_at, updated_at) values (?, 'p', 'p', now(), now())`,
      [project],
    );
    const names = [...odd, 'twin', ' twin', 'pair ', ' pair'];
    for (const name of names) {
      await connection.execute(
        `insert into users (project_id, id, user_name, user_name_key, created_at, updated_at) values (?, ?, ?, ?, now(), now())`,
        [project, randomUUID(), name, name],
      );
    }
    await migrate(database.url);
    const stored = await connection.execute<{ name: string; key: string }[]>(
      'select user_name as name, user_name_key as key from users',
    );
    const keys = new Map(stored.map(({ name, key }) => [name, key]));
    for (const name of odd) expect([name, keys.get(name)]).toEqual([name, userNameKey(name)]);
    expect([keys.get('twin'), keys.get(' twin')]).toEqual(['twin', ' twin']);
    expect([keys.get('pair '), keys.get(' pair')].filter((key) => key === 'pair')).toHaveLength(1);
  } finally {
    await orm.close(true);
    await database.drop();
  }
});
