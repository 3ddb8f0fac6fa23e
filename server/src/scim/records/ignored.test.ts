import { describe, expect, it } from 'vitest';
import { ignoredAttributes } from './ignored.ts';

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const own = 'urn:example:hr:2.0:User';

describe('ignoredAttributes', () => {
  it.each([
    [
      'nothing of a usual user',
      '/Users',
      { schemas: [], userName: 'a', name: { formatted: 'A' }, meta: {}, password: 'x' },
      [],
    ],
    [
      'unknown attributes and their parts',
      '/Users?x',
      { userName: 'a', shoeSize: 42, name: { nick: 'A' } },
      ['shoeSize', 'name.nick'],
    ],
    [
      'an unknown extension, by attribute',
      '/Users/1',
      { [own]: { badge: 7, desk: { floor: 1 } } },
      [`${own}:badge`, `${own}:desk`],
    ],
    [
      'unknown names in a known extension',
      '/Users',
      { [enterprise]: { department: 'D', badge: 7 } },
      [`${enterprise}:badge`],
    ],
    [
      'parts of elements, once',
      '/Users',
      {
        emails: [
          { value: 'a', note: 1 },
          { value: 'b', note: 2 },
        ],
      },
      ['emails.note'],
    ],
    ['read-only attributes are not reported', '/Users', { id: '1', groups: [{ value: 'x' }] }, []],
    [
      'groups',
      '/Groups',
      { displayName: 'g', members: [{ value: '1', role: 'x' }], description: 'd' },
      ['members.role', 'description'],
    ],
    [
      'passwords are not reported',
      '/Users',
      { userName: 'a', 'urn:ietf:params:scim:schemas:core:2.0:User:Password': 'x' },
      [],
    ],
    ['other paths', '/.search', { filter: 'x' }, []],
    ['searches', '/Users/.search', { filter: 'x' }, []],
  ])('names %s', (_name, path, body, expected) => {
    expect(ignoredAttributes(path, body)).toEqual(expected);
  });

  it('reads a PATCH with and without paths, and Bulk', () => {
    const patch = {
      Operations: [
        { op: 'add', path: `${own}:badge`, value: 7 },
        {
          op: 'Replace',
          value: { title: 'T', 'name.nick': 'A', [`${enterprise}:badge`]: 1, 'emails[type eq "work"].note': 1 },
        },
        { op: 'replace', path: 'emails[type eq "work"]', value: { value: 'a', note: 1 } },
        { op: 'remove', path: `${own}:desk` },
      ],
    };
    const expected = [`${own}:badge`, 'name.nick', `${enterprise}:badge`, 'emails[type eq "work"].note', 'emails.note'];
    expect(ignoredAttributes('/Users/1', patch)).toEqual(expected);
    const bulk = {
      Operations: [
        { method: 'PATCH', path: '/Users/1', data: patch },
        { method: 'DELETE', path: '/Users/2' },
      ],
    };
    expect(ignoredAttributes('/Bulk', bulk)).toEqual(expected);
  });

  it('is bounded, and survives any body', () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`x${n}`, n]));
    expect(ignoredAttributes('/Users', many)).toHaveLength(100);
    const noText = { toString: 1 };
    const operations = [{ Operations: [null, { path: 5 }] }, { Operations: [{ op: noText, path: noText }] }];
    for (const body of [null, 5, 'x', [], { Operations: 5 }, ...operations, { 'a[': 1 }]) {
      expect(ignoredAttributes('/Users', body).length).toBeLessThan(2);
      expect(ignoredAttributes('/Bulk', body)).toEqual([]);
    }
  });
});
