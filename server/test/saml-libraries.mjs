// The types of these libraries bring those of the DOM into every test: saml-libraries.d.mts declares what is used.
export { SAML } from '@node-saml/node-saml';

import * as samlify from 'samlify';

// samlify refuses to work without a validator of schemas. What it accepts is checked by our own tests.
samlify.setSchemaValidator({ validate: async () => 'skipped' });

export { samlify };
