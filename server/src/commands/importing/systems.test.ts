/** One record of each system, in the shape that it documents, and what becomes of it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { csvRows } from './csv-rows.ts';
import { jsonValues } from './json-values.ts';
import { peopleOf } from './sources.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lk-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const ada = { email: 'ada@example.com', isVerified: true, isActive: true };
const totp = 'JBSWY3DPEHPK3PXP';
const address = { id: 'e1', email_address: 'ada@example.com', verification: { status: 'verified' } };
const cognito = [
  { Name: 'sub', Value: 's-1' },
  { Name: 'email', Value: 'ada@example.com' },
  { Name: 'email_verified', Value: 'true' },
];

describe('a record', () => {
  it.each<[string, string, string, object]>([
    [
      'keycloak',
      'r.json',
      JSON.stringify({
        realm: 'r',
        users: [{ id: 'k', username: 'ada', email: ada.email, emailVerified: true, enabled: true }],
      }),
      { ...ada, subject: 'k', userName: 'ada' },
    ],
    [
      'auth0',
      'u.json',
      `${JSON.stringify({ user_id: 'auth0|1', email: ada.email, email_verified: true, blocked: true })}\n`,
      { ...ada, subject: 'auth0|1', isActive: false },
    ],
    [
      'auth0',
      'p.json',
      JSON.stringify([
        {
          user_id: 'a',
          email: ada.email,
          email_verified: true,
          mfa_factors: [{ totp: { secret: totp } }, { phone: { value: '+1' } }],
        },
      ]),
      { ...ada, subject: 'auth0|a', totp, left: ['phone: not taken'] },
    ],
    [
      'clerk',
      'c.csv',
      `id,first_name,primary_email_address,verified_email_addresses,totp_secret,password_digest\nuser_1,Ada,ada@example.com,ada@example.com,${totp},x\n`,
      { ...ada, subject: 'user_1', totp, left: ['password: not taken'] },
    ],
    [
      'clerk',
      'c.json',
      JSON.stringify([
        { id: 'user_1', primary_email_address_id: 'e1', email_addresses: [address], totp_enabled: true },
      ]),
      { ...ada, subject: 'user_1', left: ['TOTP: the file does not have the secret'] },
    ],
    [
      'clerk',
      'n.csv',
      'id,primary_email_address,verified_email_addresses,unverified_email_addresses\nuser_1,ada@example.com,,ada@example.com\n',
      { ...ada, isVerified: false },
    ],
    [
      'logto',
      'l.json',
      JSON.stringify([
        { id: 'l1', primaryEmail: ada.email, primaryPhone: '41791234567', name: 'Ada', isSuspended: false },
      ]),
      { ...ada, subject: 'l1', phone: '+41791234567', displayName: 'Ada' },
    ],
    [
      'cognito',
      'o.json',
      JSON.stringify({ Users: [{ Username: 'ada', Attributes: cognito, Enabled: false }] }),
      { ...ada, subject: 's-1', userName: 'ada', isActive: false },
    ],
    [
      'okta',
      'k.json',
      JSON.stringify([
        {
          id: '00u1',
          status: 'SUSPENDED',
          profile: { login: 'ada@example.com', email: 'ada@example.com', firstName: 'Ada' },
        },
      ]),
      { ...ada, subject: '00u1', givenName: 'Ada', isActive: false },
    ],
    [
      'csv',
      'x.csv',
      '\ufeffsubject;email;groups\r\nx;ada@example.com;"a;b"\r\n',
      { ...ada, subject: 'x', groups: ['a', 'b'] },
    ],
  ])('of %s in %s', async (system, name, text, expected) => {
    const records = await listOf(peopleOf(system, write(name, text), new Map()));
    expect(records).toMatchObject([{ person: expected }]);
  });
});

describe('the objects of a JSON file', () => {
  it('are found between all other values, across the ends of chunks', async () => {
    const long = 'x{["\\\\'.repeat(60_000);
    const file = write(
      'a.json',
      JSON.stringify({ a: 1, users: [{ long }, { y: [{ z: {} }] }], roles: { q: {} }, b: 'users', c: [] }),
    );
    const values = await listOf(jsonValues(file));
    expect(values.map(({ member, text }) => [member, JSON.parse(text)])).toEqual([
      ['users', { long }],
      ['users', { y: [{ z: {} }] }],
      ['roles', { q: {} }],
    ]);
  });

  it.each(['[{"a":1}', '{]', '"', '[{"a":'])('are refused in %j', async (text) => {
    await expect(listOf(jsonValues(write('b.json', text)))).rejects.toThrow(/b\.json/);
  });
});

it('rows of a CSV file may have line breaks and quotation marks', async () => {
  const rows = await listOf(csvRows(write('c.csv', 'a,b\n"x ""y""","1\n2"\n\nq\n')));
  expect(rows).toEqual([
    { line: 2, cells: { a: 'x "y"', b: '1\n2' } },
    { line: 5, cells: { a: 'q', b: '' } },
  ]);
  await expect(listOf(csvRows(write('d.csv', 'a\n"b')))).rejects.toThrow('open quotation mark');
});
