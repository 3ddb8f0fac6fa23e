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
  type Setup,
} from './set-up.ts';

/** Its configuration as installed, with our metadata, and without TLS. */
export const shibboleth: SamlProvider = {
  name: 'Shibboleth SP',
  login: '/private/',
  logout: '/Shibboleth.sso/Logout?return=/',
  end: '/',
  metadata: '/Shibboleth.sso/Metadata',
  lacks: () =>
    fault('apache2', ['-v']) ??
    fault('openssl', ['version']) ??
    fault('shibd', ['-v']) ??
    (existsSync(join(apacheModules, 'mod_shib.so')) ? null : 'mod_shib is not installed'),
  start(setup) {
    const { folder, remove } = folderOf({
      ...apachePages,
      'idp.xml': setup.idpMetadata,
      'attributes.xml': `<Attributes xmlns="urn:mace:shibboleth:2.0:attribute-map">
  <Attribute name="email" nameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic" id="email"/>
</Attributes>`,
      'console.logger': `log4j.rootCategory=WARN, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%p %c : %m%n`,
    });
    makeCertificate(folder);
    writeFileSync(join(folder, 'shibboleth2.xml'), shibbolethConfiguration(setup, folder));
    const settings = join(folder, 'shibboleth2.xml');
    const configuration = `${apacheConfiguration(setup, folder, 'shib')}
ShibConfig ${settings}
<Location />
  AuthType shibboleth
  Require shibboleth
</Location>
<Location /private>
  AuthType shibboleth
  ShibRequestSetting requireSession 1
  Require valid-user
  Header always set X-Claims "%{email}e"
</Location>
`;
    writeFileSync(join(folder, 'apache2.conf'), configuration);
    // Apache's module waits for the daemon, which reads the same settings.
    const daemon = spawn('shibd', ['-F', '-c', settings, '-p', join(folder, 'shibd.pid')], { stdio: 'pipe' });
    const args = ['-X', '-d', folder, '-f', join(folder, 'apache2.conf')];
    return {
      process: spawn('apache2', args, { stdio: 'pipe' }),
      clear: () => {
        daemon.kill();
        remove();
      },
    };
  },
};

function shibbolethConfiguration({ origin, idp }: Setup, folder: string): string {
  return `<SPConfig xmlns="urn:mace:shibboleth:3.0:native:sp:config" logger="${folder}/console.logger" clockSkew="180">
  <OutOfProcess logger="${folder}/console.logger"/>
  <InProcess logger="${folder}/console.logger"/>
  <UnixListener address="${folder}/shibd.sock"/>
  <ApplicationDefaults entityID="${origin}/shibboleth" REMOTE_USER="email">
    <Sessions lifetime="28800" timeout="3600" relayState="ss:mem" checkAddress="false" handlerSSL="false" cookieProps="http" redirectLimit="exact">
      <SSO entityID="${idp}">SAML2</SSO>
      <Logout>SAML2 Local</Logout>
      <Handler type="MetadataGenerator" Location="/Metadata" signing="false"/>
    </Sessions>
    <Errors/>
    <MetadataProvider type="XML" validate="true" path="${folder}/idp.xml"/>
    <AttributeExtractor type="XML" validate="true" reloadChanges="false" path="${folder}/attributes.xml"/>
    <AttributeFilter type="XML" validate="true" path="attribute-policy.xml"/>
    <CredentialResolver type="File" key="${folder}/sp.key" certificate="${folder}/sp.pem"/>
  </ApplicationDefaults>
  <SecurityPolicyProvider type="XML" validate="true" path="security-policy.xml"/>
  <ProtocolProvider type="XML" validate="true" reloadChanges="false" path="protocols.xml"/>
</SPConfig>
`;
}
