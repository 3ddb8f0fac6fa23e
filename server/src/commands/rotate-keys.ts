import { system } from '../domain/kernel/actor.ts';
import { type Command, withInstance } from './command.ts';

export const rotateKeys: Command = {
  name: 'keys:rotate',
  summary: 'Publishes successors of the signing keys, which sign after a day; nothing else has to be done.',
  options: {
    emergency: {
      type: 'boolean',
      description: 'a key has leaked: withdraws every key now, and new ones sign at once',
    },
  },
  notes: [
    'Keys change by themselves every 90 days. In an emergency every token that was issued so far is refused from now',
    'on, by Latchkey within 5 seconds; others refuse them as soon as they fetch /.well-known/jwks.json again.',
  ],
  run: (input, surroundings) =>
    withInstance(surroundings, async ({ services }) => {
      const { keys } = services;
      await keys.tend();
      if (input.flag('emergency')) {
        for (const kid of await keys.withdrawAll(system)) surroundings.say(`withdrawn  ${kid}`);
      } else {
        await keys.rotate(system);
      }
      for (const key of await keys.list()) {
        if (key.withdrawnAt || key.signsUntil) continue;
        surroundings.say(`${key.alg.padEnd(6)}     ${key.id} signs from ${key.signsFrom.toISOString()}`);
      }
      return 0;
    }),
};
