/** Records of requests lose values of custom attributes that become confidential, or are deleted (decisions/0127). */
import { describe, expect, it } from 'vitest';
import { customAttributesHarness } from '../../../test/custom-attributes.ts';
import { rows } from '../../../test/rows.ts';
import { system } from '../../domain/kernel/actor.ts';
import { customUrn as urn } from '../../domain/users/custom/definition.ts';

const harness = customAttributesHarness();
const { created, found, patch, string } = harness;
const value = 'V4lue';
const alias = 'urn:acme:hr:1.0:User:badgeNo';

const change = (values: object) =>
  harness.app.services.customAttributes.update(harness.project.id, 'badge', values, system);
const settled = () => harness.app.services.requestRecords.settled();

async function recorded(): Promise<string[]> {
  await settled();
  const found = await rows<{ row: string }>(
    harness.app.services.db,
    'select scim_request_records::text as row from scim_request_records where project_id = ? order by id',
    [harness.project.id],
  );
  return found.map(({ row }) => row);
}

/** Sends the value in a body, a path and a filter, and under a name that no attribute has. */
async function sendAll(): Promise<void> {
  const id = await created({ badge: value }, { [alias]: value });
  await patch(id, { op: 'replace', path: `emails[type eq "${value}"]`, value: { display: value } });
  await found(`${urn}:badge eq "${value}"`);
}

const changes: Record<string, () => Promise<unknown>> = {
  'that is no longer returned': () => change({ returned: 'never' }),
  'that is deleted': () => harness.app.services.customAttributes.delete(harness.project.id, 'badge', system),
  'whose name a new hidden one gets': () => string('number', { returned: 'never', alias }),
};

describe('a record', () => {
  it.each(Object.entries(changes))('that is written loses the value of an attribute %s', async (_, conceal) => {
    await string('badge');
    await sendAll();
    expect((await recorded()).join('\n')).toContain(value);
    await conceal();
    const records = await recorded();
    expect(records).toHaveLength(3);
    expect(records.join('\n')).not.toContain(value);
  });

  it.each(Object.entries(changes))('that is queued never has the value of an attribute %s', async (_, conceal) => {
    await string('badge');
    await settled();
    await sendAll();
    await conceal();
    const records = await recorded();
    expect(records).toHaveLength(3);
    expect(records.join('\n')).not.toContain(value);
  });

  it('loses a value that gets a hidden alias', async () => {
    await string('badge', { returned: 'never' });
    await sendAll();
    expect((await recorded()).join('\n')).toContain(value);
    await change({ alias });
    expect((await recorded()).join('\n')).not.toContain(value);
  });

  it('keeps its texts when a change hides nothing, and in other projects', async () => {
    const other = await harness.app.project();
    await other.request('POST', '/Users', { userName: value });
    await string('badge');
    await sendAll();
    const before = await recorded();
    await change({ returned: 'always', indexed: false, description: 'The badge' });
    await string('number');
    expect(await recorded()).toEqual(before);
    await change({ returned: 'never' });
    const [record] = await harness.app.services.requestRecords.recent(other.id, 1);
    expect(record?.requestBody).toContain(value);
    await patch(await created({}), { op: 'replace', path: 'title', value: 'Boss' });
    expect((await recorded()).at(-1)).toContain('Boss');
  });
});
