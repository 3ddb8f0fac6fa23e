import { describe, expect, it } from 'vitest';
import { emptyDatabase } from '../../../test/database.ts';
import { poolerStandIn } from '../../../test/pooler-stand-in.ts';
import { poolerFault, settingsLost, statementsLost } from './pooler-probe.ts';

const all = { preparesStatements: true, rowSecurity: true };

describe('a start', () => {
  it.each([1, 2, 3, 5])(
    'behind a transaction pooler of %i connections is refused with the setting to change',
    async (connections) => {
      const database = await emptyDatabase();
      const { close, url } = await poolerStandIn(database.url, { connections });
      expect(await poolerFault(url, all)).toBe(settingsLost);
      expect(await poolerFault(url, { ...all, rowSecurity: false })).toBe(statementsLost);
      expect(await poolerFault(url, { preparesStatements: false, rowSecurity: false })).toBe(null);
      await close();
      await database.drop();
    },
  );

  it('without a pooler has no fault; one that cannot connect names its own', async () => {
    expect(await poolerFault((await emptyDatabase()).url, all)).toBe(null);
    expect(await poolerFault('postgresql://127.0.0.1:1/none', all)).toBe(null);
  });
});
