import { expect, it } from 'vitest';
import { parseBody } from '../json.ts';
import { GroupBody } from './group-body.ts';
import { memberIds } from './member-ids.ts';

/** The value of a body that is read as a whole. */
function whole(bytes: Uint8Array): unknown {
  const body = parseBody(bytes);
  for (const [name, value] of Object.entries(body)) {
    if (name.toLowerCase() === 'members' && Array.isArray(value)) body[name] = memberIds(value);
  }
  return body;
}

function inChunks(bytes: Uint8Array, sizeOf: () => number): unknown {
  const body = new GroupBody();
  for (let from = 0; from < bytes.length; ) {
    const size = sizeOf();
    body.write(bytes.subarray(from, from + size));
    from += size;
  }
  return body.end();
}

/** The value, or `refused`. */
const outcomeOf = (read: () => unknown) => {
  try {
    return JSON.stringify(read());
  } catch (error) {
    return `refused ${(error as { status?: number }).status}`;
  }
};

const texts = [
  '{}',
  '{"members":[]}',
  ' { "members" : [ \n ] , "displayName":"a" } ',
  '{"displayName":"ä\\"[{,]}\\\\","members":[{"value":"a","display":"x,]\\"}"},{"value":"b","$ref":"c"}],"id":"1"}',
  '{"Members":[{"VALUE":"a"},"b"],"meta":{"members":[1,{"a":[2]}]}}',
  '{"a":"members","b":[{"members":[1]}],"memb\\u0065rs":[{"value":"a"}]}',
  '{"members":{"value":"a"},"x":[[[]],{"y":{}}]}',
  '{"members":null}',
  '{"members":"members"}',
  '{"urn:ietf:params:scim:schemas:core:2.0:Group:members":[{"value":"a"}]}',
  '{"members":[{"value":"\ud83d\ude00"}]}',
  '{"members":[{"value":"a"}],"members":[{"value":"b"}]}',
  '{"members":[{"value":"a"}],"MEMBERS":[{"value":"b"}]}',
  '{"members":[{"value":"a","value":"b"}]}',
  '{"members":[{"value":"a"},]}',
  '{"members":[,]}',
  '{"members":[{"value":"a"} {"value":"b"}]}',
  '{"members":[{"value":"a"}',
  '{"members":[{"value":"a"}}',
  '{"members":[{"value":"a"]}]}',
  '{"members":[{"value":1}]}',
  '{"members":[[]]}',
  '{"members":[1]}',
  '{"members":["a]}',
  '["members",[]]',
  '{"members":[]]}',
  '{"members"[]}',
  '{"members":[]"a"}',
  '{"members":1[]}',
  '{"x":1,"members":[{"value":"a"}]}{}',
  `{"members":[${'['.repeat(60)}${']'.repeat(60)}]}`,
  '',
  '"members":[]',
];

it('reads the same from chunks as from the whole', () => {
  for (const text of texts) {
    const bytes = new TextEncoder().encode(text);
    const expected = outcomeOf(() => whole(bytes));
    for (const size of [1, 2, 3, 7, 1000])
      expect([text, outcomeOf(() => inChunks(bytes, () => size))]).toEqual([text, expected]);
  }
});

it('reads the same from chunks as from the whole of 20,000 texts with changed bytes', () => {
  let seed = 42;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const signs = [...'{}[]",:\\ membrs1u0\n', '\x80', '\xff'].map((sign) => sign.charCodeAt(0));
  let accepted = 0;
  for (let n = 0; n < 20_000; n += 1) {
    const bytes = [...new TextEncoder().encode(texts[random(texts.length)])];
    for (let edits = random(3); edits > 0 && bytes.length > 0; edits -= 1) {
      bytes.splice(
        random(bytes.length),
        random(2),
        ...Array.from({ length: random(3) }, () => signs[random(signs.length)] ?? 0),
      );
    }
    const mutated = Uint8Array.from(bytes);
    const expected = outcomeOf(() => whole(mutated));
    if (!expected.startsWith('refused')) accepted += 1;
    const read = outcomeOf(() => inChunks(mutated, () => 1 + random(9)));
    expect([new TextDecoder().decode(mutated), read]).toEqual([new TextDecoder().decode(mutated), expected]);
  }
  expect(accepted).toBeGreaterThan(2000);
});

it('refuses more than a megabyte outside of members or in one of them, and more than 250,000 members', () => {
  const refused = (text: string) => outcomeOf(() => inChunks(new TextEncoder().encode(text), () => 60_000));
  const long = 'x'.repeat(1_100_000);
  expect(refused(`{"displayName":"${long}","members":[]}`)).toBe('refused 413');
  expect(refused(`{"members":[{"value":"a","display":"${long}"}]}`)).toBe('refused 413');
  expect(refused(`{"members":[${'"a",'.repeat(250_000)}"a"]}`)).toBe('refused 413');
  expect(JSON.parse(refused(`{"members":[${'"a",'.repeat(249_999)}"a"]}`)).members).toHaveLength(250_000);
});
