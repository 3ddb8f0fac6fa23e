import { describe, expect, it } from 'vitest';
import type { CustomAttribute } from '../../domain/users/custom/custom-schema.entity.ts';
import { checkedDefinition, customUrn } from '../../domain/users/custom/definition.ts';
import { userTypeOf } from '../schema/custom.ts';
import { userType } from '../schema/resource-type.ts';
import { Redaction } from './redaction.ts';

const attributes: CustomAttribute[] = [
  checkedDefinition({ name: 'pin', type: 'string', mutability: 'writeOnly', alias: 'urn:acme:1.0:User:pinCode' }),
  checkedDefinition({
    name: 'cards',
    type: 'complex',
    multiValued: true,
    returned: 'never',
    subAttributes: [{ name: 'no', type: 'string' }],
  }),
  checkedDefinition({ name: 'badge', type: 'string' }),
];
const redaction = new Redaction(userTypeOf({ version: 1, attributes }));
const text = (body: unknown) => JSON.stringify(redaction.body(body));

describe('the record of a request', () => {
  it.each([
    ['an object', { [customUrn]: { PIN: 'S3cret', badge: 'seen' } }],
    ['a qualified name', { [`${customUrn}:pin`]: 'S3cret', [`${customUrn}:badge`]: 'seen' }],
    ['a name with a dot', { [`${customUrn}.pin`]: 'S3cret', title: 'seen' }],
    ['an alias', { 'urn:acme:1.0:User': { pincode: 'S3cret', other: 'seen' } }],
    ['a path', { Operations: [{ op: 'add', path: `${customUrn.toUpperCase()}:Pin`, value: 'S3cret' }], note: 'seen' }],
    ['a path of the schema', { operations: [{ Path: customUrn, Value: { pin: 'S3cret', badge: 'seen' } }] }],
    ['no path', { Operations: [{ op: 'add', value: { [customUrn]: { cards: [{ no: 'S3cret' }], badge: 'seen' } } }] }],
    [
      'a path with a filter',
      { Operations: [{ path: `${customUrn}:cards[no eq "S3cret"].no`, value: 'S3cret' }, 'seen'] },
    ],
    ['a filter', { filter: `${customUrn}:pin eq "S3cret"`, sortBy: 'seen' }],
  ])('keeps no value of an attribute that is never returned: %s', (_, body) => {
    expect(text(body)).not.toContain('S3cret');
    expect(text(body)).toContain('seen');
  });

  it('keeps neither the query that names one, nor passwords and the data of Bulk', () => {
    expect(redaction.path(`/Users?filter=${customUrn}:PIN eq "S3cret"`)).toBe('/Users?[not kept]');
    expect(redaction.path(`/Users?filter=${customUrn}.pin eq "S3cret"`)).toBe('/Users?[not kept]');
    expect(redaction.path('/Users?filter=userName eq "a"')).toBe('/Users?filter=userName eq "a"');
    const body = { password: 'S3cret', Operations: [{ method: 'POST', data: { userName: 'S3cret' } }] };
    expect(text(body)).toBe('{"password":"[not kept]","Operations":[{"method":"POST","data":"[not kept]"}]}');
    const plain = { userName: 'a', Operations: [{ path: 'title', value: 'x' }] };
    expect(new Redaction(userType).body(plain)).toEqual(plain);
  });
});
