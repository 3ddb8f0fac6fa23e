import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fault } from '../../support/toolchains.ts';
import { folderOf, makeCertificate, type SamlProvider, type Setup } from './set-up.ts';

const library = process.env['LEMONLDAP'] ?? '/usr/share/lemonldap-ng';

/** Its portal, with SAML as authentication, and this identity provider. */
export const lemonLdap: SamlProvider = {
  name: 'LemonLDAP::NG',
  login: '/mysession/?whoami',
  logout: '/?logout=1',
  end: '/saml/proxySingleLogoutReturn',
  metadata: '/saml/metadata',
  lacks: () =>
    (fault('perl', ['-MLemonldap::NG::Portal', '-e1']) && 'LemonLDAP::NG is not installed') ??
    fault('perl', ['-MLasso', '-MXML::Simple', '-e1']) ??
    fault('plackup', ['--version']) ??
    fault('openssl', ['version']),
  start(setup) {
    const { folder, remove } = folderOf({});
    makeCertificate(folder);
    for (const name of ['sessions/lock', 'cache']) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, 'lmConf-1.json'), JSON.stringify(configuration(setup, folder)));
    const settings = join(folder, 'lemonldap-ng.ini');
    writeFileSync(
      settings,
      `[all]
logLevel = warn
logger = Lemonldap::NG::Common::Logger::Std
[configuration]
type = File
dirName = ${folder}
localStorage = Cache::FileCache
localStorageOptions = { 'namespace' => 'config', 'default_expires_in' => 600, 'cache_root' => '${folder}/cache' }
[portal]
staticPrefix = /static
templateDir = ${library}/portal/templates
languages = en
`,
    );
    const env = { ...process.env, LLNG_DEFAULTCONFFILE: settings };
    const args = ['--host', '127.0.0.1', '--port', setup.port, join(library, 'portal/htdocs/index.psgi')];
    return { process: spawn('plackup', args, { stdio: 'pipe', env }), clear: remove };
  },
};

function configuration({ origin, idpMetadata }: Setup, folder: string): Record<string, unknown> {
  const storage = { Directory: `${folder}/sessions`, LockDirectory: `${folder}/sessions/lock` };
  const signing = {
    sig: readFileSync(join(folder, 'sp.key'), 'utf8'),
    public: readFileSync(join(folder, 'sp.pem'), 'utf8'),
  };
  return {
    cfgNum: 1,
    cfgDate: 1,
    authentication: 'SAML',
    userDB: 'Same',
    passwordDB: 'Null',
    registerDB: 'Null',
    // Its own one needs ImageMagick.
    captcha: '::Main::Plugin',
    portal: `${origin}/`,
    domain: '127.0.0.1',
    securedCookie: 0,
    globalStorage: 'Apache::Session::File',
    globalStorageOptions: storage,
    persistentStorage: 'Apache::Session::File',
    persistentStorageOptions: storage,
    issuerDBSAMLActivation: 0,
    whatToTrace: 'uid',
    exportedVars: {},
    locationRules: { '127.0.0.1': { default: 'accept' } },
    samlServicePrivateKeySig: signing.sig,
    samlServicePublicKeySig: signing.public,
    samlIDPMetaDataXML: { latchkey: { samlIDPMetaDataXML: idpMetadata } },
    samlIDPMetaDataExportedAttributes: { latchkey: { uid: '1;email;;' } },
    samlIDPMetaDataOptions: { latchkey: { samlIDPMetaDataOptionsUserAttribute: 'email' } },
  };
}
