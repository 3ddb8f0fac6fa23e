import { lemonLdap } from './lemonldap.ts';
import { mellon } from './mellon.ts';
import { pysaml2 } from './pysaml2.ts';
import type { SamlProvider } from './set-up.ts';
import { shibboleth } from './shibboleth.ts';
import { simpleSamlPhp } from './simplesamlphp.ts';

/** Each is a package of Debian 12. */
export const samlProviders: readonly SamlProvider[] = [mellon, simpleSamlPhp, pysaml2, lemonLdap, shibboleth];
