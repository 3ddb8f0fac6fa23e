import { resolve } from 'node:path';
import { nextMasterKeyOf, promoteNextMasterKey } from '../adapters/files/master-key.ts';
import { systemRandom } from '../adapters/system/random.ts';
import { compose } from '../compose.ts';
import { noQueue } from '../domain/kernel/queue.ts';
import { Vault } from '../domain/keys/vault.ts';
import { openConfigured, reach, StartError } from '../instance.ts';
import { type Command, type CommandContext } from './command.ts';
import { mustHaveDatabase } from './opened.ts';
import { withInstance } from './with-instance.ts';

export const rotateMasterKey: Command = {
  name: 'master-key:rotate',
  summary: 'Encrypts all secrets again with a new master key, in one transaction.',
  notes: [
    'With the key in DATA_DIR: stop the server, run this, and start it again. A new key is generated and replaces the old.',
    '',
    'With MASTER_KEY, configure two keys for every process. The first encrypts, both decrypt:',
    '  1. set MASTER_KEY=<old> MASTER_KEY_SECOND=<new> and restart the processes one by one',
    '  2. set MASTER_KEY=<new> MASTER_KEY_SECOND=<old> and restart the processes one by one',
    '  3. run this with the same settings; the processes can keep running',
    '  4. remove MASTER_KEY_SECOND and restart; keep the old key as long as backups made with it',
    '',
    'It can be run again at any time, also after an interruption.',
  ],
  run: (_input, context) => {
    const config = context.config();
    return config.MASTER_KEY === undefined ? changeOwnKey(context) : resealGiven(context);
  },
};

/** With MASTER_KEY: re-encrypts all values that are encrypted with MASTER_KEY_SECOND. */
function resealGiven(context: CommandContext): Promise<number> {
  return withInstance(context, async ({ services, config, interrupted }) => {
    const { masterKeyChange, vault } = services;
    if (config.MASTER_KEY_SECOND === undefined && (await masterKeyChange.left()) > 0) {
      throw new StartError(
        'Some values are encrypted with another master key: set MASTER_KEY_SECOND to it, and run this again.',
      );
    }
    const count = await masterKeyChange.reseal(interrupted);
    context.print(`${count} values re-encrypted; all values now use the key ${vault.name}.`);
    if (config.MASTER_KEY_SECOND !== undefined) context.print('Remove MASTER_KEY_SECOND and restart each process.');
    return 0;
  });
}

/** With the key in DATA_DIR. No server and no other command may be running: it would keep encrypting with the old key. */
async function changeOwnKey({ config: load, clock, interrupted, print, log }: CommandContext): Promise<number> {
  const config = mustHaveDatabase(load());
  const dataDir = resolve(config.DATA_DIR);
  const signal = interrupted();
  const progress = (line: string): void => log(`· ${line}`);
  const database = await openConfigured(config, 'alone', progress);
  try {
    const old = database.masterKeys.first;
    const next = nextMasterKeyOf(dataDir);
    const orm = await reach(database.url, config, { print: progress });
    const masterKeys = { first: next, second: old };
    const { masterKeyChange, vault } = compose(config, { ...database, masterKeys }, orm, {
      queue: noQueue,
      clock,
    });
    const count = await masterKeyChange.reseal(signal).finally(() => orm.close(true));
    const kept = promoteNextMasterKey(dataDir, new Vault(old, systemRandom).name);
    print(`${count} values re-encrypted; all values now use the key ${vault.name} in ${dataDir}/master.key.`);
    print(`The old key is in ${kept}: keep it as long as backups made with it, then delete it.`);
    return 0;
  } finally {
    await database.embedded?.stop();
  }
}
