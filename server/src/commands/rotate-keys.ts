import { system } from '../domain/kernel/actor.ts';
import { type Command } from './command.ts';
import { withInstance } from './with-instance.ts';

export const rotateKeys: Command = {
  name: 'keys:rotate',
  summary: 'Publishes new signing keys, which start to sign after one day. No further step is needed.',
  options: {
    emergency: {
      type: 'boolean',
      description: 'after a leak: withdraw all keys now, and sign with new ones immediately',
    },
  },
  notes: [
    'Keys rotate automatically every 90 days. With --emergency, Latchkey rejects all tokens issued so far within 5',
    'seconds. Other services reject them once they fetch /.well-known/jwks.json again.',
  ],
  run: (input, context) =>
    withInstance(context, async ({ services }) => {
      const { keys } = services;
      await keys.maintain();
      if (input.flag('emergency')) {
        for (const kid of await keys.withdrawAll(system)) context.print(`withdrawn  ${kid}`);
      } else {
        await keys.rotate(system);
      }
      for (const key of await keys.list()) {
        if (key.withdrawnAt || key.signsUntil) continue;
        context.print(`${key.alg.padEnd(6)}     ${key.id} signs from ${key.signsFrom.toISOString()}`);
      }
      return 0;
    }),
};
