import { describe, expect, it } from 'vitest';
import { checkLogoutUri } from '../clients/logout-uri.ts';
import { isPrivateHost } from './network.ts';

const privateHosts = [
  ...['localhost', 'LOCALHOST', 'localhost.', 'app.localhost', 'a.b.localhost.'],
  ...['127.0.0.1', '127.0.0.1.', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '0'],
  ...['10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '198.18.0.1', '0.0.0.0', '224.0.0.1'],
  ...['[::1]', '[::]', '[fe80::1]', '[fd00::1]', '[ff02::1]'],
  ...[
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:10.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::10.0.0.1]',
    '[2002:7f00:1::]',
  ],
];
const publicHosts = [
  'id.example.com',
  'localhost.example.com',
  'notlocalhost',
  '8.8.8.8',
  '134744072',
  '[2606:4700::1111]',
];

describe('a host that a customer names', () => {
  it.each(privateHosts)('is private: %s', (host) => {
    expect(isPrivateHost(host)).toBe(true);
    // An address with this host, as the console and the API register it.
    expect(checkLogoutUri(`https://${host}/logout`, false)).toBe('must have a public address');
    expect(checkLogoutUri(`https://${host}:8443/logout`, true)).toBeNull();
  });

  it('is private without brackets, as in the address of a syslog receiver', () => {
    expect(['::1', 'fd00::1', '::ffff:10.0.0.1'].map(isPrivateHost)).toEqual([true, true, true]);
    expect(isPrivateHost('2606:4700::1111')).toBe(false);
  });

  it.each(publicHosts)('is not known to be private: %s', (host) => {
    expect(isPrivateHost(host)).toBe(false);
    expect(checkLogoutUri(`https://${host}/logout`, false)).toBeNull();
  });
});
