import { describe, expect, it } from 'vitest';
import { faultInWords } from './transfer-faults.ts';

const id = '01976f3e-0000-7000-8000-000000000001';
const clash = (columns: string, values: string) => ({
  code: '23505',
  message: 'duplicate key value violates unique constraint "x"',
  detail: `Key (${columns})=(${values}) already exists.`,
});

describe('an error of the database during an import', () => {
  it.each([
    [
      'user',
      clash('project_id, user_name_key', `${id}, ada`),
      'has the user name of another user of this instance: ada',
    ],
    [
      'user',
      clash('project_id, email_key', `${id}, a@b.example`),
      'has the email address of another user of this instance: a@b.example',
    ],
    [
      'custom-domain',
      clash('project_id, host', `${id}, a.example`),
      'has the domain of another custom-domain of this instance: a.example',
    ],
    ['client-secret', clash('hash', 'abcdef'), 'has the secret of another client-secret of this instance'],
    [
      'user',
      { code: '22P02', message: 'insert … - invalid input syntax for type uuid: "x"' },
      'has a user with a value of the wrong format: "x"',
    ],
    ['user', { code: '23502', message: 'null value', column: 'user_name' }, 'has a user without user_name'],
    ['user', { code: '21000', message: 'cannot affect row a second time' }, 'has the same record twice'],
    [
      'role',
      { code: '23503', message: 'x', detail: `Key (role_id)=(${id}) is not present in table "roles".` },
      'refers to roles that are not in the file',
    ],
  ])('of a %s names the field and value of the file', (type, fault, words) => {
    expect(faultInWords(fault, type)).toBe(words);
  });

  it('is not rephrased if no value of the file causes it', () => {
    expect(faultInWords({ code: '08006', message: 'connection terminated' }, 'user')).toBeNull();
    expect(faultInWords(new Error('bug'), 'user')).toBeNull();
  });
});
