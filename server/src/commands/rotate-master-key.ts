import { resolve } from 'node:path';
import { nextMasterKeyOf, promoteNextMasterKey } from '../adapters/files/master-key.ts';
import { systemRandom } from '../adapters/system/random.ts';
import { Vault } from '../domain/keys/vault.ts';
import { compose, openConfigured, reach, StartError } from '../instance.ts';
import { type Command, mustHaveDatabase, type Surroundings, withInstance } from './command.ts';

export const rotateMasterKey: Command = {
  name: 'master-key:rotate',
  summary: 'Seals everything anew under another master key, in one transaction.',
  notes: [
    'Where the key is in DATA_DIR: stop the server, run this, start it again. A new key is made and put in its place.',
    '',
    'Where MASTER_KEY is set, begin with two keys in the settings of every process. The first seals, both open:',
    '  1. MASTER_KEY=<old> MASTER_KEY_SECOND=<new>, restart one process after the other',
    '  2. MASTER_KEY=<new> MASTER_KEY_SECOND=<old>, restart one process after the other',
    '  3. run this, with the same settings; the processes may go on',
    '  4. drop MASTER_KEY_SECOND, restart; keep the old key as long as backups that were made under it',
    '',
    'It can be run again at any time, also after it was cut off.',
  ],
  run: (_input, surroundings) => {
    const config = surroundings.config();
    return config.MASTER_KEY === undefined ? changeOwnKey(surroundings) : resealGiven(surroundings);
  },
};

/** The key of the settings: what the second one sealed is sealed under the first. */
function resealGiven(surroundings: Surroundings): Promise<number> {
  return withInstance(surroundings, async ({ services, config }) => {
    const { masterKeyChange, vault } = services;
    if (config.MASTER_KEY_SECOND === undefined && (await masterKeyChange.left()) > 0) {
      throw new StartError(
        'Some values are sealed under another master key: set MASTER_KEY_SECOND to it, and run this again.',
      );
    }
    const count = await masterKeyChange.reseal();
    surroundings.say(`${count} values were sealed anew; all are under the key ${vault.name} now.`);
    if (config.MASTER_KEY_SECOND !== undefined) surroundings.say('Drop MASTER_KEY_SECOND and restart each process.');
    return 0;
  });
}

/** The key in DATA_DIR. No server may run: it would go on sealing under the old one. */
async function changeOwnKey({ config: load, clock, say, complain }: Surroundings): Promise<number> {
  const config = mustHaveDatabase(load());
  const dataDir = resolve(config.DATA_DIR);
  const database = await openConfigured(config, true, (line) => complain(`· ${line}`));
  try {
    const old = database.masterKeys.first;
    const next = nextMasterKeyOf(dataDir);
    const orm = await reach(database.url, config);
    const masterKeys = { first: next, second: old };
    const { masterKeyChange, vault } = compose(config, { ...database, masterKeys }, orm, {
      queue: { send: async () => undefined },
      clock,
    });
    const count = await masterKeyChange.reseal().finally(() => orm.close(true));
    const kept = promoteNextMasterKey(dataDir, new Vault(old, systemRandom).name);
    say(`${count} values were sealed anew; all are under the key ${vault.name} now, in ${dataDir}/master.key.`);
    say(`The old key is in ${kept}: keep it with the backups that were made under it, then delete it.`);
    return 0;
  } finally {
    await database.embedded?.stop();
  }
}
