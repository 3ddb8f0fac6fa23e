import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fault, python } from '../../support/toolchains.ts';
import { folderOf, makeCertificate, type SamlProvider } from './set-up.ts';

/** A small application on the library, with the configuration of its documentation. */
export const pysaml2: SamlProvider = {
  name: 'pysaml2',
  login: '/private',
  logout: '/logout',
  end: '/',
  metadata: '/metadata',
  lacks: () =>
    fault(python, ['-c', 'import saml2']) ?? fault('xmlsec1', ['--version']) ?? fault('openssl', ['version']),
  start(setup) {
    const { folder, remove } = folderOf({ 'idp.xml': setup.idpMetadata });
    makeCertificate(folder);
    const args = [fileURLToPath(new URL('pysaml2-app.py', import.meta.url)), setup.origin, setup.port, setup.idp];
    return { process: spawn(python, args, { stdio: 'pipe', cwd: folder }), clear: remove };
  },
};
