// The types of these libraries would bring those of the DOM into every test: saml-libraries.d.mts declares the
// functions used.
export { SAML } from '@node-saml/node-saml';

import * as samlify from 'samlify';

// samlify refuses to work without a validator of schemas. Our own tests check the documents.
samlify.setSchemaValidator({ validate: async () => 'skipped' });

export { samlify };
