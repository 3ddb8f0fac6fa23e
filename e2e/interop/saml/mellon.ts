import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fault } from '../../support/toolchains.ts';
import {
  apacheConfiguration,
  apacheModules,
  apachePages,
  folderOf,
  makeCertificate,
  type SamlProvider,
} from './set-up.ts';

/** The documented minimum: its metadata is made from its key. */
export const mellon: SamlProvider = {
  name: 'Apache mod_auth_mellon',
  login: '/private/',
  logout: '/mellon/logout?ReturnTo=%2F',
  end: '/',
  metadata: '/mellon/metadata',
  lacks: () =>
    fault('apache2', ['-v']) ??
    fault('openssl', ['version']) ??
    (existsSync(join(apacheModules, 'mod_auth_mellon.so')) ? null : 'mod_auth_mellon is not installed'),
  start(setup) {
    const { folder, remove } = folderOf({ ...apachePages, 'idp.xml': setup.idpMetadata });
    makeCertificate(folder);
    const configuration = `${apacheConfiguration(setup, folder, 'auth_mellon')}
<Location />
  MellonEnable info
  MellonEndpointPath /mellon
  MellonSPPrivateKeyFile ${folder}/sp.key
  MellonSPCertFile ${folder}/sp.pem
  MellonIdPMetadataFile ${folder}/idp.xml
</Location>
<Location /private>
  AuthType Mellon
  MellonEnable auth
  Require valid-user
  Header always set X-Claims "%{MELLON_NAME_ID}e %{MELLON_email}e"
</Location>
`;
    writeFileSync(join(folder, 'apache2.conf'), configuration);
    const args = ['-X', '-d', folder, '-f', join(folder, 'apache2.conf')];
    return { process: spawn('apache2', args, { stdio: 'pipe' }), clear: remove };
  },
};
