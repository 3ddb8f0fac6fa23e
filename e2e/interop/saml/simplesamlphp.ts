import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fault } from '../../support/toolchains.ts';
import { folderOf, makeCertificate, type SamlProvider, type Setup } from './set-up.ts';

const library = process.env['SIMPLESAMLPHP'] ?? '/usr/share/simplesamlphp';

/** The quickstart of its documentation, in the web server of PHP, without TLS. Signed with a certificate, which logout needs. */
export const simpleSamlPhp: SamlProvider = {
  name: 'SimpleSAMLphp',
  login: '/private.php',
  logout: '/logout.php',
  end: '/index.html',
  metadata: '/simplesamlphp/module.php/saml/sp/metadata.php/default-sp',
  lacks: () =>
    fault('php', ['-v']) ??
    fault('openssl', ['version']) ??
    (existsSync(join(library, 'www/module.php')) ? null : 'SimpleSAMLphp is not installed'),
  start(setup) {
    const { folder, remove } = folderOf(filesOf(setup));
    makeCertificate(folder);
    for (const name of ['sessions', 'log', 'temporary']) mkdirSync(join(folder, name));
    symlinkSync(join(library, 'www'), join(folder, 'www/simplesamlphp'));
    const env = { ...process.env, SIMPLESAMLPHP_CONFIG_DIR: join(folder, 'config'), FOLDER: folder };
    const site = ['-S', `127.0.0.1:${setup.port}`, '-t', join(folder, 'www')];
    const args = ['-d', `session.save_path=${folder}/sessions`, ...site];
    return { process: spawn('php', args, { stdio: 'pipe', env }), clear: remove };
  },
};

function filesOf({ origin, idp, idpMetadata }: Setup): Record<string, string> {
  const service = `<?php
require '${library}/lib/_autoload.php';
$service = new \\SimpleSAML\\Auth\\Simple('default-sp');
`;
  return {
    'www/index.html': 'null',
    'www/private.php': `${service}$service->requireAuth();
header('X-Claims: ' . $service->getAttributes()['email'][0]);`,
    'www/logout.php': `${service}$service->logout('${origin}/index.html');`,
    'idp.xml': idpMetadata,
    'config/config.php': `<?php
$folder = getenv('FOLDER');
$config = [
  'baseurlpath' => '${origin}/simplesamlphp/',
  'secretsalt' => 'only for this test, and long enough',
  'certdir' => "$folder/",
  'loggingdir' => "$folder/log/",
  'tempdir' => "$folder/temporary",
  'logging.handler' => 'stderr',
  'session.cookie.secure' => false,
  'session.cookie.samesite' => null,
  'metadata.sources' => [['type' => 'xml', 'file' => "$folder/idp.xml"]],
];`,
    'config/authsources.php': `<?php
$config = ['default-sp' => [
  'saml:SP',
  'idp' => '${idp}',
  'privatekey' => 'sp.key',
  'certificate' => 'sp.pem',
  'sign.logout' => true,
]];`,
  };
}
