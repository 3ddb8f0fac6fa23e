import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fault, python } from '../../support/toolchains.ts';

/** An SP at `origin`, with the metadata of its identity provider. */
interface Setup {
  port: string;
  origin: string;
  idpMetadata: string;
}

interface Running {
  process: ChildProcess;
  clear(): void;
}

/** A SAML service provider from outside npm. */
export interface SamlProvider {
  name: string;
  /** Page that needs a sign-in, and shows the claims in a header. */
  login: string;
  /** Begins its logout; returns to `/`. */
  logout: string;
  /** Path of its metadata. */
  metadata: string;
  /** The software that this machine lacks; null: none. */
  lacks(): string | null;
  start(setup: Setup): Running;
}

const modules = process.env['APACHE_MODULES'] ?? '/usr/lib/apache2/modules';

/** Its packages are not in the image of the tests, and need a web server or daemons with settings of their own. */
const notTried = (name: string, lacks: () => string | null): SamlProvider => ({
  name,
  ...{ login: '/', logout: '/', metadata: '/' },
  lacks: () => lacks() ?? 'no set-up for it yet',
  start: () => {
    throw new Error(`${name} is not set up`);
  },
});

export const samlProviders: readonly SamlProvider[] = [
  {
    name: 'Apache mod_auth_mellon',
    login: '/private/',
    logout: '/mellon/logout?ReturnTo=%2F',
    metadata: '/mellon/metadata',
    lacks: () =>
      fault('apache2', ['-v']) ??
      fault('openssl', ['version']) ??
      (existsSync(join(modules, 'mod_auth_mellon.so')) ? null : 'mod_auth_mellon is not installed'),
    start: (setup) => {
      const folder = mkdtempSync(join(tmpdir(), 'latchkey-interop-'));
      mkdirSync(join(folder, 'www/private'), { recursive: true });
      for (const page of ['www/index.html', 'www/private/index.html']) writeFileSync(join(folder, page), 'null');
      writeFileSync(join(folder, 'idp.xml'), setup.idpMetadata);
      execFileSync(
        'openssl',
        'req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=sp -keyout sp.key -out sp.pem'.split(' '),
        { cwd: folder, stdio: 'pipe' },
      );
      writeFileSync(join(folder, 'apache2.conf'), mellonConfiguration(setup, folder));
      return {
        process: spawn('apache2', ['-X', '-d', folder, '-f', join(folder, 'apache2.conf')], { stdio: 'pipe' }),
        clear: () => rmSync(folder, { recursive: true, force: true }),
      };
    },
  },
  notTried('SimpleSAMLphp', () => fault('php', ['-v'])),
  notTried('pysaml2', () => fault(python, ['-c', 'import saml2'])),
  notTried('LemonLDAP::NG', () =>
    fault('perl', ['-MLemonldap::NG::Portal', '-e1']) === null ? null : 'LemonLDAP::NG is not installed',
  ),
  notTried('Shibboleth SP', () => fault('shibd', ['-v'])),
];

/** The documented minimum: its own metadata is made from its key. */
function mellonConfiguration({ port }: Setup, folder: string): string {
  const loaded = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'dir', 'headers', 'auth_mellon'];
  return `
ServerName 127.0.0.1:${port}
PidFile ${folder}/pid
DefaultRuntimeDir ${folder}
ErrorLog "|/bin/cat"
Listen 127.0.0.1:${port}
UseCanonicalName On
${loaded.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`).join('\n')}
DocumentRoot ${folder}/www
DirectoryIndex index.html
<Directory ${folder}/www>
  Require all granted
</Directory>
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
}
