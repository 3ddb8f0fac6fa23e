import { expect, it } from 'vitest';
import { inheritedSocket } from './socket-activation.ts';

it('uses the socket that a service manager passes to this process', () => {
  expect(inheritedSocket({ LISTEN_PID: '12', LISTEN_FDS: '1' }, 12)).toBe(3);
});

it.each([
  ['no variables', {}],
  ['the variables of a parent', { LISTEN_PID: '11', LISTEN_FDS: '1' }],
  ['no number of sockets', { LISTEN_PID: '12' }],
])('opens its own port with %s', (_what, env) => {
  expect(inheritedSocket(env, 12)).toBeUndefined();
});

it('refuses several sockets, and names the setting', () => {
  expect(() => inheritedSocket({ LISTEN_PID: '12', LISTEN_FDS: '2' }, 12)).toThrow('LISTEN_FDS');
});
